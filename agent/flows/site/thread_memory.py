"""What a turn of a conversation with a site takes over from earlier turns: the pages, and what a person said
of facts and sources.

A page outside the sources of this question does not count, and says why; one that only the former sources
excluded may be fetched again. Struck and corrected facts stay so."""

from __future__ import annotations

from agent.engine.context import RunContext
from agent.engine.run_state import RunState
from agent.engine.state import Change, fold
from agent.flows.site.state import SiteRun, SiteState
from agent.retrieval.relevance import score_fact
from agent.types import Fact, Outcome, PageRef, SourceFilter
from agent.types.source_filter import OUTSIDE_FILTER
from agent.web import apply_source_filter
from agent.web.http_outcomes import OUT_OF_SCOPE


def load_earlier_state(state: SiteRun, tools: RunContext) -> SiteRun | None:
    """The state of the newest earlier run of this conversation; it includes what was read before it."""
    run_id = next((turn.run_id for turn in reversed(state.substantive_turns) if turn.run_id), "")
    former = fold(RunState(own=SiteState()), tools.steps(run_id)) if run_id else None
    return former if former and former.own.all_discovered_urls else None


def carry_over_pages(state: SiteRun, former: SiteRun, tools: RunContext) -> Change:
    """The pages, addresses and their graph as far as they count for this question, and what a person
    struck."""
    reach, own = state.settings.source_filter, former.own
    refs, open_again = list(former.pages.values()), set[str]()
    if reach != former.settings.source_filter:
        refs = [_apply_source_filter(ref, reach, tools) for ref in refs]
        open_again = {
            ref.url
            for ref in refs
            if not ref.page_id and _was_out_of_scope(former.pages[ref.url]) and reach.allows(ref.url)
        }
    urls = own.all_discovered_urls
    return {
        "all_discovered_urls": urls,
        "url_texts": own.url_texts,
        "url_found_on": own.url_found_on,
        "url_graph": own.url_graph,
        "struck_sources": former.struck_sources,
        "visited_urls": [i for i in own.visited_urls if urls[i] not in open_again],
        "pages": [ref for ref in refs if ref.url not in open_again],
        "sitemaps": list(own.sitemaps.values()),
    }


def carry_over_facts(state: SiteRun, former: SiteRun, question: str) -> list[Fact]:
    """The struck and corrected facts of the carried pages, with their relevance to this question. Pins
    belonged to the former question."""
    pages = {ref.page_id for ref in state.pages.values() if ref.page_id}
    return [
        fact.replace(
            disputed=False,
            decision="struck" if fact.decision == "struck" else "none",
            relevance=score_fact(question, fact),
        )
        for fact in former.facts.values()
        if fact.page_id in pages and (fact.decision == "struck" or fact.former)
    ]


def _apply_source_filter(ref: PageRef, reach: SourceFilter, tools: RunContext) -> PageRef:
    """The page as it counts with these sources alone."""
    if not ref.page_id:
        return ref
    outcome, detail = Outcome.REFUSED, OUT_OF_SCOPE
    if reach.allows(ref.url) and reach.allows(ref.final_url or ref.url):
        page = apply_source_filter.filter_page(tools.page(ref.page_id), reach)
        outcome, detail = page.outcome, page.detail
    return ref if outcome is Outcome.OK else ref.replace(page_id="", outcome=outcome, detail=detail, facts=0)


def _was_out_of_scope(ref: PageRef) -> bool:
    return ref.outcome is Outcome.REFUSED and (OUTSIDE_FILTER in ref.detail or ref.detail == OUT_OF_SCOPE)
