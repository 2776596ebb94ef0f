"""The change that a person makes who gives the text of a page, or asks to try one again. Pure functions of
the state."""

from __future__ import annotations

from agent.engine.run_state import RetryRequest, RunState
from agent.engine.state import Change
from agent.text.urls import canonicalize
from agent.types import Action, Outcome, Page, PageRef


def find_page(state: RunState, url: str) -> PageRef | None:
    """The page of this address as the run knows it, however the address is spelled."""
    spelled = canonicalize(url) or url
    return state.pages.get(url) or next(
        (ref for ref in state.pages.values() if (canonicalize(ref.url) or ref.url) == spelled), None
    )


def find_failed_search(state: RunState, query: str) -> Action | None:
    """The last search for these words, if it failed."""
    made = [
        action for action in state.actions if action.action != "crawl_url" and action.query_or_url == query
    ]
    return made[-1] if made and made[-1].outcome is not Outcome.OK else None


def supply_page(state: RunState, page: Page, page_id: str, step: int) -> Change:
    """The page counts as read, by a person's word; it waits to be weighed."""
    former = find_page(state, page.url)
    ref = PageRef(
        url=former.url if former else page.url,
        page_id=page_id,
        final_url=page.final_url,
        title=page.title,
        origin=page.origin,
        waiting=True,
        found_on=former.found_on if former else "person",
        step=step,
        links=former.links if former else [],
    )
    return {"pages": [ref]}


def request_retry(state: RunState, what: str, step: int) -> Change | None:
    """A page or search that failed is tried again; None when there is none of this name."""
    if ref := find_page(state, what):
        return (
            {"again": [RetryRequest(step=step, action="crawl_url", query_or_url=ref.url)]}
            if ref.outcome is not Outcome.OK
            else None
        )
    action = find_failed_search(state, what)
    return {"again": [RetryRequest(step=step, action=action.action, query_or_url=what)]} if action else None
