"""What the writer of the digest is shown of each item: passages with who wrote them and when."""

from __future__ import annotations

from collections.abc import Sequence

from agent.answering.passages import content_passages
from agent.engine.context import RunContext
from agent.export.collected import format_post_date
from agent.flows.collect.state import CollectRun
from agent.retrieval.scorer import rank_passages
from agent.roles.collect_items import DigestItem
from agent.types import Page, Passage
from agent.types.collection import CollectedItem, Post
from agent.web.extract.text_lines import LinkedText

WINDOW_CHARS = 5_000
"""Characters of one item: an article of 800 words or a thread of a dozen posts is shown whole."""
MAX_CHARS = 60_000
"""Characters of all items, about 15,000 tokens: half of what a small model can read at once."""


def list_digest_items(state: CollectRun, tools: RunContext) -> list[DigestItem]:
    """The kept items with their windows; items without a word that can be quoted are left out."""
    kept, topic = state.own.timely_items(state), state.own.effective_intent(state).topic
    room = min(WINDOW_CHARS, MAX_CHARS // max(1, len(kept)))
    shown = []
    passages_of: dict[str, list[Passage]] = {}
    for item in kept:
        every, writers = _split_item(item, tools, passages_of)
        if passages := _fit(topic, every, room):
            shown.append(
                DigestItem(
                    title=item.title,
                    kind=item.kind,
                    url=item.url,
                    date=item.last_date[:10],
                    passages=[passage.replace(title=item.title) for passage in passages],
                    writers=writers,
                    left_out=len(every) - len(passages) + sum(post.start < 0 for post in item.posts),
                )
            )
    return shown


def _split_item(
    item: CollectedItem, tools: RunContext, passages_of: dict[str, list[Passage]]
) -> tuple[list[Passage], dict[str, str]]:
    """The passages of an item, and who wrote those that are posts, by the passage's id. `passages_of` holds
    those of pages that were split: a changelog has many items."""
    pages = {page_id: tools.page(page_id) for page_id in item.page_ids}
    posts = [post for post in item.posts if post.start >= 0 and post.page_id in pages]
    found = [_post_passage(post, pages[post.page_id]) for post in posts]
    writers = {passage.id: post.user or "someone" for passage, post in zip(found, posts, strict=True)}
    if item.kind == "article" and item.page_ids:
        page = pages[item.page_ids[0]]
        end = item.end if item.end >= 0 else len(page.text)
        if item.page_ids[0] not in passages_of:
            passages_of[item.page_ids[0]] = content_passages(page, item.page_ids[0])
        inside = [p for p in passages_of[item.page_ids[0]] if p.start < end and p.end > item.start]
        clipped = [_clip(p, item.start, end) for p in inside]
        dated = [
            p.replace(published_at=p.published_at or item.publish_date) for p in clipped if p.text.strip()
        ]
        found = dated + found
    own_words = {page_id: LinkedText(page.links) for page_id, page in pages.items()}
    cut: list[Passage] = []
    for passage in found:
        parts = _keep_own_words(passage, own_words[passage.page_id])
        cut += parts
        writers |= {part.id: writers[passage.id] for part in parts if passage.id in writers}
    return cut, writers


def _keep_own_words(passage: Passage, linked: LinkedText) -> list[Passage]:
    """The passage without navigation, what it quotes from others, and patches: as it is, or in parts."""
    parts = linked.find_own_words(passage.text)
    if sum(end - start for start, end in parts) >= len(passage.text.strip()):
        return [passage]
    return [
        passage.replace(
            id=passage.id if n == 0 else f"{passage.id}.{n}",
            text=passage.text[start:end],
            start=passage.start + start,
            end=passage.start + end,
        )
        for n, (start, end) in enumerate(parts)
    ]


def _clip(passage: Passage, start: int, end: int) -> Passage:
    """The part of a passage between two offsets of the page."""
    first, last = max(passage.start, start), max(start, min(passage.end, end))
    if (first, last) == (passage.start, passage.end):
        return passage
    text = passage.text[first - passage.start : max(0, last - passage.start)]
    return passage.replace(id=f"{passage.id}@{first}", text=text, start=first, end=last)


def _post_passage(post: Post, page: Page) -> Passage:
    about = (post.user, format_post_date(post), f"{post.role} {post.n}")
    return Passage(
        id=f"{post.page_id}:post{post.n}",
        page_id=post.page_id,
        url=page.final_url or page.url,
        heading=", ".join(filter(None, about)),
        published_at=post.date,
        start=post.start,
        end=post.end,
        text=page.text[post.start : post.end],
    )


def _fit(topic: str, passages: Sequence[Passage], room: int) -> list[Passage]:
    """The passages that fit, in their order: all of them, or the first one, then the best for the topic, then
    the earliest; the last that is taken is cut."""
    if sum(len(passage.text) for passage in passages) <= room:
        return list(passages)
    ranked = rank_passages(topic, passages, len(passages)) if topic else []
    kept: dict[str, Passage] = {}
    for passage in [*passages[:1], *ranked, *passages]:
        if room > 0 and passage.id not in kept:
            kept[passage.id] = _cut(passage, room)
            room -= len(passage.text)
    return [kept[passage.id] for passage in passages if passage.id in kept]


def _cut(passage: Passage, length: int) -> Passage:
    if length >= len(passage.text):
        return passage
    return passage.replace(text=passage.text[:length], end=passage.start + length)
