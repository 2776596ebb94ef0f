"""The passages of a gathered item, and those of them that fit a prompt."""

from __future__ import annotations

from collections.abc import Sequence

from agent.answering.pages import content_passages
from agent.engine.context import RunContext
from agent.export.collected import format_post_date
from agent.retrieval.scorer import rank_passages
from agent.types import Passage
from agent.types.collection import CollectedItem
from agent.web.extract.dated_sections import LinkedText


def split_item(
    item: CollectedItem, tools: RunContext, passages_of: dict[str, list[Passage]]
) -> tuple[list[Passage], dict[str, str]]:
    """The passages of an item, and who wrote those that are posts, by the passage's id. They are without
    navigation, what they quote from others, and patches. `passages_of` holds those of pages that were split:
    a changelog has many items."""
    pages = {page_id: tools.page(page_id) for page_id in item.page_ids}
    found, writers, own_words = list[Passage](), dict[str, str](), list[Passage]()
    if item.kind == "article" and item.page_ids:
        page_id = item.page_ids[0]
        if page_id not in passages_of:
            passages_of[page_id] = content_passages(pages[page_id], page_id)
        end = item.end if item.end >= 0 else len(pages[page_id].text)
        for passage in passages_of[page_id]:
            if passage.start < end and passage.end > item.start:
                part = _cut(passage, item.start - passage.start, end - passage.start)
                name = passage.id if part == passage else f"{passage.id}@{part.start}"
                day = passage.published_at or item.publish_date
                found += [part.replace(id=name, published_at=day)] if part.text.strip() else []
    for post in item.posts:
        if post.start >= 0 and post.page_id in pages:
            page, about = pages[post.page_id], (post.user, format_post_date(post), f"{post.role} {post.n}")
            passage = Passage(
                id=f"{post.page_id}:post{post.n}",
                page_id=post.page_id,
                url=page.final_url or page.url,
                heading=", ".join(filter(None, about)),
                published_at=post.date,
                start=post.start,
                end=post.end,
                text=page.text[post.start : post.end],
            )
            found.append(passage)
            writers[passage.id] = post.user or "someone"
    linked = {page_id: LinkedText(page.links) for page_id, page in pages.items()}
    for passage in found:
        parts = linked[passage.page_id].find_own_words(passage.text)
        if sum(end - start for start, end in parts) >= len(passage.text.strip()):
            parts = [(0, len(passage.text))]
        for n, (start, end) in enumerate(parts):
            part = _cut(passage, start, end)
            own_words.append(part.replace(id=f"{passage.id}.{n}") if n else part)
            if passage.id in writers:
                writers[own_words[-1].id] = writers[passage.id]
    return own_words, writers


def _cut(passage: Passage, start: int, end: int) -> Passage:
    """The part of a passage between two offsets of its text."""
    start, end = max(0, start), min(end, len(passage.text))
    return passage.replace(text=passage.text[start:end], start=passage.start + start, end=passage.start + end)


def fit_item(topic: str, passages: Sequence[Passage], room: int) -> list[Passage]:
    """The passages that fit, in their order: all of them, or the first one, then the best for the topic, then
    the earliest; the last that is taken is cut."""
    if sum(len(passage.text) for passage in passages) <= room:
        return list(passages)
    ranked = rank_passages(topic, passages, len(passages)) if topic else []
    kept: dict[str, Passage] = {}
    for passage in [*passages[:1], *ranked, *passages]:
        if room > 0 and passage.id not in kept:
            kept[passage.id] = _cut(passage, 0, room)
            room -= len(passage.text)
    return [kept[passage.id] for passage in passages if passage.id in kept]
