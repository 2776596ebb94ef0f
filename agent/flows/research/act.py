"""The step that carries a round out: its searches and page visits side by side, recorded together.

What was not done when a person stops the run, or its time is used up, stays pending."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent.answering.engine_choice import cool_down
from agent.answering.pages import build_action, read_open_copy, store_fetched
from agent.engine.context import RunContext
from agent.engine.side_by_side import WebRequest, WebResult
from agent.engine.state import Change
from agent.errors import BudgetSpent, ShutdownRequested, Signal, StopRequested
from agent.flows.research.policy import find_secrets
from agent.flows.research.state import SEARCH_PREFIX, Observation, ResearchRun
from agent.text.urls import canonicalize
from agent.types import ENGINE_BY_ACTION, Lead, Outcome, Page, Proposal, SearchResult


def act(state: ResearchRun, tools: RunContext) -> tuple[Change, str]:
    """Carry out the pending round; what an interruption left undone is done next."""
    wanted = state.pending.actions if state.pending else []
    at_hand = {n for n, proposal in enumerate(wanted) if proposal.next_action in ("more", "ask")}
    barred = {n: refusal for n, proposal in enumerate(wanted) if (refusal := _bar_secrets(state, proposal))}
    asked = [n for n in range(len(wanted)) if n not in at_hand and n not in barred]
    results, signal = tools.look_up([_build_request(wanted[n]) for n in asked]) if asked else ([], None)
    found: dict[int, WebResult] = {n: result for n, result in zip(asked, results, strict=True) if result}
    found |= barred
    signal = _read_open_copies(state, tools, wanted, found) or signal
    done = [proposal for n, proposal in enumerate(wanted) if n in found or n in at_hand]
    change: Change = {
        "actions": [],
        "pages": [],
        "brought": [] if state.own.is_analyzed else list(state.own.brought),
        "is_analyzed": False,
        "pending": Proposal.join([p for n, p in enumerate(wanted) if n not in found and n not in at_hand]),
        "leads": _mark_leads_taken(state, done),
    }
    for n, proposal in enumerate(wanted):
        result = found.get(n)
        if n in at_hand:
            _record_at_hand(state, tools, proposal, change)
        elif isinstance(result, SearchResult):
            _record_search(state, tools, proposal, result, change)
        elif isinstance(result, Page):
            _record_page(state, tools, proposal, result, change)
    return change, "act" if signal and change["pending"] else "analyze"


def _read_open_copies(
    state: ResearchRun, tools: RunContext, wanted: Sequence[Proposal], found: dict[int, WebResult]
) -> Signal | None:
    """Put open copies in the place of closed pages among what was `found`. A Signal in the middle leaves
    these to be asked for again; it is raised where nothing else was found."""
    signal: Signal | None = None
    for n, page in list(found.items()):
        if isinstance(page, Page):
            lead = _find_lead(state, wanted[n].query_or_url)
            try:
                found[n] = read_open_copy(tools, page, lead.publication if lead else None)
            except (StopRequested, ShutdownRequested, BudgetSpent) as raised:
                signal = raised
                del found[n]
    if signal and not found:
        raise signal
    return signal


def _bar_secrets(state: ResearchRun, proposal: Proposal) -> SearchResult | None:
    """The refusal of a search that would carry words of a private note or an added file, whichever way it
    came to be; None for any other. A person's own words are theirs to send."""
    engine = ENGINE_BY_ACTION.get(proposal.next_action, "")
    if not engine or proposal.by == "person" or not find_secrets(state, proposal.query_or_url):
        return None
    told = "It would carry words of a private note or an added file to a search engine, so it was not made."
    return SearchResult(engine=engine, query=proposal.query_or_url, outcome=Outcome.REFUSED, detail=told)


def _build_request(proposal: Proposal) -> WebRequest:
    return WebRequest(proposal.query_or_url, ENGINE_BY_ACTION.get(proposal.next_action, ""))


def _record_search(
    state: ResearchRun, tools: RunContext, proposal: Proposal, result: SearchResult, change: Change
) -> None:
    """Add a search to the change of the round; an engine that limits is left alone for a while."""
    source = f"{SEARCH_PREFIX}{proposal.query_or_url}"
    _add_action(change, proposal, tools.step, result.outcome, result.detail, hits=len(result.hits))
    change["brought"].append(
        Observation(source=source, outcome=result.outcome, hits=result.hits, part=proposal.part)
    )
    change["cooling"] = cool_down(change.get("cooling", state.cooling), result)


def _record_page(
    state: ResearchRun, tools: RunContext, proposal: Proposal, page: Page, change: Change
) -> None:
    """Store a page and add it to the change of the round."""
    url = proposal.query_or_url
    lead = _find_lead(state, url)
    found_on = lead.found_on if lead else "person"
    ref = store_fetched(tools, url, page, found_on).replace(length=len(page.text))
    change["pages"].append(ref)
    _add_action(change, proposal, tools.step, ref.outcome, ref.detail, page_id=ref.page_id)
    change["brought"].append(
        Observation(source=url, page_id=ref.page_id, outcome=ref.outcome, part=proposal.part)
    )


def _record_at_hand(state: ResearchRun, tools: RunContext, proposal: Proposal, change: Change) -> None:
    """Add what needs no request: the rest of a page that is stored; a question to the person that nobody was
    asked, with the reading that was chosen."""
    ref = state.pages.get(proposal.query_or_url)
    if proposal.next_action == "more" and ref:
        _add_action(change, proposal, tools.step, ref.outcome, "", page_id=ref.page_id)
        change["brought"].append(Observation(source=ref.url, page_id=ref.page_id, part=proposal.part))
    elif proposal.next_action == "ask":
        taken = f"it is read as “{proposal.choices[0]}”" if proposal.choices else "it stays open"
        _add_action(change, proposal, tools.step, Outcome.EMPTY, f"No person was asked: {taken}.")


def _add_action(
    change: Change, proposal: Proposal, step: int, outcome: Outcome, detail: str, **more: Any
) -> None:
    change["actions"].append(build_action(proposal, step, outcome, detail, **more))


def _mark_leads_taken(state: ResearchRun, done: list[Proposal]) -> list[Lead]:
    same = {canonicalize(proposal.query_or_url) or proposal.query_or_url for proposal in done}
    return [
        lead.replace(status="taken")
        for lead in state.own.leads.values()
        if lead.status == "open" and (canonicalize(lead.value) or lead.value) in same
    ]


def _find_lead(state: ResearchRun, url: str) -> Lead | None:
    """The lead to an address: where it was found, and what is known of the work; None when it was given."""
    spelled, leads = canonicalize(url), state.own.leads.values()
    return next((lead for lead in leads if canonicalize(lead.value) == spelled), None)
