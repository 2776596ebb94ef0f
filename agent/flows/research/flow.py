"""The research flow: decide, look (search or crawl), analyze, decide again; until there is something for a
person to review.

decide -> search | crawl | report, through a person's approval when the run goes step by step; search, crawl
-> analyze -> decide; report -> review. A person's accept ends it, a send-back leads to decide. The table
closes the file."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from agent.engine.context import RunContext
from agent.engine.loop import Flow
from agent.engine.state import Change
from agent.flows.research import analyze_page, policy
from agent.flows.research.state import Observation, ResearchRun, ResearchState
from agent.flows.research.step_summary import describe_step
from agent.flows.shared import fact_view, recompute
from agent.flows.shared.verdict import build_answer
from agent.flows.shared.write_report import ask_report
from agent.roles.research.analyzer import AnalyzerReply
from agent.roles.research.decision import DECISION
from agent.text.urls import canonicalize
from agent.types import Action, Edge, Lead, Outcome, PageRef, Proposal, Refusal, Stall, Status

DEFAULT_COOLDOWN_S = 60.0
"""Seconds an engine rests after a rate limit that named no time."""
STEP_BY_ACTION = {
    "search_duckduckgo": "search",
    "search_google": "search",
    "crawl_url": "crawl",
    "send_to_hitl": "report",
}


def decide(state: ResearchRun, tools: RunContext) -> tuple[Change, str]:
    """Choose the next action; what the role proposes is checked by code before it counts."""
    if state.own.looking:  # read just before the budget ended the round: it is not to be lost
        return {}, "analyze"
    if given := policy.next_supplied_page(state):
        return {"looking": Observation(source=given.url, page_id=given.page_id)}, "analyze"
    if wanted := fact_view.requested_retry(state):
        return {"pending": wanted}, STEP_BY_ACTION[wanted.next_action]
    if state.needs_rewrite:
        return {
            "pending": None,
            "why_stopped": "what you gave, or asked to try again, was taken in",
        }, "report"
    if over := policy.find_reached_budget(state):
        if state.settings.at_cap == "ask" and state.current_confidence < fact_view.confidence_goal(state):
            raise over
        stop = Proposal(next_action="send_to_hitl", reasoning=f"Time to report: {over}.", by="code")
        return _hand_over(state, stop, str(over), "budget")
    if start := policy.next_start_page(state):
        return {"pending": start}, "approve" if state.settings.stop_point == "step" else "crawl"
    if wish := policy.requested_search(
        state, policy.available_actions(state, tools.world.engines, tools.now())
    ):
        return {"pending": wish}, "approve" if state.settings.stop_point == "step" else "search"
    stuck = policy.find_stall(state)
    blocked: Change = {"blockages": [stuck.model_copy(update={"step": tools.step})]} if stuck else {}
    if stuck and stuck.rung == "hand_over" and not policy.is_asked_to_continue(state):
        stop = Proposal(
            next_action="send_to_hitl",
            reasoning=f"Every rung was tried: {stuck.reason}.",
            by="code",
            rung="hand_over",
        )
        more, next = _hand_over(state, stop, stuck.reason, "blocked")
        return {**blocked, **more}, next
    proposal, refused = _propose_action(state, tools, stuck)
    change: Change = {
        **blocked,
        "refusals": [refusal.model_copy(update={"step": tools.step}) for refusal in refused],
    }
    if proposal.next_action == "send_to_hitl":
        reason = "enough" if state.current_confidence >= state.settings.threshold else "hand_over"
        more, next = _hand_over(state, proposal, proposal.reasoning, reason)
        return {**change, **more}, next
    return {
        **change,
        "pending": proposal,
    }, "approve" if state.settings.stop_point == "step" else STEP_BY_ACTION[proposal.next_action]


def _hand_over(state: ResearchRun, stop: Proposal, why: str, reason: str) -> tuple[Change, str]:
    """To the person: with an approval first when the run goes step by step."""
    change: Change = {"pending": stop, "why_stopped": why, "stop_reason": reason}
    return change, "approve" if state.settings.stop_point == "step" and reason != "budget" else "report"


def _propose_action(
    state: ResearchRun, tools: RunContext, stuck: Stall | None
) -> tuple[Proposal, list[Refusal]]:
    """The role's proposal if code agrees, else the keyless one, else the next rungs, else the person."""
    actions = policy.available_actions(state, tools.world.engines, tools.now())
    blanks: dict[str, Any] = {
        "question": state.question,
        "notes": fact_view.note_texts(state),
        "history": state.actions[-20:],
        "facts": fact_view.facts_for_prompt(state),
        "report": AnalyzerReply.model_validate(_report_for_prompt(state)) if state.own.report else None,
        "leads": policy.open_leads(state),
        "actions": actions,
        "blockage": stuck,
        "threshold": fact_view.confidence_goal(state),
        "remaining": state.settings.max_steps - len(state.actions_this_round),
        "level": state.current_confidence,
        "refused": state.refusals[-5:],
    }
    judgement = tools.judge(DECISION, **blanks)
    refused: list[Refusal] = []
    own = stuck.rung if stuck else ""
    rungs = [own, own, "narrow", "lead"]
    for n, rung in enumerate(rungs):
        forced = {"blockage": Stall(rung=rung, reason="")} if n > 1 else {}  # type: ignore[arg-type]
        reply: Any = judgement.value if n == 0 else DECISION.fallback(**{**blanks, **forced})
        by = judgement.by if n == 0 else "keyless"
        proposal = Proposal(
            next_action=reply.next_action,
            query_or_url=reply.query_or_url or "",
            reasoning=reply.reasoning,
            by=by,
            trouble=judgement.fallback_reason,
            rung=rung,
        )
        refusal = policy.check_proposal(state, proposal, actions)
        if refusal is None:
            return proposal, refused
        if refusal not in refused:
            refused.append(refusal)
    return Proposal(
        next_action="send_to_hitl",
        reasoning="Every proposal was refused: " + "; ".join(r.why for r in refused),
        by="code",
    ), refused


def _report_for_prompt(state: ResearchRun) -> dict[str, Any]:
    report = {
        name: value for name, value in (state.own.report or {}).items() if name not in ("by", "trouble")
    }
    brief = report.get("extracted_info")
    return {
        **report,
        "extracted_info": brief
        if isinstance(brief, str)
        else f"{brief['facts']} facts, now in memory"
        if brief
        else "",
    }


def search(state: ResearchRun, tools: RunContext) -> tuple[Change, str]:
    """Ask a search engine."""
    pending = state.pending or Proposal(next_action="search_duckduckgo", query_or_url=state.question)
    engine = policy.ENGINE_BY_ACTION[pending.next_action]
    result = tools.search(engine, pending.query_or_url)
    action = _build_action(tools, pending, result.outcome, result.detail).model_copy(
        update={"hits": len(result.hits)}
    )
    looking = Observation(source=f"search: {pending.query_or_url}", outcome=result.outcome, hits=result.hits)
    change: Change = {
        "actions": [action],
        "looking": looking,
        "pending": None,
        "leads": _mark_leads_taken(state, pending),
    }
    if result.outcome is Outcome.RATE_LIMITED:
        until = datetime.now(UTC) + timedelta(seconds=result.retry_after_s or DEFAULT_COOLDOWN_S)
        change["cooling"] = {
            **state.cooling,
            engine: until.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        }
    return change, "analyze"


def crawl(state: ResearchRun, tools: RunContext) -> tuple[Change, str]:
    """Read a page, and store what was read."""
    pending = state.pending or Proposal(
        next_action="crawl_url", query_or_url=(state.settings.start_urls or [""])[0]
    )
    url = pending.query_or_url
    page = tools.fetch(url)
    page_id = tools.store_page(page) if page.outcome is Outcome.OK else ""
    ref = PageRef(
        url=url,
        page_id=page_id,
        final_url=page.final_url,
        title=page.title,
        outcome=page.outcome,
        detail=page.detail,
        found_on=_find_origin(state, url),
        step=tools.step,
    )
    action = _build_action(tools, pending, page.outcome, page.detail).model_copy(update={"page_id": page_id})
    looking = Observation(source=url, page_id=page_id, outcome=page.outcome)
    return {
        "actions": [action],
        "pages": [ref],
        "looking": looking,
        "pending": None,
        "leads": _mark_leads_taken(state, pending),
    }, "analyze"


def analyze(state: ResearchRun, tools: RunContext) -> tuple[Change, str]:
    """Weigh what the tool brought."""
    looking = state.own.looking
    if looking is None:
        return {}, "decide"
    if looking.page_id:
        change = analyze_page.analyze_page(state, tools, looking)
    elif looking.hits:
        change = analyze_page.analyze_search(state, tools, looking)
    else:
        change = analyze_page.analyze_empty_result(state, tools, looking)
    return {**change, "looking": None}, "decide"


def report(state: ResearchRun, tools: RunContext) -> tuple[Change, str]:
    """Write up what was found, for a person to review."""
    assessment = str((state.own.report or {}).get("assessment", ""))
    judgement = ask_report(state, tools, assessment=assessment)
    return {"answers": [build_answer(state, judgement, tools.step)], "pending": None}, "review"


def _build_action(tools: RunContext, pending: Proposal, outcome: Outcome, detail: str) -> Action:
    return Action(
        step=tools.step,
        action=pending.next_action,  # type: ignore[arg-type]
        query_or_url=pending.query_or_url,
        reasoning=pending.reasoning,
        by=pending.by,  # type: ignore[arg-type]
        rung=pending.rung,
        outcome=outcome,
        detail=detail,
    )


def _mark_leads_taken(state: ResearchRun, pending: Proposal) -> list[Lead]:
    same = canonicalize(pending.query_or_url) or pending.query_or_url
    return [
        lead.model_copy(update={"status": "taken"})
        for lead in state.own.leads.values()
        if lead.status == "open" and (canonicalize(lead.value) or lead.value) == same
    ]


def _find_origin(state: ResearchRun, url: str) -> str:
    spelled = canonicalize(url)
    return next(
        (lead.found_on for lead in state.own.leads.values() if canonicalize(lead.value) == spelled), "person"
    )


RESEARCH = Flow(
    name="research",
    first_step="decide",
    own_state=ResearchState,
    steps={"decide": decide, "search": search, "crawl": crawl, "analyze": analyze, "report": report},
    rest_statuses={"approve": Status.WAITING, "review": Status.REVIEW, "done": Status.DONE},
    write_up_step="report",
    reentry_step="decide",
    describe_step=describe_step,
    find_pause_request=fact_view.pause_for_new_conflicts,
    edges=(
        Edge(start="decide", end="search", label="search", rest="approve"),
        Edge(start="decide", end="crawl", label="read a page", rest="approve"),
        Edge(start="decide", end="report", label="enough, or stuck", rest="approve"),
        Edge(start="decide", end="analyze", label="read, not weighed yet"),
        Edge(start="search", end="analyze"),
        Edge(start="crawl", end="analyze"),
        Edge(start="analyze", end="decide"),
        Edge(start="report", end="review"),
        Edge(start="review", end="decide", label="sent back"),
        Edge(start="review", end="report", label="facts edited"),
        Edge(start="review", end="done", label="accepted"),
    ),
    apply_person_edits=recompute.apply_person_edits,
)
