"""Which items are kept: by time range, copies and relevance."""

from __future__ import annotations

from collections.abc import Sequence

from agent.engine.context import RunContext
from agent.engine.state import Change
from agent.flows.collect import event_log
from agent.flows.collect.constraints import EXCLUDED_BY_PERSON, list_excluded, matches_excluded
from agent.flows.collect.extract import item_text
from agent.flows.collect.frontier import explain_untimely
from agent.flows.collect.state import CollectRun
from agent.roles.collect_items import RELEVANCE, ItemPreview, find_topic_words
from agent.roles.collect_items import relevance_fallback as fallback
from agent.text.language import detect_language
from agent.text.near_duplicates import compute_shingles, is_copy
from agent.text.tokens import stem_words
from agent.types.collection import CollectedItem, CrawlNode, NavEvent
from agent.web.extract.text_lines import LinkedText

PREVIEW_CHARS = 300
"""Characters of an item that the relevance role is shown."""
MATCHED_CHARS = 200_000
"""Characters of an item that are searched for words of the topic."""


def filter_items(state: CollectRun, tools: RunContext) -> Change:
    """The change of judging all items that were not judged yet."""
    own = state.own
    texts = {item.id: item_text(item, tools) for item in [*own.kept_items, *own.unjudged_items]}
    timely = [_drop_if_excluded(state, item, texts[item.id]) for item in own.unjudged_items]
    unique, originals = _drop_copies(own.kept_items, timely, texts)
    judged = _judge_relevance(state, tools, [item for item in unique if item.status == "new"], texts)
    settled = _keep_wanted_number(state, [judged.get(item.id, item) for item in unique])
    return {"items": [*originals, *settled], "events": [_log_outcome(state, tools, item) for item in settled]}


def _keep_wanted_number(state: CollectRun, items: Sequence[CollectedItem]) -> list[CollectedItem]:
    """The items with those dropped that are more than was asked for; one page may have many."""
    wanted = state.own.effective_intent(state).max_articles
    room = max(0, wanted - len(state.own.kept_items))
    kept = [item.id for item in items if item.status == "kept"]
    why = f"{wanted} were asked for, and others came first."
    return [item.replace(status="dropped", reason=why) if item.id in kept[room:] else item for item in items]


def _drop_if_excluded(state: CollectRun, item: CollectedItem, text: str) -> CollectedItem:
    """The item, dropped when a person excluded its address, or when its date or language is filtered out.

    An unknown date passes, and a thread with a post in time. A page the person named is excluded by a note
    only."""
    day, source_filter = item.last_date[:10], state.settings.source_filter
    if matches_excluded(item.url, list_excluded(state, notes_only=item.given)):
        why = EXCLUDED_BY_PERSON
    elif not any(state.own.is_in_range(state, one) for one in [day, *(p.date for p in item.posts if p.date)]):
        why = explain_untimely(state, day)
    else:
        language = detect_language(text) if source_filter.language else ""
        why = source_filter.date_problem(day) or source_filter.language_problem(language)
    return item.replace(status="dropped", reason=why) if why else item


def _drop_copies(
    kept: Sequence[CollectedItem], items: Sequence[CollectedItem], texts: dict[str, str]
) -> tuple[list[CollectedItem], list[CollectedItem]]:
    """The items with copies of earlier ones dropped, and those of `kept` that now list further addresses."""
    originals = {item.id: item for item in kept}
    shingles = {item.id: compute_shingles(_own_words(texts[item.id])) for item in kept}
    settled: dict[str, CollectedItem] = {}
    for item in items:
        settled[item.id] = item
        if item.status != "new":
            continue
        marks = compute_shingles(_own_words(texts[item.id]))
        first = next((name for name, other in shingles.items() if is_copy(marks, other)), None)
        if first is None:
            shingles[item.id] = marks
            continue
        known = settled if first in settled else originals
        known[first] = known[first].replace(also_at=list(dict.fromkeys([*known[first].also_at, item.url])))
        why = f"The same text as “{known[first].title}”, which was found first."
        settled[item.id] = item.replace(status="dropped", reason=why)
    return list(settled.values()), [originals[item.id] for item in kept if originals[item.id] is not item]


def _own_words(text: str) -> str:
    """A text without what it quotes from others: a reply is no copy of what it answers."""
    return "\n".join(text[start:end] for start, end in LinkedText([]).find_own_words(text)) or text


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
        writers=list(dict.fromkeys(post.user for post in item.posts)),
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
