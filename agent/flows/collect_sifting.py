"""What is kept of what was gathered: the time range, copies, relevance in one batch; then facts with their quotes, and the confidence."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from agent.evidence import confidence, conflicts
from agent.evidence.quotes import verify
from agent.flows import collect_log, moves
from agent.flows.collect_content import text_of
from agent.flows.collect_state import Collect
from agent.flows.collect_walk import outdated
from agent.flows.collect_wishes import RULED_OUT, forbidden, is_barred
from agent.roles.answering import fact_score
from agent.roles.relevance import RELEVANCE, Preview, Relevant, keyless, named
from agent.state import Change
from agent.text.copies import is_copy, shingles
from agent.text.coverage import cover
from agent.text.sentences import spans
from agent.text.words import content_stems, stems
from agent.toolbox import Tools
from agent.tools import language
from agent.types import Fact, Page, Speaker
from agent.types.collected import Branch, Item, NavEvent

PREVIEW = 300
"""Characters of an item that the relevance role is shown."""
QUOTES = 6
"""Sentences of one item that become facts."""
PER_POST = 2
_ENDED = re.compile(r"[.!?…。！？][\"'”’»)\]]*$")
SHORTEST = 4
"""Words a sentence must have to stand for its item."""


def sift(state: Collect, tools: Tools) -> Change:
    """The change of judging everything that was gathered and not judged yet."""
    texts = {item.id: text_of(item, tools) for item in [*state.kept, *state.unjudged]}
    timely = [_chosen(state, item, texts[item.id]) for item in state.unjudged]
    told, copied = _without_copies(state, timely, texts)
    waiting = [item for item in told if item.status == "new"]
    judged = {item.id: item for item in _judged(state, tools, waiting, texts)}
    settled = [judged.get(item.id, item) for item in told]
    kept = [item for item in settled if item.status == "kept"]
    facts = [fact for item in kept for fact in _facts(state, tools, item)]
    return {"items": [*copied, *settled], "events": _events(state, tools, settled), **_level(state, tools, facts, kept)}


def _chosen(state: Collect, item: Item, text: str) -> Item:
    """Left out when a later note rules its address out, when it is known to be too old (an unknown date passes, and is told), or when its
    date or language is none of those that were chosen.
    """
    if is_barred(item.url, forbidden(state, noted=item.given)):
        return item.model_copy(update={"status": "dropped", "reason": RULED_OUT})
    day = item.last_date[:10]
    if state.too_old(day):
        return item.model_copy(update={"status": "dropped", "reason": outdated(state, day)})
    reach = state.settings.reach
    why = reach.untimely(day) or (reach.foreign(language.of_text(text)) if reach.language else "")
    return item.model_copy(update={"status": "dropped", "reason": why}) if why else item


def _without_copies(state: Collect, items: Sequence[Item], texts: dict[str, str]) -> tuple[list[Item], list[Item]]:
    """The items with later copies of earlier ones dropped, and the earlier items that now say where else their text stands."""
    known = {item.id: (item, shingles(texts[item.id])) for item in state.kept}
    told: list[Item] = []
    grown: dict[str, Item] = {}
    for item in items:
        marks = shingles(texts[item.id])
        first = next((old for old, other in known.values() if is_copy(marks, other)), None) if item.status == "new" else None
        if first is None:
            if item.status == "new":
                known[item.id] = (item, marks)
            told.append(item)
            continue
        first = grown.get(first.id, first)
        grown[first.id] = first.model_copy(update={"also_at": list(dict.fromkeys([*first.also_at, item.url]))})
        told.append(item.model_copy(update={"status": "dropped", "reason": f"The same text as “{first.title}”, which was found first."}))
    fresh = {item.id for item in told}
    return [grown.get(item.id, item) if item.status == "new" else item for item in told], [item for item in grown.values() if item.id not in fresh]


def _judged(state: Collect, tools: Tools, items: Sequence[Item], texts: dict[str, str]) -> list[Item]:
    """The relevance of all items in one batch; a page the person named itself is relevant by that."""
    named = [item for item in items if item.given]
    asked = [item for item in items if not item.given]
    verdicts: dict[str, Relevant] = {}
    by: Speaker = "code"
    if asked:
        previews = [_preview(state, item, texts[item.id]) for item in asked]
        judgement = tools.judge(RELEVANCE, intent=state.wanted, today=state.today, items=previews)
        by = judgement.by
        missed = keyless(intent=state.wanted, today=state.today, items=previews)
        verdicts = {verdict.id: verdict for verdict in [*missed.items, *judgement.value.items]}
    told = [item.model_copy(update={"status": "kept", "reason": "You named this page.", "judged_by": "code"}) for item in named]
    for item in asked:
        verdict = verdicts[item.id]
        told.append(item.model_copy(update={"status": "kept" if verdict.is_relevant else "dropped", "reason": verdict.reason, "judged_by": by}))
    return told


def _preview(state: Collect, item: Item, text: str) -> Preview:
    inside = set(stems(text[:200_000]))
    return Preview(
        id=item.id, title=item.title, author=item.author, date=item.last_date[:10], preview=text[:PREVIEW], trail=item.trail,
        matched=named(state.wanted.topic, inside),
    )


def _events(state: Collect, tools: Tools, settled: Sequence[Item]) -> list[NavEvent]:
    told: list[NavEvent] = []
    for item in settled:
        branch = next((branch for branch in state.tree.values() if branch.item_id == item.id), Branch(id=item.url, url=item.url))
        told.append(collect_log.added(tools, branch, item) if item.status == "kept" else collect_log.stopped(tools, branch, item.reason))
    return told


def _facts(state: Collect, tools: Tools, item: Item) -> list[Fact]:
    """The sentences that speak best for an item, each a fact with its verified quote; who posted it stands in the statement."""
    pages = {page_id: tools.page(page_id) for page_id in item.page_ids}
    found: list[tuple[float, int, Fact]] = []
    for n, (page_id, user, start, end) in enumerate(_pieces(item, pages)):
        page = pages[page_id]
        scored: list[tuple[float, int, Fact]] = []
        for left, right in spans(page.text[start:end]):
            quote = page.text[start + left : start + right]
            if len(quote.split()) >= SHORTEST and quote.strip() not in (item.title, page.title):
                fact = _fact(tools, item, page, page_id, (user, quote))
                scored.append((_telling(state, fact, len(scored) + n, post=bool(user)), -n, fact))
        found += sorted(scored, key=lambda entry: -entry[0])[: PER_POST if user else QUOTES]
    best = sorted(found, key=lambda entry: (-entry[0], -entry[1]))[:QUOTES]
    checked = [verify(fact, pages[fact.page_id].text, pages[fact.page_id].sha256) for _, _, fact in best]
    unique = {fact.id: fact for fact in checked if fact.verified}
    return list(unique.values())


def _pieces(item: Item, pages: dict[str, Page]) -> list[tuple[str, str, int, int]]:
    """The stretches of stored text that are the item's own: page, who wrote it ("" for an article), start and end."""
    said = [(post.page_id, post.user, post.start, post.end) for post in item.posts if post.start >= 0 and post.page_id in pages]
    if item.kind != "article" or not item.page_ids:
        return said
    page_id = item.page_ids[0]
    return [(page_id, "", item.start, item.end if item.end >= 0 else len(pages[page_id].text)), *said]


def _fact(tools: Tools, item: Item, page: Page, page_id: str, said: tuple[str, str]) -> Fact:
    user, quote = said
    return Fact(
        id="f" + hashlib.sha256(f"{page_id}\n{user}\n{quote}".encode()).hexdigest()[:7],
        statement=f"{user}: “{quote}”" if user else quote, quote=quote,
        page_id=page_id, url=page.final_url or page.url, title=item.title, fetched_at=page.fetched_at, published_at=item.publish_date,
        subject=f"{item.title}: {user}" if user else item.title, trust=tools.trust(page).value, step=tools.step, by="code",
    )  # fmt: skip


def _telling(state: Collect, fact: Fact, place: int, *, post: bool) -> float:
    """How well a sentence speaks for its item: it bears on the topic, says enough, stands early, and is no mere byline."""
    topic = state.wanted.topic
    bearing = fact_score(topic, fact) if topic else 0.0
    said = min(1.0, len(fact.quote.split()) / 12)
    whole = 0.0 if post or _ENDED.search(fact.quote) else -0.3
    return 0.5 * bearing + 0.3 * said + 0.2 / (1 + place / (4 if post else 1)) + whole


def _level(state: Collect, tools: Tools, new: list[Fact], kept: list[Item]) -> Change:
    """The new facts with their marks, conflicts, and the confidence: how much of the topic is covered, by how many voices."""
    topic = state.wanted.topic
    marked = [fact.model_copy(update={"relevance": round(fact_score(topic, fact), 4) if topic else 0.5}) for fact in new]
    known = [*moves.memory(state), *marked]
    clashes = conflicts.find(known, state.conflicts.values()) if new else list(state.conflicts.values())
    disputed = {fact.id: fact for fact in conflicts.dispute(known, clashes)} if new else {}
    counted = [disputed.get(fact.id, fact) for fact in known]
    covered = 1.0 if not topic and counted else _covered(state, counted, kept)
    level = confidence.assess(
        step=tools.step, facts=counted, conflicts=clashes, coverage=covered, previous=state.confidence[-1] if state.confidence else None
    )
    facts = [disputed.get(fact.id, fact) for fact in marked] + [fact for fact in disputed.values() if fact.id in state.facts]
    return {"facts": facts, "conflicts": [clash for clash in clashes if clash != state.conflicts.get(clash.id)], "confidence": [level]}


def _covered(state: Collect, facts: list[Fact], kept: list[Item]) -> float:
    """The share of the topic's words in the facts; the titles that led to an item speak for it too: a board about the topic is about it."""
    if not facts:
        return 0.0
    led = " ".join(title for item in [*state.kept, *kept] for title in [*item.trail, item.title])
    wanted = set(content_stems(state.wanted.topic))
    around = len(wanted & set(stems(led))) / len(wanted) if wanted else 1.0
    return max(cover(state.wanted.topic, facts).share, around)
