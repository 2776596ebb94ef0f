"""What earlier runs leave to a question about a site: the pages of the conversation, as far as the sources of
this question allow, what a person said of them, and the pages that any run fetched from the live web."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import urlsplit

from agent.engine.context import RunContext
from agent.engine.state import Change
from agent.errors import NotFound
from agent.flows.site.links import find_reach
from agent.flows.site.state import SiteRun
from agent.retrieval.scorer import score_fact
from agent.store.ledger import utc_timestamp
from agent.text.urls import canonicalize
from agent.types import Outcome, Page, PageRef
from agent.types.source_filter import OUTSIDE_FILTER, SourceFilter
from agent.web import search_results
from agent.web.extract.extraction import EXTRACTION_VERSION
from agent.web.http_outcomes import OUT_OF_SCOPE


class StoredPage(NamedTuple):
    """A page as it was fetched before. `is_fresh`: recently enough to be used without a request."""

    page_id: str
    page: Page
    is_fresh: bool


def carry_over(state: SiteRun, former: SiteRun, tools: RunContext) -> Change:
    """The pages and their graph as far as they count now, and what a person struck or corrected."""
    reach, own, urls = state.settings, former.own, former.own.all_discovered_urls
    refs, open_again, chosen = list[PageRef](), set[str](), set(SourceFilter.model_fields)
    is_same = reach.model_dump(include=chosen) == former.settings.model_dump(include=chosen)
    for ref in former.pages.values():
        if not is_same and not ref.page_id:
            is_outside = OUTSIDE_FILTER in ref.detail or ref.detail == OUT_OF_SCOPE
            if ref.outcome is Outcome.REFUSED and is_outside and reach.allows(ref.url):
                open_again.add(ref.url)
                continue
        elif not is_same:
            is_open = reach.allows(ref.url) and reach.allows(ref.final_url or ref.url)
            page = search_results.filter_page(tools.page(ref.page_id), reach) if is_open else None
            outcome, detail = (page.outcome, page.detail) if page else (Outcome.REFUSED, OUT_OF_SCOPE)
            if outcome is not Outcome.OK:
                ref = ref.replace(page_id="", outcome=outcome, detail=detail, facts=0)
        refs.append(ref)
    kept = {ref.page_id for ref in refs} - {""}
    return {
        "url_graph": own.url_graph,
        "strikes": dict.fromkeys(former.strikes, 0),
        "visited_urls": [i for i in own.visited_urls if urls[i] not in open_again],
        "pages": refs,
        "sitemaps": list(own.sitemaps.values()),
        "facts": [
            fact.replace(
                decision="struck" if fact.decision == "struck" else "none",
                marked=-1,
                relevance=score_fact(state.question, fact),
            )
            for fact in former.facts.values()
            if fact.page_id in kept and (fact.decision == "struck" or fact.former)
        ],
    }


def find_stored(state: SiteRun, tools: RunContext, urls: Iterable[str]) -> dict[str, StoredPage]:
    """The stored pages of these addresses, fresh or not, that the run may read and this version extracted."""
    if not tools.world.live:
        return {}
    known, since, stored = tools.store.pages.find_fetched(urls), _oldest_fresh(state), {}
    for url in urls:
        address = known.get(canonicalize(url))
        if not address or not state.settings.allows(address.final_url):
            continue
        try:
            page = tools.page(address.page_id)
        except NotFound:  # emptied out of the bin since
            continue
        if page.extraction == EXTRACTION_VERSION:
            stated = {"etag": address.etag, "last_modified": address.last_modified}
            newer = {name: value for name, value in stated.items() if value}
            page = page.replace(fetched_at=address.fetched_at, **newer)
            page = search_results.filter_page(page, state.settings)
            stored[url] = StoredPage(address.page_id, page, address.fetched_at >= since)
    return stored


def list_site_pages(state: SiteRun, tools: RunContext) -> dict[str, str]:
    """The fresh stored pages of the start pages' sites: address and id, the newest first."""
    if not tools.world.live or state.settings.needs_page:
        return {}
    starts, (_, is_open) = map(canonicalize, state.settings.start_urls), find_reach(state, tools)
    return {
        address.url: address.page_id
        for origin in dict.fromkeys(urlsplit(url).netloc for url in starts if url)
        for address in tools.store.pages.list_fetched(origin, _oldest_fresh(state))
        if is_open(address.url) and state.settings.allows(address.final_url)
    }


def _oldest_fresh(state: SiteRun) -> str:
    """The time since when a fetched page is fresh (ISO 8601); one after every other where none is."""
    days = state.settings.site.fresh_days
    return utc_timestamp(days_ago=days) if days else "9999"
