"""The digest of what was kept: its quotes become facts, and an empty one says why."""

from __future__ import annotations

from collections.abc import Sequence

from agent.answering.draft import answer_from_quotes
from agent.answering.pages import content_passages
from agent.answering.verdict import describe_failures, record_answer
from agent.engine.context import RunContext
from agent.engine.state import Change
from agent.export.collected import format_post_date
from agent.flows.collect.frontier import list_instructions
from agent.flows.collect.state import CollectRun
from agent.retrieval.scorer import rank_passages
from agent.roles.collect_items import DIGEST, DigestItem
from agent.text.plurals import format_count
from agent.types import Answer, Outcome, Passage
from agent.types.collection import CollectedItem
from agent.web.extract.dated_sections import LinkedText

WINDOW_CHARS = 5_000
"""Characters of one item: an article of 800 words or a thread of a dozen posts is shown whole."""
MAX_CHARS = 60_000
"""Characters of all items, about 15,000 tokens: half of what a small model can read at once."""


def write_digest(state: CollectRun, tools: RunContext) -> Change:
    """The change of the digest: the facts it quotes, conflicts, confidence, and the answer."""
    items, own = _list_items(state, tools), state.own
    intent, notes = own.intent, list[str]()
    if any(item.writers for item in items):
        notes.append("What people post is their opinion, reported in their own words.")
    excluded = ", ".join(f"“{part}”" for part in intent.leave_out)
    if excluded and any(item.judged_by == "keyless" for item in own.items.values()):
        notes.append(
            f"Your wish {excluded} was read without a model: only titles and writers' names were looked at "
            "for it, so check what was kept."
        )
    kinds = ["article" if item.kind == "article" else "thread" for item in own.kept_items]
    counts = [format_count(kinds.count(kind), kind) for kind in ("article", "thread") if kind in kinds]
    failed = [page for page in state.pages.values() if page.outcome is not Outcome.OK]
    journey = f"{' and '.join(counts)} gathered" if counts else "Nothing was gathered"
    journey += f"; {format_count(len(failed), 'page')} could not be read." if failed else "."
    journey += f" It stopped because: {state.why_stopped}." if state.why_stopped else ""
    blanks = {
        "prompt": state.question,
        "notes": list_instructions(state),
        "intent": intent,
        "items": items,
        "failures": failed,
        "former": state.answer,
    }
    draft, answer = answer_from_quotes(
        state,
        tools,
        DIGEST,
        [passage for item in items for passage in item.passages],
        blanks,
        question=state.question,
        weighed_by=own.relevance_question(state),
        caveat=" ".join(notes),
        journey=journey,
    )
    if answer.verdict == "no_evidence":
        answer = _explain_empty_digest(draft.state, answer, notes)
    return record_answer(answer, draft.change)


def _explain_empty_digest(state: CollectRun, answer: Answer, notes: Sequence[str]) -> Answer:
    """An empty digest with its reason: blocked pages, a limit, or nothing relevant. The last names what lies
    outside the time that was asked for."""
    own, pages = state.own, state.pages.values()
    failed = [page for page in pages if page.outcome is not Outcome.OK]
    read = [node for node in own.tree.values() if node.page_id]
    is_blocked = any(page.outcome is not Outcome.EMPTY for page in failed)
    only_lists = all(node.action in ("EXTRACT_LINKS", "NAVIGATE_TO") and not node.held for node in read)
    timely = sum(own.intent.covers(item.last_date) for item in own.items.values())
    days = [node.detected_date for node in own.tree.values() if node.status == "dropped"]
    days += [item.last_date for item in own.items.values() if item.status == "dropped"]
    outside = sorted(day[:10] for day in days if not own.intent.covers(day))
    if is_blocked and not own.items and only_lists:
        lists = "Only lists and sections could be read, and no page behind them"
        met = lists if read else "No page could be read"
        reason, why = "blocked", f"{met}: {describe_failures(failed)}"
    elif not own.items and state.stop_reason in ("budget", "limit"):
        reason, why = "budget", f"Nothing was gathered: {state.why_stopped}."
    elif own.kept_items:
        told = "gathered, but their words back no sentence of a digest: read them below."
        reason, why = "not_covered", f"{len(own.kept_items)} {told}"
    else:
        gathered = format_count(timely, "was gathered", "were gathered")
        why = f"{gathered}, and none is relevant" if timely else "No article or thread was found"
        unread = f"; {len(failed)} could not be read" if failed else ""
        why += f" on the {format_count(state.pages_read_count, 'page')} read{unread}."
        reason = "not_covered"
    if reason == "not_covered" and outside:
        count = format_count(len(outside), "entry", "entries")
        why += f" Outside the time asked for: {count}, the newest of {outside[-1]}."
        why += " Send it back with another time."
    return answer.replace(reason=reason, certainty=" ".join([f"No digest is given. {why}", *notes]))


def _list_items(state: CollectRun, tools: RunContext) -> list[DigestItem]:
    """The kept items, each with the passages of it that its writer is shown; items without a word that can be
    quoted are left out."""
    kept, topic = state.own.timely_items, state.own.intent.topic
    room = min(WINDOW_CHARS, MAX_CHARS // max(1, len(kept)))
    shown, passages_of = [], dict[str, list[Passage]]()
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


def _fit(topic: str, passages: Sequence[Passage], room: int) -> list[Passage]:
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
