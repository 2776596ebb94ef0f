"""What a collecting run gathered, as Markdown, as a CSV table and as one JSON object. Untrusted text becomes
letters only.

The table has one row for each article and each post. A spreadsheet must not take a cell for a formula: one
that begins like a formula gets an apostrophe in front, as spreadsheets themselves write it. The keys of the
JSON object are a promise."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agent.export.escaping import escape_csv_cell, escape_inline, render_blockquote, render_link
from agent.types import Answer, Refusal, Run, Usage
from agent.types.collection import CollectedItem, CollectIntent, CrawlNode, NavEvent, Post

TARGET_CALLS, TARGET_SECONDS, TARGET_DOLLARS = 15, 60.0, 0.15
"""What one run should stay below (seed 001's targets): model calls, working seconds, US dollars."""
COLUMNS = ("kind", "title", "url", "post", "role", "user", "date", "text", "also at")


@dataclass(frozen=True)
class CollectionResult:
    """What was gathered: `items` with their whole `content`, kept ones only; everything else as the run has
    it."""

    run: Run
    intent: CollectIntent
    items: Sequence[CollectedItem]
    dropped: Sequence[CollectedItem]
    tree: Sequence[CrawlNode]
    answer: Answer | None
    usage: Usage
    refusals: Sequence[Refusal] = ()
    events: Sequence[NavEvent] = ()


def compare_with_targets(usage: Usage) -> list[dict[str, Any]]:
    """What the run used against what it should stay below; a cost that is unknown meets nothing and fails
    nothing."""
    cost = usage.cost_usd
    return [
        {
            "name": "model calls",
            "value": usage.llm_calls,
            "below": TARGET_CALLS,
            "met": usage.llm_calls < TARGET_CALLS,
        },
        {
            "name": "seconds",
            "value": round(usage.seconds, 2),
            "below": TARGET_SECONDS,
            "met": usage.seconds < TARGET_SECONDS,
        },
        {
            "name": "US dollars",
            "value": cost,
            "below": TARGET_DOLLARS,
            "met": None if cost is None else cost < TARGET_DOLLARS,
        },
    ]


def build_collection_record(given: CollectionResult) -> dict[str, Any]:
    """The object that `--json` and `run_agent` give."""
    return {
        "run": given.run.id,
        "prompt": given.run.question,
        "status": str(given.run.status),
        "intent": given.intent.model_dump(mode="json"),
        "articles": [_item_record(item) for item in given.items],
        "dropped": [
            {"url": item.url, "title": item.title, "kind": item.kind, "reason": item.reason}
            for item in given.dropped
        ],
        "digest": _digest_record(given.answer),
        "navigation": [_node_record(branch) for branch in given.tree],
        "refused": [{"what": refusal.what, "why": refusal.why} for refusal in given.refusals],
        "events": [event.model_dump(mode="json") for event in given.events],
        "usage": given.usage.model_dump(mode="json"),
        "targets": compare_with_targets(given.usage),
    }


def render_collection_csv(given: CollectionResult) -> str:
    """The articles and posts as CSV (RFC 4180, UTF-8 without a mark), one row each under a header."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for item in given.items:
        also = " ".join(item.also_at)
        if item.content or item.kind == "article":
            writer.writerow(
                map(
                    escape_csv_cell,
                    (
                        item.kind,
                        item.title,
                        item.url,
                        "",
                        "",
                        item.author,
                        item.publish_date,
                        item.content,
                        also,
                    ),
                )
            )
        for post in item.posts:
            writer.writerow(
                map(
                    escape_csv_cell,
                    (
                        item.kind,
                        item.title,
                        item.url,
                        str(post.n),
                        post.role,
                        post.user,
                        post.date,
                        post.text,
                        also,
                    ),
                )
            )
    return out.getvalue()


def render_collection_markdown(given: CollectionResult) -> str:
    """The digest with its sources, then every article and thread in full, then what was left out and why."""
    parts = [f"# {escape_inline(given.run.question) or 'Collected'}", *_digest_blocks(given.answer)]
    if given.items:
        parts.append("## Gathered")
    for item in given.items:
        parts += _item_blocks(item)
    if given.dropped:
        parts += [
            "## Left out",
            "\n".join(
                f"- {render_link(item.title or item.url, item.url)}: {escape_inline(item.reason)}"
                for item in given.dropped
            ),
        ]
    unread = [branch for branch in given.tree if branch.outcome is not None and str(branch.outcome) != "ok"]
    if unread:
        parts += [
            "## Could not read",
            "\n".join(
                f"- {render_link(branch.url, branch.url)}: {escape_inline(branch.detail or str(branch.outcome))}"
                for branch in unread
            ),
        ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _digest_blocks(answer: Answer | None) -> list[str]:
    if answer is None:
        return ["The run has not come to its digest yet."]
    numbers = {fact: source.n for source in answer.sources for fact in source.fact_ids}
    told = []
    for sentence in answer.sentences:
        marks = "".join(
            f"[\\[{n}\\]](#source-{n})"
            for n in sorted({numbers[fact] for fact in sentence.fact_ids if fact in numbers})
        )
        told.append(
            f"- {escape_inline(sentence.text)}{' ' + marks if marks else ''}{'' if sentence.backed else ' *(unsupported)*'}"
        )
    counts = answer.statements
    blocks = [
        "## Digest",
        f"{counts.backed} of {counts.backed + counts.unsupported} statements backed by a stored page",
        "\n".join(told),
    ]
    blocks += [escape_inline(text) for text in (answer.certainty, answer.missing, answer.journey) if text]
    for source in answer.sources:
        blocks += [
            f"### source-{source.n}",
            render_link(source.title or source.url, source.url),
            *(render_blockquote(quote) for quote in source.quotes),
        ]
    return blocks


def _item_blocks(item: CollectedItem) -> list[str]:
    kind = {"article": "Article", "thread": "Thread", "question": "Question"}[item.kind]
    about = [
        kind,
        escape_inline(item.author) if item.author else "",
        item.publish_date[:10] or "date unknown",
        f"{len(item.posts)} posts" if item.posts else "",
    ]
    blocks = [
        f"### {escape_inline(item.title) or 'Untitled'}",
        " · ".join(part for part in about if part),
        render_link(item.url, item.url),
    ]
    blocks += [render_blockquote(item.content)] if item.content else []
    for post in item.posts:
        who = f"**{escape_inline(post.user) or 'unknown'}**, {escape_inline(format_post_date(post)) or 'date unknown'}"
        blocks += [
            f"{post.n}\\. {who}{'' if post.role == 'post' else f' ({post.role})'}",
            render_blockquote(post.text),
        ]
    if item.trouble:
        blocks.append(f"*{escape_inline(item.trouble)}*")
    if item.also_at:
        blocks.append("Also at: " + ", ".join(render_link(url, url) for url in item.also_at))
    return blocks


def format_post_date(post: Post) -> str:
    """A post's date as a person reads it."""
    return post.date[:10] + (f" {post.date[11:16]}" if len(post.date) >= 16 else "")


def _item_record(item: CollectedItem) -> dict[str, Any]:
    return {
        "url": item.url,
        "kind": item.kind,
        "title": item.title,
        "content": item.content,
        "publish_date": item.publish_date or None,
        "metadata": item.metadata,
        "author": item.author,
        "last_date": item.last_date or None,
        "posts": [
            {
                "n": p.n,
                "role": p.role,
                "user": p.user,
                "date": p.date or None,
                "text": p.text,
                "verbatim": p.start >= 0,
            }
            for p in item.posts
        ],
        "also_at": item.also_at,
        "reason": item.reason,
        "extracted_by": item.extracted_by,
        "trouble": item.trouble,
    }


def _digest_record(answer: Answer | None) -> dict[str, Any] | None:
    if answer is None:
        return None
    return {
        "verdict": answer.verdict,
        "reason": answer.reason,
        "text": answer.text or answer.certainty,
        "certainty": answer.certainty,
        "by": answer.by,
        "sentences": [sentence.model_dump(mode="json") for sentence in answer.sentences],
        "statements": answer.statements.model_dump(mode="json"),
        "sources": [source.model_dump(mode="json") for source in answer.sources],
        "journey": answer.journey,
        "why_stopped": answer.why_stopped,
    }


def _node_record(branch: CrawlNode) -> dict[str, Any]:
    fields = (
        "url",
        "depth",
        "anchor",
        "status",
        "action",
        "page_type",
        "reasoning",
        "confidence",
        "target_url",
        "by",
        "relevance_score",
        "detected_date",
    )
    told = branch.model_dump(mode="json", include=set(fields))
    return {
        **{name: told[name] for name in fields},
        "parent": branch.parent,
        "outcome": branch.outcome and str(branch.outcome),
        "ended": branch.ended,
    }
