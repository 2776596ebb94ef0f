"""Which items are kept: by time range, copies and relevance; then their facts and the confidence."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent.engine.context import RunContext
from agent.engine.state import Change
from agent.flows.collect import event_log
from agent.flows.collect.constraints import EXCLUDED_BY_PERSON, list_excluded, matches_excluded
from agent.flows.collect.extract import item_text
from agent.flows.collect.frontier import explain_too_old
from agent.flows.collect.state import CollectRun
from agent.flows.shared import fact_view
from agent.flows.shared.citations import build_fact_from_quote
from agent.flows.shared.fact_intake import add_facts
from agent.retrieval.extractive_answer import Quotation
from agent.retrieval.term_coverage import measure_coverage
from agent.roles.collect.relevance import RELEVANCE, ItemPreview, fallback, find_topic_words
from agent.text.language import detect_language
from agent.text.near_duplicates import compute_shingles, is_copy
from agent.text.sentences import find_sentence_spans
from agent.text.tokens import content_stems, stem_words
from agent.types import Fact, Page
from agent.types.collection import CollectedItem, CrawlNode, NavEvent

PREVIEW_CHARS = 300
"""Characters of an item that the relevance role is shown."""
MATCHED_CHARS = 200_000
"""Characters of an item that are searched for words of the topic."""
FACTS_PER_ITEM = 6
"""Sentences of one item that become facts."""
FACTS_PER_POST = 2
MIN_QUOTE_WORDS = 4
"""Words a quoted sentence must have."""
_SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’»)\]]*$")


def filter_items(state: CollectRun, tools: RunContext) -> Change:
    """The change of judging all items that were not judged yet."""
    own = state.own
    texts = {item.id: item_text(item, tools) for item in [*own.kept_items, *own.unjudged_items]}
    timely = [_drop_if_excluded(state, item, texts[item.id]) for item in own.unjudged_items]
    unique, originals = _drop_copies(own.kept_items, timely, texts)
    judged = _judge_relevance(state, tools, [item for item in unique if item.status == "new"], texts)
    settled = [judged.get(item.id, item) for item in unique]
    kept = [item for item in settled if item.status == "kept"]
    facts = [fact for item in kept for fact in _extract_facts(state, tools, item)]
    return {
        "items": [*originals, *settled],
        "events": [_log_outcome(state, tools, item) for item in settled],
        **add_facts(state, tools.step, facts, coverage=_measure_topic_coverage(state, facts, kept)),
    }


def _drop_if_excluded(state: CollectRun, item: CollectedItem, text: str) -> CollectedItem:
    """The item, dropped when a person excluded its address, or when its date or language is filtered out.

    An unknown date passes. A page the person named is excluded by a note only."""
    day, source_filter = item.last_date[:10], state.settings.source_filter
    if matches_excluded(item.url, list_excluded(state, notes_only=item.given)):
        why = EXCLUDED_BY_PERSON
    elif state.own.is_too_old(state, day):
        why = explain_too_old(state, day)
    else:
        language = detect_language(text) if source_filter.language else ""
        why = source_filter.date_problem(day) or source_filter.language_problem(language)
    return item.replace(status="dropped", reason=why) if why else item


def _drop_copies(
    kept: Sequence[CollectedItem], items: Sequence[CollectedItem], texts: dict[str, str]
) -> tuple[list[CollectedItem], list[CollectedItem]]:
    """The items with copies of earlier ones dropped, and those of `kept` that now list further addresses."""
    originals = {item.id: item for item in kept}
    shingles = {item.id: compute_shingles(texts[item.id]) for item in kept}
    settled: dict[str, CollectedItem] = {}
    for item in items:
        settled[item.id] = item
        if item.status != "new":
            continue
        marks = compute_shingles(texts[item.id])
        first = next((name for name, other in shingles.items() if is_copy(marks, other)), None)
        if first is None:
            shingles[item.id] = marks
            continue
        known = settled if first in settled else originals
        known[first] = known[first].replace(also_at=list(dict.fromkeys([*known[first].also_at, item.url])))
        why = f"The same text as “{known[first].title}”, which was found first."
        settled[item.id] = item.replace(status="dropped", reason=why)
    return list(settled.values()), [originals[item.id] for item in kept if originals[item.id] is not item]


def _judge_relevance(
    state: CollectRun, tools: RunContext, items: Sequence[CollectedItem], texts: dict[str, str]
) -> dict[str, CollectedItem]:
    """The items by id with their relevance, judged in one call; a page the person named is always kept."""
    named = {
        item.id: item.replace(status="kept", reason="You named this page.", judged_by="code")
        for item in items
        if item.given
    }
    intent, today = state.own.effective_intent(state), state.own.today
    previews = [_build_preview(intent.topic, item, texts[item.id]) for item in items if not item.given]
    if not previews:
        return named
    judgement = tools.judge(RELEVANCE, intent=intent, today=today, items=previews)
    verdicts = {verdict.id: (verdict, judgement.by) for verdict in judgement.value.items}
    if unjudged := [preview for preview in previews if preview.id not in verdicts]:
        missing = fallback(intent=intent, today=today, items=unjudged)
        verdicts |= {verdict.id: (verdict, "keyless") for verdict in missing.items}
    judged = {}
    for item in items:
        if item.id not in named:
            verdict, by = verdicts[item.id]
            status = "kept" if verdict.is_relevant else "dropped"
            judged[item.id] = item.replace(status=status, reason=verdict.reason, judged_by=by)
    return named | judged


def _build_preview(topic: str, item: CollectedItem, text: str) -> ItemPreview:
    return ItemPreview(
        id=item.id,
        title=item.title,
        author=item.author,
        date=item.last_date[:10],
        preview=text[:PREVIEW_CHARS],
        trail=item.trail,
        matched=find_topic_words(topic, set(stem_words(text[:MATCHED_CHARS]))),
    )


def _log_outcome(state: CollectRun, tools: RunContext, item: CollectedItem) -> NavEvent:
    node = next(
        (node for node in state.own.tree.values() if node.item_id == item.id),
        CrawlNode(id=item.url, url=item.url),
    )
    if item.status == "kept":
        return event_log.log_content_added(tools, node, item)
    return event_log.log_stop(tools, node, item.reason)


def _extract_facts(state: CollectRun, tools: RunContext, item: CollectedItem) -> list[Fact]:
    """The best sentences of an item as facts with verified quotes; the statement names who posted it."""
    topic = state.own.effective_intent(state).topic
    pages = {page_id: tools.page(page_id) for page_id in item.page_ids}
    found: list[tuple[float, int, Fact]] = []
    for n, (page_id, user, start, end) in enumerate(_list_own_spans(item, pages)):
        page = pages[page_id]
        scored: list[tuple[float, int, Fact]] = []
        for left, right in find_sentence_spans(page.text[start:end]):
            quote = page.text[start + left : start + right]
            if len(quote.split()) >= MIN_QUOTE_WORDS and quote.strip() not in (item.title, page.title):
                statement = f"{user}: “{quote}”" if user else quote
                subject = f"{item.title}: {user}" if user else item.title
                quotation = Quotation(page_id, quote, statement, subject)
                fact = build_fact_from_quote(topic, tools, page, quotation, by="code")
                scored.append((_score_sentence(fact, len(scored) + n, is_post=bool(user)), -n, fact))
        found += sorted(scored, key=lambda entry: -entry[0])[: FACTS_PER_POST if user else FACTS_PER_ITEM]
    best = sorted(found, key=lambda entry: (-entry[0], -entry[1]))[:FACTS_PER_ITEM]
    unique = {fact.id: fact for _, _, fact in best if fact.verified}
    relevance = {} if topic else {"relevance": 0.5}
    about = {"title": item.title, "published_at": item.publish_date, **relevance}
    return [fact.replace(**about) for fact in unique.values()]


def _list_own_spans(item: CollectedItem, pages: dict[str, Page]) -> list[tuple[str, str, int, int]]:
    """The item's own stretches of stored text: page, writer ("" for an article), start and end."""
    posts = [
        (post.page_id, post.user, post.start, post.end)
        for post in item.posts
        if post.start >= 0 and post.page_id in pages
    ]
    if item.kind != "article" or not item.page_ids:
        return posts
    page_id = item.page_ids[0]
    return [(page_id, "", item.start, item.end if item.end >= 0 else len(pages[page_id].text)), *posts]


def _score_sentence(fact: Fact, place: int, *, is_post: bool) -> float:
    """How well a sentence represents its item: relevance to the topic, length, early place, complete."""
    length = min(1.0, len(fact.quote.split()) / 12)
    incomplete = 0.0 if is_post or _SENTENCE_END.search(fact.quote) else -0.3
    return 0.5 * fact.relevance + 0.3 * length + 0.2 / (1 + place / (4 if is_post else 1)) + incomplete


def _measure_topic_coverage(state: CollectRun, new: list[Fact], kept: list[CollectedItem]) -> float:
    """The share of the topic's words in the facts, or in the titles of the items and their trails."""
    topic = state.own.effective_intent(state).topic
    facts = fact_view.ignore_disputes([*fact_view.facts_for_prompt(state), *new])
    if not topic or not facts:
        return float(bool(facts))
    items = [*state.own.kept_items, *kept]
    titles = set(stem_words(" ".join(title for item in items for title in [*item.trail, item.title])))
    wanted = set(content_stems(topic))
    around = len(wanted & titles) / len(wanted) if wanted else 1.0
    return max(measure_coverage(topic, facts).share, around)
