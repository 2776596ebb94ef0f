"""The pages of a site that an earlier run fetched from its server: what a new question uses again.

Only for the live web: a folder world answers at once, and its pages are no pages of the web. Pages that a
person supplied are never among them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple
from urllib.parse import urlsplit

from agent.engine.context import RunContext
from agent.errors import NotFound
from agent.flows.site.language_folders import LanguageFolders
from agent.flows.site.state import SiteRun
from agent.store.ledger import utc_timestamp
from agent.text.urls import canonicalize
from agent.types import Outcome, Page
from agent.web import apply_source_filter
from agent.web.extract import dispatch
from agent.web.extract.extraction import EXTRACTION_VERSION

NEVER = "9999"
"""A time after every other."""


class StoredPage(NamedTuple):
    """A page as it was fetched before. `is_fresh`: recently enough to be used without a request."""

    page_id: str
    page: Page
    is_fresh: bool


def list_fresh(state: SiteRun, tools: RunContext, urls: Iterable[str]) -> set[str]:
    """Those of the addresses whose stored pages are fresh."""
    if not tools.world.live:
        return set()
    found, since = tools.store.pages.find_fetched(urls), _oldest_fresh(state)
    fresh = {
        url
        for url, held in found.items()
        if held.fetched_at >= since and state.settings.allows(held.final_url)
    }
    return {url for url in urls if canonicalize(url) in fresh}


def find_stored(state: SiteRun, tools: RunContext, urls: Iterable[str]) -> dict[str, StoredPage]:
    """The stored pages of these addresses, fresh or not, as the source filter of the run lets them count,
    with the times when their servers last gave or confirmed them. What an older version of the program read
    is read again from its body; without a body it is left out."""
    if not tools.world.live:
        return {}
    known, since, stored = tools.store.pages.find_fetched(urls), _oldest_fresh(state), {}
    for url in urls:
        address = known.get(canonicalize(url))
        if address and state.settings.allows(address.final_url):
            try:
                page = tools.page(address.page_id)
                if page.extraction != EXTRACTION_VERSION:
                    page = _extract_again(tools.page(address.page_id, raw=True), tools)
            except NotFound:  # emptied out of the bin since
                continue
            if page.extraction != EXTRACTION_VERSION:
                continue
            stated = {"etag": address.etag, "last_modified": address.last_modified}
            newer = {name: value for name, value in stated.items() if value}
            page = page.replace(fetched_at=address.fetched_at, **newer)
            page = apply_source_filter.filter_page(page, state.settings.source_filter)
            stored[url] = StoredPage(address.page_id, page, address.fetched_at >= since)
    return stored


def _extract_again(page: Page, tools: RunContext) -> Page:
    """The page as it is read today; as it is when it has no body, or none that can be read now."""
    if not page.raw:
        return page
    content = dispatch.extract_content(page.raw, page.content_type, page.final_url, tools.checkpoint)
    if content.outcome is not Outcome.OK:
        return page
    fields = content.page_fields() | {"language": content.language or page.language}
    return page.replace(**fields, extraction=EXTRACTION_VERSION)


def list_site_pages(state: SiteRun, tools: RunContext, folders: LanguageFolders) -> dict[str, str]:
    """The fresh stored pages of the start pages' sites that the run may read: address and id, the newest
    first."""
    if not tools.world.live or state.settings.source_filter.needs_page:
        return {}
    starts = [canonicalize(url) for url in state.settings.start_urls]
    origins: Collection[str] = dict.fromkeys(urlsplit(url).netloc for url in starts if url)
    return {
        address.url: address.page_id
        for origin in origins
        for address in tools.store.pages.list_fetched(origin, _oldest_fresh(state))
        if all(map(state.settings.allows, (address.url, address.final_url))) and folders.allows(address.url)
    }


def _oldest_fresh(state: SiteRun) -> str:
    """The time since when a fetched page is fresh (ISO 8601)."""
    days = state.settings.site.fresh_days
    return utc_timestamp(days_ago=days) if days else NEVER
