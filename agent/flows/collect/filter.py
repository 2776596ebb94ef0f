"""What is kept of what was gathered: the time range, copies, relevance in one batch; then facts with their
quotes, and the confidence."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent.engine.context import RunContext
from agent.engine.state import Change
from agent.evidence import confidence
from agent.evidence.contradiction import groups
from agent.evidence.quote_match import verify_quote
from agent.flows.collect import event_log
from agent.flows.collect.constraints import RULED_OUT, is_ruled_out, list_ruled_out
from agent.flows.collect.extract import item_text
from agent.flows.collect.frontier import explain_too_old
from agent.flows.collect.state import CollectRun
from agent.flows.shared import fact_view
from agent.retrieval.relevance import score_fact
from agent.retrieval.term_coverage import measure_coverage
from agent.roles.collect.relevance import RELEVANCE, ItemPreview, ItemVerdict, fallback, find_topic_words
from agent.text.near_duplicates import compute_shingles, is_copy
from agent.text.sentences import find_sentence_spans
from agent.text.tokens import content_stems, stem_words
from agent.types import Actor, Fact, Page
from agent.types.collection import CollectedItem, CrawlNode, NavEvent
from agent.types.facts import make_fact_id
from agent.web import page_language

PREVIEW_CHARS = 300
"""Characters of an item that the relevance role is shown."""
FACTS_PER_ITEM = 6
"""Sentences of one item that become facts."""
FACTS_PER_POST = 2
_SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’»)\]]*$")
MIN_QUOTE_WORDS = 4
"""Words a sentence must have to stand for its item."""


def filter_items(state: CollectRun, tools: RunContext) -> Change:
    """The change of judging everything that was gathered and not judged yet."""
    texts = {item.id: item_text(item, tools) for item in [*state.own.kept_items, *state.own.unjudged_items]}
    timely = [_drop_if_excluded(state, item, texts[item.id]) for item in state.own.unjudged_items]
    told, copied = _drop_copies(state, timely, texts)
    waiting = [item for item in told if item.status == "new"]
    judged = {item.id: item for item in _judge_relevance(state, tools, waiting, texts)}
    settled = [judged.get(item.id, item) for item in told]
    kept = [item for item in settled if item.status == "kept"]
    facts = [fact for item in kept for fact in _extract_facts(state, tools, item)]
    return {
        "items": [*copied, *settled],
        "events": _log_outcomes(state, tools, settled),
        **_assess_confidence(state, tools, facts, kept),
    }


def _drop_if_excluded(state: CollectRun, item: CollectedItem, text: str) -> CollectedItem:
    """Left out when a later note rules its address out, when it is known to be too old (an unknown date
    passes, and is told), or when its date or language is none of those that were chosen."""
    if is_ruled_out(item.url, list_ruled_out(state, noted=item.given)):
        return item.model_copy(update={"status": "dropped", "reason": RULED_OUT})
    day = item.last_date[:10]
    if state.own.is_too_old(state, day):
        return item.model_copy(update={"status": "dropped", "reason": explain_too_old(state, day)})
    reach = state.settings.source_filter
    why = reach.date_problem(day) or (
        reach.language_problem(page_language.detect_language(text)) if reach.language else ""
    )
    return item.model_copy(update={"status": "dropped", "reason": why}) if why else item


def _drop_copies(
    state: CollectRun, items: Sequence[CollectedItem], texts: dict[str, str]
) -> tuple[list[CollectedItem], list[CollectedItem]]:
    """The items with later copies of earlier ones dropped, and the earlier items that now say where else
    their text stands."""
    known = {item.id: (item, compute_shingles(texts[item.id])) for item in state.own.kept_items}
    told: list[CollectedItem] = []
    grown: dict[str, CollectedItem] = {}
    for item in items:
        marks = compute_shingles(texts[item.id])
        first = (
            next((old for old, other in known.values() if is_copy(marks, other)), None)
            if item.status == "new"
            else None
        )
        if first is None:
            if item.status == "new":
                known[item.id] = (item, marks)
            told.append(item)
            continue
        first = grown.get(first.id, first)
        grown[first.id] = first.model_copy(
            update={"also_at": list(dict.fromkeys([*first.also_at, item.url]))}
        )
        told.append(
            item.model_copy(
                update={
                    "status": "dropped",
                    "reason": f"The same text as “{first.title}”, which was found first.",
                }
            )
        )
    fresh = {item.id for item in told}
    return [grown.get(item.id, item) if item.status == "new" else item for item in told], [
        item for item in grown.values() if item.id not in fresh
    ]


def _judge_relevance(
    state: CollectRun, tools: RunContext, items: Sequence[CollectedItem], texts: dict[str, str]
) -> list[CollectedItem]:
    """The relevance of all items in one batch; a page the person named itself is relevant by that."""
    named = [item for item in items if item.given]
    asked = [item for item in items if not item.given]
    verdicts: dict[str, ItemVerdict] = {}
    by: Actor = "code"
    if asked:
        previews = [_build_preview(state, item, texts[item.id]) for item in asked]
        judgement = tools.judge(
            RELEVANCE, intent=state.own.effective_intent(state), today=state.own.today, items=previews
        )
        by = judgement.by
        missed = fallback(intent=state.own.effective_intent(state), today=state.own.today, items=previews)
        verdicts = {verdict.id: verdict for verdict in [*missed.items, *judgement.value.items]}
    told = [
        item.model_copy(update={"status": "kept", "reason": "You named this page.", "judged_by": "code"})
        for item in named
    ]
    for item in asked:
        verdict = verdicts[item.id]
        told.append(
            item.model_copy(
                update={
                    "status": "kept" if verdict.is_relevant else "dropped",
                    "reason": verdict.reason,
                    "judged_by": by,
                }
            )
        )
    return told


def _build_preview(state: CollectRun, item: CollectedItem, text: str) -> ItemPreview:
    inside = set(stem_words(text[:200_000]))
    return ItemPreview(
        id=item.id,
        title=item.title,
        author=item.author,
        date=item.last_date[:10],
        preview=text[:PREVIEW_CHARS],
        trail=item.trail,
        matched=find_topic_words(state.own.effective_intent(state).topic, inside),
    )


def _log_outcomes(state: CollectRun, tools: RunContext, settled: Sequence[CollectedItem]) -> list[NavEvent]:
    told: list[NavEvent] = []
    for item in settled:
        branch = next(
            (branch for branch in state.own.tree.values() if branch.item_id == item.id),
            CrawlNode(id=item.url, url=item.url),
        )
        told.append(
            event_log.log_content_added(tools, branch, item)
            if item.status == "kept"
            else event_log.log_stop(tools, branch, item.reason)
        )
    return told


def _extract_facts(state: CollectRun, tools: RunContext, item: CollectedItem) -> list[Fact]:
    """The sentences that speak best for an item, each a fact with its verified quote; who posted it stands in
    the statement."""
    pages = {page_id: tools.page(page_id) for page_id in item.page_ids}
    found: list[tuple[float, int, Fact]] = []
    for n, (page_id, user, start, end) in enumerate(_list_own_spans(item, pages)):
        page = pages[page_id]
        scored: list[tuple[float, int, Fact]] = []
        for left, right in find_sentence_spans(page.text[start:end]):
            quote = page.text[start + left : start + right]
            if len(quote.split()) >= MIN_QUOTE_WORDS and quote.strip() not in (item.title, page.title):
                fact = _build_fact(tools, item, page, page_id, (user, quote))
                scored.append((_score_sentence(state, fact, len(scored) + n, post=bool(user)), -n, fact))
        found += sorted(scored, key=lambda entry: -entry[0])[: FACTS_PER_POST if user else FACTS_PER_ITEM]
    best = sorted(found, key=lambda entry: (-entry[0], -entry[1]))[:FACTS_PER_ITEM]
    checked = [
        verify_quote(fact, pages[fact.page_id].text, pages[fact.page_id].sha256) for _, _, fact in best
    ]
    unique = {fact.id: fact for fact in checked if fact.verified}
    return list(unique.values())


def _list_own_spans(item: CollectedItem, pages: dict[str, Page]) -> list[tuple[str, str, int, int]]:
    """The stretches of stored text that are the item's own: page, who wrote it ("" for an article), start and
    end."""
    said = [
        (post.page_id, post.user, post.start, post.end)
        for post in item.posts
        if post.start >= 0 and post.page_id in pages
    ]
    if item.kind != "article" or not item.page_ids:
        return said
    page_id = item.page_ids[0]
    return [(page_id, "", item.start, item.end if item.end >= 0 else len(pages[page_id].text)), *said]


def _build_fact(
    tools: RunContext, item: CollectedItem, page: Page, page_id: str, said: tuple[str, str]
) -> Fact:
    user, quote = said
    return Fact(
        id=make_fact_id(page_id, user, quote),
        statement=f"{user}: “{quote}”" if user else quote,
        quote=quote,
        page_id=page_id,
        url=page.final_url or page.url,
        title=item.title,
        fetched_at=page.fetched_at,
        published_at=item.publish_date,
        subject=f"{item.title}: {user}" if user else item.title,
        trust=tools.assess_trust(page).value,
        step=tools.step,
        by="code",
    )


def _score_sentence(state: CollectRun, fact: Fact, place: int, *, post: bool) -> float:
    """How well a sentence speaks for its item: it bears on the topic, says enough, stands early, and is no
    mere byline."""
    topic = state.own.effective_intent(state).topic
    bearing = score_fact(topic, fact) if topic else 0.0
    said = min(1.0, len(fact.quote.split()) / 12)
    whole = 0.0 if post or _SENTENCE_END.search(fact.quote) else -0.3
    return 0.5 * bearing + 0.3 * said + 0.2 / (1 + place / (4 if post else 1)) + whole


def _assess_confidence(
    state: CollectRun, tools: RunContext, new: list[Fact], kept: list[CollectedItem]
) -> Change:
    """The new facts with their marks, conflicts, and the confidence: how much of the topic is covered, by how
    many voices."""
    topic = state.own.effective_intent(state).topic
    marked = [
        fact.model_copy(update={"relevance": round(score_fact(topic, fact), 4) if topic else 0.5})
        for fact in new
    ]
    known = [*fact_view.facts_for_prompt(state), *marked]
    clashes = (
        groups.find_conflicts(known, state.conflicts.values()) if new else list(state.conflicts.values())
    )
    disputed = {fact.id: fact for fact in groups.update_disputed(known, clashes)} if new else {}
    counted = [disputed.get(fact.id, fact) for fact in known]
    covered = 1.0 if not topic and counted else _measure_coverage(state, counted, kept)
    level = confidence.assess_confidence(
        step=tools.step,
        facts=counted,
        conflicts=clashes,
        coverage=covered,
        previous=state.confidence[-1] if state.confidence else None,
    )
    facts = [disputed.get(fact.id, fact) for fact in marked] + [
        fact for fact in disputed.values() if fact.id in state.facts
    ]
    return {
        "facts": facts,
        "conflicts": [clash for clash in clashes if clash != state.conflicts.get(clash.id)],
        "confidence": [level],
    }


def _measure_coverage(state: CollectRun, facts: list[Fact], kept: list[CollectedItem]) -> float:
    """The share of the topic's words in the facts; the titles that led to an item speak for it too: a board
    about the topic is about it."""
    if not facts:
        return 0.0
    led = " ".join(title for item in [*state.own.kept_items, *kept] for title in [*item.trail, item.title])
    wanted = set(content_stems(state.own.effective_intent(state).topic))
    around = len(wanted & set(stem_words(led))) / len(wanted) if wanted else 1.0
    return max(measure_coverage(state.own.effective_intent(state).topic, facts).share, around)
