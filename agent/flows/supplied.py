"""The change that a person makes who gives the text of a page, or asks to try one again. Pure functions of the state."""

from __future__ import annotations

from agent.flows.state import Again, Research
from agent.state import Change
from agent.types import Action, Outcome, Page, PageRef
from agent.urls import canonical


def known(state: Research, url: str) -> PageRef | None:
    """The page of this address as the run knows it, however the address is spelled."""
    spelled = canonical(url) or url
    return state.pages.get(url) or next((ref for ref in state.pages.values() if (canonical(ref.url) or ref.url) == spelled), None)


def searched(state: Research, query: str) -> Action | None:
    """The last search for these words, if it failed."""
    made = [action for action in state.actions if action.action != "crawl_url" and action.query_or_url == query]
    return made[-1] if made and made[-1].outcome is not Outcome.OK else None


def given(state: Research, page: Page, page_id: str, step: int) -> Change:
    """The page counts as read, by a person's word; it waits to be weighed."""
    former = known(state, page.url)
    ref = PageRef(
        url=former.url if former else page.url, page_id=page_id, final_url=page.final_url, title=page.title, origin=page.origin, waiting=True,
        found_on=former.found_on if former else "person", step=step, links=former.links if former else [],
    )  # fmt: skip
    return {"pages": [ref]}


def retried(state: Research, what: str, step: int) -> Change | None:
    """A page or search that failed is tried again; None when there is none of this name."""
    if ref := known(state, what):
        return {"again": [Again(step=step, action="crawl_url", query_or_url=ref.url)]} if ref.outcome is not Outcome.OK else None
    action = searched(state, what)
    return {"again": [Again(step=step, action=action.action, query_or_url=what)]} if action else None
