"""What a turn of a conversation with a site takes over from the turns before it: what was read, and a
person's word on that.

A page that the sources of this question shut out does not count, and says why; one that only the former
sources shut out may be asked for again. What a person struck stays struck, what they corrected stays as they
put it, and how far they trust a domain holds on."""

from __future__ import annotations

from agent.engine.context import RunContext
from agent.engine.run_state import RunState
from agent.engine.state import Change, fold
from agent.flows.site.state import SiteRun, SiteState
from agent.retrieval.relevance import score_fact
from agent.text.dialogue_acts import classify_small_talk
from agent.types import Fact, Outcome, PageRef, SourceFilter
from agent.types.source_filter import OUTSIDE_FILTER
from agent.web import apply_source_filter
from agent.web.http_outcomes import OUT_OF_SCOPE


def load_earlier_state(state: SiteRun, tools: RunContext) -> SiteRun | None:
    """The state of the newest earlier run of this conversation that is known; it holds all that was read
    before it."""
    for turn in reversed(state.history):
        if turn.run_id and not classify_small_talk(turn.user):
            found = fold(RunState(own=SiteState()), tools.steps(turn.run_id))
            return found if found.own.all_discovered_urls else None
    return None


def carry_over_pages(state: SiteRun, former: SiteRun, tools: RunContext) -> Change:
    """The pages, their graph and the addresses, as far as they count for this question, and what a person
    said of facts and sources."""
    reach = state.settings.source_filter
    other = reach != former.settings.source_filter
    refs = [_apply_source_filter(ref, reach, tools) if other else ref for ref in former.pages.values()]
    open_again = {
        ref.url
        for ref in refs
        if other and not ref.page_id and _was_out_of_scope(former.pages[ref.url]) and reach.allows(ref.url)
    }
    left = {ref.url for ref in refs if not ref.page_id}
    urls = former.own.all_discovered_urls
    return {
        "all_discovered_urls": urls,
        "url_texts": former.own.url_texts,
        "url_found_on": former.own.url_found_on,
        "url_graph": former.own.url_graph,
        "trusts": former.trusts,
        "struck_sources": former.struck_sources,
        "visited_urls": [i for i in former.own.visited_urls if urls[i] not in open_again],
        "skimmed": [i for i in former.own.skimmed if urls[i] not in left],
        "pages": [ref for ref in refs if ref.url not in open_again],
        "sitemaps": list(former.own.sitemaps.values()),
    }


def carry_over_facts(state: SiteRun, former: SiteRun, asked: str) -> list[Fact]:
    """The facts of pages that a person struck or corrected, weighed by what is asked now. A pin was meant for
    the former question."""
    read = {ref.page_id for ref in state.pages.values() if ref.page_id}
    kept = [
        fact
        for fact in former.facts.values()
        if fact.page_id in read and (fact.decision == "struck" or fact.former)
    ]
    new = [
        fact.model_copy(
            update={"disputed": False, "decision": "struck" if fact.decision == "struck" else "none"}
        )
        for fact in kept
    ]
    return [fact.model_copy(update={"relevance": score_fact(asked, fact)}) for fact in new]


def _apply_source_filter(ref: PageRef, reach: SourceFilter, tools: RunContext) -> PageRef:
    """The page as it counts when only these sources do."""
    if not ref.page_id:
        return ref
    if not (reach.allows(ref.url) and reach.allows(ref.final_url or ref.url)):
        return ref.model_copy(
            update={"page_id": "", "outcome": Outcome.REFUSED, "detail": OUT_OF_SCOPE, "facts": 0}
        )
    page = apply_source_filter.filter_page(tools.page(ref.page_id), reach)
    return (
        ref
        if page.outcome is Outcome.OK
        else ref.model_copy(
            update={"page_id": "", "outcome": page.outcome, "detail": page.detail, "facts": 0}
        )
    )


def _was_out_of_scope(ref: PageRef) -> bool:
    """Could it have been read, had the sources been wider?"""
    return ref.outcome is Outcome.REFUSED and (OUTSIDE_FILTER in ref.detail or ref.detail == OUT_OF_SCOPE)
