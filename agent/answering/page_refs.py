"""A fetched page as a record of the run: stored and referred to, then marked with what was read from it."""

from __future__ import annotations

from collections.abc import Iterable

from agent.engine.context import RunContext
from agent.evidence.source_trust import assess_trust
from agent.retrieval.shown_passages import add_spans
from agent.types import Action, Outcome, Page, PageRef, Proposal

START_PAGE_REASON = "You chose this start page."
"""Why a page is read that a person named as a start."""


def store_fetched(tools: RunContext, url: str, page: Page, found_on: str, title: str = "") -> PageRef:
    """Store a page that was fetched for `url`; the reference says what happened otherwise."""
    return PageRef(
        url=url,
        page_id=tools.store_fetched([(url, page)])[0] if page.outcome is Outcome.OK else "",
        final_url=page.final_url,
        title=page.title or title,
        outcome=page.outcome,
        detail=page.detail,
        found_on=found_on,
        step=tools.step,
        publication=page.publication,
    )


def offer_again(pages: Iterable[PageRef]) -> list[PageRef]:
    """The pages that a model was shown something of, as if it had seen nothing of them: for a new question
    all of their text may be read again."""
    return [
        ref.replace(shown=[(0, 0)], shown_before=add_spans(ref.shown_before, ref.shown))
        for ref in pages
        if ref.shown
    ]


def mark_read(ref: PageRef, page: Page, *, facts: int, **more: object) -> PageRef:
    """The reference of an analyzed page: how many facts it gave, how far its signs are trusted."""
    signs = assess_trust(page)
    read = {"facts": facts, "trust": signs.value, "trust_why": list(signs.reasons), "waiting": False}
    return ref.replace(**read, **more)


def build_action(proposal: Proposal, step: int, outcome: Outcome, detail: str, **more: object) -> Action:
    """A proposal that was carried out, as an action of the run."""
    shared = proposal.model_dump(include={"query_or_url", "part", "reasoning", "by", "rung", "about"})
    return Action.model_validate(
        {**shared, "action": proposal.next_action, "step": step, "outcome": outcome, "detail": detail, **more}
    )
