"""What a collecting run gathered, as Markdown, as a CSV table and as one JSON object. Untrusted text is
escaped.

The table has one row for each article and each post. The keys of the JSON object are a promise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agent.export.answer_blocks import write_answer, write_bands
from agent.export.blocks import Block, Bullets, Heading, Paragraph, Span
from agent.export.markdown import render_blocks
from agent.export.sheets import write_csv
from agent.text.plurals import format_count
from agent.types import Answer, Refusal, Run, Usage
from agent.types.collection import CollectedItem, CollectIntent, CrawlNode, NavEvent, Post
from agent.types.record import Record

TARGETS = {"model calls": 15, "seconds": 60.0, "US dollars": 0.15}
"""What one run should stay below (seed 001's targets)."""
COLUMNS = ("kind", "title", "url", "post", "role", "user", "date", "text", "also at")


@dataclass(frozen=True)
class CollectionResult:
    """What was gathered: `items` with whole `content`, kept ones only; everything else as in the run."""

    run: Run
    intent: CollectIntent
    items: Sequence[CollectedItem]
    dropped: Sequence[CollectedItem]
    tree: Sequence[CrawlNode]
    answer: Answer | None
    usage: Usage
    refusals: Sequence[Refusal]
    events: Sequence[NavEvent]


def compare_with_targets(usage: Usage) -> list[dict[str, Any]]:
    """What the run used against its targets; an unknown cost is neither met nor missed."""
    used = {"model calls": usage.llm_calls, "seconds": round(usage.seconds, 2), "US dollars": usage.cost_usd}
    return [
        {"name": name, "value": value, "below": below, "met": None if value is None else value < below}
        for (name, below), value in zip(TARGETS.items(), used.values(), strict=True)
    ]


DIGEST_FIELDS = "verdict reason certainty by sentences statements sources journey why_stopped".split()
NODE_FIELDS = (
    *"url depth anchor status action page_type reasoning confidence target_url by relevance_score".split(),
    *("detected_date", "parent", "outcome", "ended"),
)
ITEM_FIELDS = (
    *"url kind title content publish_date metadata author last_date posts".split(),
    *("also_at", "reason", "extracted_by", "trouble"),
)


def build_collection_record(given: CollectionResult) -> dict[str, Any]:
    """The object that `--json` and `run_agent` give."""
    digest = None
    if answer := given.answer:
        digest = _dump(answer, DIGEST_FIELDS) | {"text": answer.text or answer.certainty}
    return {
        "run": given.run.id,
        "prompt": given.run.question,
        "status": str(given.run.status),
        "intent": given.intent.model_dump(mode="json"),
        "articles": [_item_record(item) for item in given.items],
        "dropped": [_dump(item, ("url", "title", "kind", "reason")) for item in given.dropped],
        "digest": digest,
        "navigation": [_dump(node, NODE_FIELDS) for node in given.tree],
        "refused": [_dump(refusal, ("what", "why")) for refusal in given.refusals],
        "events": [event.model_dump(mode="json") for event in given.events],
        "usage": given.usage.model_dump(mode="json"),
        "targets": compare_with_targets(given.usage),
    }


def _dump(record: Record, fields: Sequence[str]) -> dict[str, Any]:
    """These fields of a record as plain JSON, in this order."""
    values = record.model_dump(mode="json", include=set(fields))
    return {name: values[name] if name in values else getattr(record, name) for name in fields}


def _item_record(item: CollectedItem) -> dict[str, Any]:
    """An item; the `content` of a thread are its posts, each under its writer and date."""
    record = _dump(item, ITEM_FIELDS)
    record |= {name: record[name] or None for name in ("publish_date", "last_date")}
    record["posts"] = [
        _dump(p, ("n", "role", "user", "date", "text")) | {"date": p.date or None, "verbatim": p.start >= 0}
        for p in item.posts
    ]
    names_of = {p.n: ", ".join(filter(None, (p.user, format_post_date(p)))) for p in item.posts}
    texts = (f"{names_of[p.n]}:\n{p.text}" if names_of[p.n] else p.text for p in item.posts)
    return record | {"content": item.content or "\n\n".join(texts)}


def render_collection_csv(given: CollectionResult) -> str:
    """The articles and posts as CSV (RFC 4180, UTF-8 without a mark), one row each under a header."""
    rows: list[tuple[str, ...]] = []
    for item in given.items:
        start, also = (item.kind, item.title, item.url), " ".join(item.also_at)
        if item.content or item.kind == "article":
            rows.append((*start, "", "", item.author, item.publish_date, item.content, also))
        rows += [(*start, str(p.n), p.role, p.user, p.date, p.text, also) for p in item.posts]
    return write_csv(COLUMNS, rows)


def render_collection_markdown(given: CollectionResult) -> str:
    """The digest with its sources, then every article and thread in full, then what was left out and why."""
    blocks: list[Block] = [
        Heading(1, given.run.question or "Collected"),
        *write_bands(given.run.settings),
    ]
    if answer := given.answer:
        blocks += [Heading(2, "Digest"), *write_answer(answer, given.run.settings, level=3)]
        blocks += [Paragraph([answer.journey])] if answer.journey else []
        for source in answer.sources:
            blocks.append(Heading(3, source.title or source.url, source.n))
            blocks.append(Paragraph([Span(source.url, url=source.url)]))
            blocks += [Paragraph([quote], "quote") for quote in source.page_quotes]
    else:
        blocks.append(Paragraph(["The run has not come to its digest yet."]))
    if given.items:
        blocks.append(Heading(2, "Gathered"))
    for item in given.items:
        blocks += _item_blocks(item)
    unread = [node for node in given.tree if node.outcome is not None and str(node.outcome) != "ok"]
    left_out = [(Span(item.title or item.url, url=item.url), item.reason) for item in given.dropped]
    unavailable = [(Span(node.url, url=node.url), node.detail or str(node.outcome)) for node in unread]
    for title, entries in (("Left out", left_out), ("Unavailable sources", unavailable)):
        if entries:
            blocks += [Heading(2, title), *Bullets.of([link, f" – {reason}"] for link, reason in entries)]
    return render_blocks(blocks)


def _item_blocks(item: CollectedItem) -> list[Block]:
    kind = {"article": "Article", "thread": "Thread", "question": "Question"}[item.kind]
    posts = format_count(len(item.posts), "post") if item.posts else ""
    about = " · ".join(
        part for part in (kind, item.author, item.publish_date[:10] or "date unknown", posts) if part
    )
    blocks: list[Block] = [Heading(3, item.title or "Untitled"), Paragraph([about])]
    blocks.append(Paragraph([Span(item.url, url=item.url)]))
    blocks += [Paragraph([item.content], "quote")] if item.content else []
    for post in item.posts:
        role = "" if post.role == "post" else f" ({post.role})"
        user, date = Span(post.user or "unknown", "strong"), format_post_date(post) or "date unknown"
        blocks += [Paragraph([f"{post.n}. ", user, f", {date}{role}"]), Paragraph([post.text], "quote")]
    if item.trouble:
        blocks.append(Paragraph([Span(item.trouble, "emphasis")]))
    if item.also_at:
        links: list[Span | str] = [part for url in item.also_at for part in (", ", Span(url, url=url))]
        blocks.append(Paragraph(["Also at: ", *links[1:]]))
    return blocks


def format_post_date(post: Post) -> str:
    """A post's date as a person reads it."""
    return post.date[:10] + (f" {post.date[11:16]}" if len(post.date) >= 16 else "")
