"""The step that carries a round out: its searches and page visits side by side, recorded together.

What was not done when a person stops the run, or its time is used up, stays pending."""

from __future__ import annotations

from agent.answering.engine_choice import cool_down
from agent.answering.pages import build_action, read_open_copy, store_fetched
from agent.engine.context import RunContext
from agent.engine.side_by_side import WebRequest, WebResult
from agent.engine.state import Change
from agent.errors import BudgetSpent, ShutdownRequested, StopRequested
from agent.flows.research.policy import find_secrets
from agent.flows.research.state import SEARCH_PREFIX, Observation, ResearchRun
from agent.text.urls import canonicalize
from agent.types import ENGINE_BY_ACTION, Outcome, Page, Proposal, SearchHit, SearchResult

SECRETS_BARRED = (
    "It would carry words of a private note or an added file to a search engine, so it was not made."
)


def act(state: ResearchRun, tools: RunContext) -> tuple[Change, str]:
    """Carry out the pending round; what an interruption left undone is done next. A page that is closed is
    read from an open copy. No search carries private words, whichever way it came to be; a person's own words
    are theirs to send."""
    wanted = state.pending.actions if state.pending else []
    requests, found, at_hand = dict[int, WebRequest](), dict[int, WebResult](), set[int]()
    for n, proposal in enumerate(wanted):
        what, engine = proposal.query_or_url, ENGINE_BY_ACTION.get(proposal.next_action, "")
        if proposal.next_action in ("more", "ask"):
            at_hand.add(n)
        elif engine and proposal.by != "person" and find_secrets(state, what):
            found[n] = SearchResult(engine=engine, query=what, outcome=Outcome.REFUSED, detail=SECRETS_BARRED)
        else:
            requests[n] = WebRequest(what, engine)
    results, signal = tools.look_up(list(requests.values())) if requests else ([], None)
    found |= {n: result for n, result in zip(requests, results, strict=True) if result}
    leads = {canonicalize(lead.value): lead for lead in reversed(state.own.leads.values())}
    for n, page in list(found.items()):
        if isinstance(page, Page):
            lead = leads.get(canonicalize(wanted[n].query_or_url))
            try:
                found[n] = read_open_copy(tools, page, lead.publication if lead else None)
            except (StopRequested, ShutdownRequested, BudgetSpent) as raised:  # it is asked for again
                signal = raised
                del found[n]
    if signal and not found:
        raise signal
    done = {n: proposal for n, proposal in enumerate(wanted) if n in found or n in at_hand}
    same = {canonicalize(proposal.query_or_url) or proposal.query_or_url for proposal in done.values()}
    change: Change = {
        "actions": [],
        "pages": [],
        "brought": [] if state.own.is_analyzed else list(state.own.brought),
        "is_analyzed": False,
        "pending": Proposal.join([proposal for n, proposal in enumerate(wanted) if n not in done]),
        "leads": [
            lead.replace(status="taken")
            for lead in state.own.leads.values()
            if lead.status == "open" and (canonicalize(lead.value) or lead.value) in same
        ],
    }
    for n, proposal in done.items():
        result, what, page_id = found.get(n), proposal.query_or_url, ""
        outcome, detail, hits = Outcome.OK, "", list[SearchHit]()
        if isinstance(result, SearchResult):
            outcome, detail, hits = result.outcome, result.detail, result.hits
            what = f"{SEARCH_PREFIX}{what}"
            change["cooling"] = cool_down(change.get("cooling", state.cooling), result)
        elif isinstance(result, Page):
            lead = leads.get(canonicalize(what))
            ref = store_fetched(tools, what, result, lead.found_on if lead else "person")
            change["pages"].append(ref.replace(length=len(result.text)))
            outcome, detail, page_id = ref.outcome, ref.detail, ref.page_id
        elif proposal.next_action == "ask":  # nobody was asked
            taken = f"it is read as “{proposal.choices[0]}”" if proposal.choices else "it stays open"
            outcome, detail = Outcome.EMPTY, f"No person was asked: {taken}."
        elif what in state.pages:  # the rest of a page that is stored
            page_id = state.pages[what].page_id
        counts = {"hits": len(hits)} if hits else {"page_id": page_id}
        change["actions"].append(build_action(proposal, tools.step, outcome, detail, **counts))
        if proposal.next_action != "ask":
            brought = Observation(
                source=what, page_id=page_id, outcome=outcome, hits=hits, part=proposal.part
            )
            change["brought"].append(brought)
    return change, "act" if signal and change["pending"] else "analyze"
