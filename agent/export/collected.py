"""What a collecting run gathered, as Markdown, as a CSV table and as one JSON object. Untrusted text becomes letters only.

The table has one row for each article and each post. A spreadsheet must not take a cell for a formula: one that begins like
a formula gets an apostrophe in front, as spreadsheets themselves write it. The keys of the JSON object are a promise.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agent.export.escaping import inline, link, quoted, tabled
from agent.types import Answer, Refusal, Run, Usage
from agent.types.collected import Branch, Intent, Item, NavEvent, Post

CALLS, SECONDS, DOLLARS = 15, 60.0, 0.15
"""What one run should stay below (seed 001's targets): model calls, working seconds, US dollars."""
COLUMNS = ("kind", "title", "url", "post", "role", "user", "date", "text", "also at")


@dataclass(frozen=True)
class Collection:
    """What was gathered: `items` with their whole `content`, kept ones only; everything else as the run has it."""

    run: Run
    intent: Intent
    items: Sequence[Item]
    dropped: Sequence[Item]
    tree: Sequence[Branch]
    answer: Answer | None
    usage: Usage
    refusals: Sequence[Refusal] = ()
    events: Sequence[NavEvent] = ()


def targets(usage: Usage) -> list[dict[str, Any]]:
    """What the run used against what it should stay below; a cost that is unknown meets nothing and fails nothing."""
    cost = usage.cost_usd
    return [
        {"name": "model calls", "value": usage.llm_calls, "below": CALLS, "met": usage.llm_calls < CALLS},
        {"name": "seconds", "value": round(usage.seconds, 2), "below": SECONDS, "met": usage.seconds < SECONDS},
        {"name": "US dollars", "value": cost, "below": DOLLARS, "met": None if cost is None else cost < DOLLARS},
    ]


def record(given: Collection) -> dict[str, Any]:
    """The object that `--json` and `run_agent` give."""
    return {
        "run": given.run.id,
        "prompt": given.run.question,
        "status": str(given.run.status),
        "intent": given.intent.model_dump(mode="json"),
        "articles": [_item(item) for item in given.items],
        "dropped": [{"url": item.url, "title": item.title, "kind": item.kind, "reason": item.reason} for item in given.dropped],
        "digest": _digest(given.answer),
        "navigation": [_branch(branch) for branch in given.tree],
        "refused": [{"what": refusal.what, "why": refusal.why} for refusal in given.refusals],
        "events": [event.model_dump(mode="json") for event in given.events],
        "usage": given.usage.model_dump(mode="json"),
        "targets": targets(given.usage),
    }


def table(given: Collection) -> str:
    """The articles and posts as CSV (RFC 4180, UTF-8 without a mark), one row each under a header."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for item in given.items:
        also = " ".join(item.also_at)
        if item.content or item.kind == "article":
            writer.writerow(map(tabled, (item.kind, item.title, item.url, "", "", item.author, item.publish_date, item.content, also)))
        for post in item.posts:
            writer.writerow(map(tabled, (item.kind, item.title, item.url, str(post.n), post.role, post.user, post.date, post.text, also)))
    return out.getvalue()


def markdown(given: Collection) -> str:
    """The digest with its sources, then every article and thread in full, then what was left out and why."""
    parts = [f"# {inline(given.run.question) or 'Collected'}", *_digest_blocks(given.answer)]
    if given.items:
        parts.append("## Gathered")
    for item in given.items:
        parts += _item_blocks(item)
    if given.dropped:
        parts += ["## Left out", "\n".join(f"- {link(item.title or item.url, item.url)}: {inline(item.reason)}" for item in given.dropped)]
    unread = [branch for branch in given.tree if branch.outcome is not None and str(branch.outcome) != "ok"]
    if unread:
        parts += [
            "## Could not read",
            "\n".join(f"- {link(branch.url, branch.url)}: {inline(branch.detail or str(branch.outcome))}" for branch in unread),
        ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _digest_blocks(answer: Answer | None) -> list[str]:
    if answer is None:
        return ["The run has not come to its digest yet."]
    numbers = {fact: source.n for source in answer.sources for fact in source.fact_ids}
    told = []
    for sentence in answer.sentences:
        marks = "".join(f"[\\[{n}\\]](#source-{n})" for n in sorted({numbers[fact] for fact in sentence.fact_ids if fact in numbers}))
        told.append(f"- {inline(sentence.text)}{' ' + marks if marks else ''}{'' if sentence.backed else ' *(unsupported)*'}")
    counts = answer.statements
    blocks = ["## Digest", f"{counts.backed} of {counts.backed + counts.unsupported} statements backed by a stored page", "\n".join(told)]
    blocks += [inline(text) for text in (answer.certainty, answer.missing, answer.journey) if text]
    for source in answer.sources:
        blocks += [f"### source-{source.n}", link(source.title or source.url, source.url), *(quoted(quote) for quote in source.quotes)]
    return blocks


def _item_blocks(item: Item) -> list[str]:
    kind = {"article": "Article", "thread": "Thread", "question": "Question"}[item.kind]
    about = [
        kind,
        inline(item.author) if item.author else "",
        item.publish_date[:10] or "date unknown",
        f"{len(item.posts)} posts" if item.posts else "",
    ]
    blocks = [f"### {inline(item.title) or 'Untitled'}", " · ".join(part for part in about if part), link(item.url, item.url)]
    blocks += [quoted(item.content)] if item.content else []
    for post in item.posts:
        who = f"**{inline(post.user) or 'unknown'}**, {inline(when(post)) or 'date unknown'}"
        blocks += [f"{post.n}\\. {who}{'' if post.role == 'post' else f' ({post.role})'}", quoted(post.text)]
    if item.trouble:
        blocks.append(f"*{inline(item.trouble)}*")
    if item.also_at:
        blocks.append("Also at: " + ", ".join(link(url, url) for url in item.also_at))
    return blocks


def when(post: Post) -> str:
    """A post's date as a person reads it."""
    return post.date[:10] + (f" {post.date[11:16]}" if len(post.date) >= 16 else "")


def _item(item: Item) -> dict[str, Any]:
    return {
        "url": item.url, "kind": item.kind, "title": item.title, "content": item.content, "publish_date": item.publish_date or None,
        "metadata": item.metadata, "author": item.author, "last_date": item.last_date or None,
        "posts": [{"n": p.n, "role": p.role, "user": p.user, "date": p.date or None, "text": p.text, "verbatim": p.start >= 0} for p in item.posts],
        "also_at": item.also_at, "reason": item.reason, "extracted_by": item.extracted_by, "trouble": item.trouble,
    }  # fmt: skip


def _digest(answer: Answer | None) -> dict[str, Any] | None:
    if answer is None:
        return None
    return {
        "verdict": answer.verdict, "reason": answer.reason, "text": answer.text or answer.certainty, "certainty": answer.certainty, "by": answer.by,
        "sentences": [sentence.model_dump(mode="json") for sentence in answer.sentences], "statements": answer.statements.model_dump(mode="json"),
        "sources": [source.model_dump(mode="json") for source in answer.sources], "journey": answer.journey, "why_stopped": answer.why_stopped,
    }  # fmt: skip


def _branch(branch: Branch) -> dict[str, Any]:
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
