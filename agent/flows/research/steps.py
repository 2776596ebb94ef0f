"""The steps of the research flow: decide, search or crawl, analyze, report."""

from __future__ import annotations

from functools import partial
from typing import Any

from agent.engine.context import RunContext
from agent.engine.state import Change, state_after
from agent.flows.research import analyze_page, policy, settle_conflict
from agent.flows.research.policy import STEP_BY_ACTION
from agent.flows.research.state import Observation, ResearchRun
from agent.flows.shared import fact_view
from agent.flows.shared.claim_checks import check_sentences
from agent.flows.shared.engine_choice import cool_down, take_over_searches
from agent.flows.shared.model_rulings import review_conflicts
from agent.flows.shared.open_access import read_open_copy
from agent.flows.shared.page_refs import build_action, store_fetched
from agent.flows.shared.verdict import build_answer, merge_changes, record_answer
from agent.flows.shared.write_report import ask_report, choose_length
from agent.roles.research.analyzer import AnalyzerReply
from agent.roles.research.decision import DECISION
from agent.roles.research.next_step import Decision
from agent.text.urls import canonicalize
from agent.types import ENGINE_BY_ACTION, Conflict, Lead, Proposal, Refusal, Stall, describe_actions

MAX_PROMPT_ACTIONS, MAX_PROMPT_REFUSALS = 20, 5


def decide(state: ResearchRun, tools: RunContext) -> tuple[Change, str]:
    """Choose the next action: what a person or a limit calls for first, else what the role proposes and code
    allows."""
    if state.own.looking:  # read just before the budget ended the round
        return {}, "analyze"
    if page := policy.next_supplied_page(state):
        return {"looking": Observation(source=page.url, page_id=page.page_id)}, "analyze"
    if retry := fact_view.requested_retry(state):
        return {"pending": retry}, STEP_BY_ACTION[retry.next_action]
    if state.needs_rewrite:
        why = "the pages you supplied or retried were read"
        return {"pending": None, "why_stopped": why}, "report"
    if over := policy.find_reached_budget(state):
        if state.settings.at_cap == "ask" and state.current_confidence < fact_view.confidence_goal(state):
            raise over
        stop = Proposal(next_action="send_to_hitl", reasoning=f"Time to report: {over}.", by="code")
        return _hand_over(state, stop, str(over), "budget")
    actions = policy.available_actions(state, tools.world.engines, tools.now())
    if wanted := policy.next_start_page(state) or policy.requested_search(state, actions):
        return _propose(state, wanted)
    if substitutes := take_over_searches(state.actions_this_round, actions):
        return _propose(state, substitutes[0])
    stall = policy.find_stall(state)
    change: Change = {"blockages": [stall.replace(step=tools.step)]} if stall else {}
    if stall and stall.rung == "hand_over" and not policy.is_asked_to_continue(state):
        why = f"All escalations were tried: {stall.reason}."
        stop = Proposal(next_action="send_to_hitl", reasoning=why, by="code", rung="hand_over")
        more, next = _hand_over(state, stop, stall.reason, "blocked")
        return {**change, **more}, next
    conflict = settle_conflict.conflict_to_settle(state)
    proposal, refused = _ask_decision(state, tools, actions, stall, conflict)
    change["refusals"] = [refusal.replace(step=tools.step) for refusal in refused]
    if conflict:
        proposal = _settle_first(state, proposal, conflict, actions)
    if proposal.next_action == "send_to_hitl":
        reason, why = _explain_hand_over(state, proposal)
        more, next = _hand_over(state, proposal, why, reason)
    else:
        more, next = _propose(state, proposal)
    return {**change, **more}, next


def _settle_first(state: ResearchRun, proposal: Proposal, conflict: Conflict, actions: list[str]) -> Proposal:
    """In place of a hand-over an action that may settle the conflict, where there is one; another proposal is
    counted for the conflict when nothing else is open."""
    if proposal.next_action == "send_to_hitl":
        return settle_conflict.propose_settling(state, conflict, actions) or proposal
    return proposal.replace(about=conflict.id) if settle_conflict.is_only_conflict_left(state) else proposal


def _propose(state: ResearchRun, proposal: Proposal) -> tuple[Change, str]:
    """To the proposed action, with an approval first when the run goes step by step."""
    step = STEP_BY_ACTION[proposal.next_action]
    return {"pending": proposal}, "approve" if state.settings.stop_point == "step" else step


def _explain_hand_over(state: ResearchRun, proposal: Proposal) -> tuple[str, str]:
    """Why the run goes to the person, as a code and in words; a model's own reason stays on its decision."""
    level, threshold = state.current_confidence, state.settings.threshold
    if level >= threshold:
        return "enough", f"The confidence, {level:.0%}, reached the threshold of {threshold:.0%}."
    if proposal.by == "model":
        return "hand_over", f"The model handed over at a confidence of {level:.0%}."
    return "hand_over", proposal.reasoning


def _hand_over(state: ResearchRun, stop: Proposal, why: str, reason: str) -> tuple[Change, str]:
    """To the report, with an approval first when the run goes step by step."""
    change: Change = {"pending": stop, "why_stopped": why, "stop_reason": reason}
    return change, "approve" if state.settings.stop_point == "step" and reason != "budget" else "report"


def _ask_decision(
    state: ResearchRun,
    tools: RunContext,
    actions: list[str],
    stall: Stall | None,
    conflict: Conflict | None,
) -> tuple[Proposal, list[Refusal]]:
    """The role's proposal if code allows it, else the fallback's, first as things are, then narrowed, then a
    lead; else the hand-over. With it, why others were refused."""
    inputs: dict[str, Any] = {
        "question": state.question,
        "notes": fact_view.note_texts(state),
        "private_notes": [note.text for note in state.notes if note.private],
        "history": state.actions[-MAX_PROMPT_ACTIONS:],
        "facts": fact_view.facts_for_prompt(state),
        "parts": state.plan,
        "report": AnalyzerReply.model_validate(state.own.report) if state.own.report else None,
        "leads": policy.open_leads(state),
        "actions": actions,
        "engines": describe_actions(state.settings.engines or tools.world.engines),
        "blockage": stall,
        "threshold": fact_view.confidence_goal(state),
        "remaining": state.settings.max_steps - len(state.actions_this_round),
        "level": state.current_confidence,
        "refused": state.refusals[-MAX_PROMPT_REFUSALS:],
        "conflict": settle_conflict.describe_conflict(state, conflict) if conflict else "",
    }
    escalation = stall.rung if stall else ""
    refused: list[Refusal] = []

    def refuse(proposal: Proposal) -> Refusal | None:
        refusal = policy.check_proposal(state, proposal, actions)
        if refusal and refusal not in refused:
            refused.append(refusal)
        return refusal

    def check(reply: Decision) -> list[str]:
        refusal = refuse(_build_proposal(state, reply, escalation))
        return [f"{refusal.what}: {refusal.why}."] if refusal else []

    judgement = tools.judge(DECISION, check=check, must_pass=True, **inputs)
    for n, rung in enumerate([escalation, escalation, "narrow", "lead"]):
        forced = {"blockage": Stall(rung=rung, reason="")} if n > 1 else {}  # type: ignore[arg-type]
        reply: Any = judgement.value if n == 0 else DECISION.fallback(**{**inputs, **forced})
        proposal = _build_proposal(state, reply, rung).replace(
            by=judgement.by if n == 0 else "keyless", trouble=judgement.fallback_reason
        )
        if refuse(proposal) is None:
            return proposal, refused
    why = "Every proposal was refused: " + "; ".join(refusal.why for refusal in refused)
    return Proposal(next_action="send_to_hitl", reasoning=why, by="code"), refused


def _build_proposal(state: ResearchRun, reply: Decision, rung: str) -> Proposal:
    """The reply as a proposal; a known address as it was found, not as the reply spells it."""
    what = reply.query_or_url
    if reply.next_action == "crawl_url":
        what = policy.known_urls(state).get(canonicalize(what), what)
    return Proposal(
        next_action=reply.next_action,
        query_or_url=what,
        reasoning=reply.reasoning,
        rung=rung,
    )


def search(state: ResearchRun, tools: RunContext) -> tuple[Change, str]:
    """Ask a search engine."""
    pending = state.pending or Proposal(next_action="search_duckduckgo", query_or_url=state.question)
    query, engine = pending.query_or_url, ENGINE_BY_ACTION[pending.next_action]
    result = tools.search(engine, query)
    change: Change = {
        "actions": [build_action(pending, tools.step, result.outcome, result.detail, hits=len(result.hits))],
        "looking": Observation(source=f"search: {query}", outcome=result.outcome, hits=result.hits),
        "pending": None,
        "leads": _mark_leads_taken(state, pending),
    }
    return change | {"cooling": cool_down(state.cooling, result)}, "analyze"


def crawl(state: ResearchRun, tools: RunContext) -> tuple[Change, str]:
    """Read a page, and store what was read."""
    pending = state.pending or Proposal(
        next_action="crawl_url", query_or_url=(state.settings.start_urls or [""])[0]
    )
    url = pending.query_or_url
    lead = _find_lead(state, url)
    page = read_open_copy(tools, tools.fetch(url), lead.publication if lead else None)
    ref = store_fetched(tools, url, page, lead.found_on if lead else "person")
    return {
        "actions": [build_action(pending, tools.step, ref.outcome, ref.detail, page_id=ref.page_id)],
        "pages": [ref],
        "looking": Observation(source=url, page_id=ref.page_id, outcome=ref.outcome),
        "pending": None,
        "leads": _mark_leads_taken(state, pending),
    }, "analyze"


def analyze(state: ResearchRun, tools: RunContext) -> tuple[Change, str]:
    """Turn what the tool brought into facts, leads and a confidence."""
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
    reviewed = review_conflicts(state, tools)
    now = state_after(state, reviewed)
    judgement = ask_report(now, tools)
    answer = build_answer(
        now,
        judgement,
        tools.step,
        check=partial(check_sentences, now, tools),
        length=choose_length(now, judgement),
    )
    return {**merge_changes(reviewed, record_answer(now, answer)), "pending": None}, "review"


def _mark_leads_taken(state: ResearchRun, pending: Proposal) -> list[Lead]:
    same = canonicalize(pending.query_or_url) or pending.query_or_url
    return [
        lead.replace(status="taken")
        for lead in state.own.leads.values()
        if lead.status == "open" and (canonicalize(lead.value) or lead.value) == same
    ]


def _find_lead(state: ResearchRun, url: str) -> Lead | None:
    """The lead to an address: where it was found, and what is known of the work; None when it was given."""
    spelled, leads = canonicalize(url), state.own.leads.values()
    return next((lead for lead in leads if canonicalize(lead.value) == spelled), None)
