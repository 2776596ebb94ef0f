"""The steps of the research flow that choose and write: decide, report. `act` and `analyze` have files of
their own."""

from __future__ import annotations

from typing import Any

from agent.answering import fact_view
from agent.answering.engine_choice import merge_results, take_over_searches
from agent.answering.revision import has_unread_note, list_wishes
from agent.engine.context import RunContext
from agent.engine.state import Change
from agent.flows.research import opened_pages, policy, settle_conflict
from agent.flows.research.plan_step import describe_reading, is_stepwise, needs_plan
from agent.flows.research.state import Observation, ResearchRun
from agent.roles.research import DECISION, AnalyzerReply, DecisionReply
from agent.text.negative_constraints import is_excluded
from agent.text.urls import canonicalize
from agent.types import Action, Actor, Conflict, Proposal, Refusal, SearchHit, Stall, describe_actions

MAX_PROMPT_ACTIONS, MAX_PROMPT_REFUSALS, MAX_PROMPT_RESULTS = 20, 5, 8
MAX_PROMPT_MERGED = 12
"""Results of several searches of a round that a decision is shown, the first of each in turn."""
MIN_PROMPT_LEADS, MAX_PROMPT_LEADS = 3, 6
"""Leads that a decision is shown beside the results of the last searches, and without any."""


def decide(state: ResearchRun, tools: RunContext) -> tuple[Change, str]:
    """Choose the next round: what a person or a limit calls for first, else what the role proposes and code
    allows. Before the first round comes the plan."""
    if is_stepwise(state) and needs_plan(state, tools):
        return {}, "plan"
    if state.own.unanalyzed:  # read just before the budget ended the round
        return {}, "analyze"
    if page := policy.next_supplied_page(state):
        given = Observation(source=page.url, page_id=page.page_id)
        return {"brought": [given], "is_analyzed": False}, "analyze"
    if has_unread_note(state):
        return {}, "revise"
    if retry := fact_view.requested_retry(state):
        return {"pending": retry}, "act"
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
        return _propose(state, tools, [wanted])
    substitutes = take_over_searches(state.actions_this_round, actions)
    if wanted_still := [one for one in substitutes if one.query_or_url not in state.skipped]:
        return _propose(state, tools, wanted_still)
    can_ask = bool(tools.client) and not describe_reading(state)
    return _choose_round(state, tools, [*actions[:-1], "ask", *actions[-1:]] if can_ask else actions)


def _choose_round(state: ResearchRun, tools: RunContext, actions: list[str]) -> tuple[Change, str]:
    """The next round, or the hand-over when all is answered, or nothing is left to try."""
    stall = policy.find_stall(state)
    change: Change = {"blockages": [stall.replace(step=tools.step)]} if stall else {}
    if stall and stall.rung == "hand_over" and not policy.is_asked_to_continue(state):
        why = f"All escalations were tried: {stall.reason}."
        stop = Proposal(next_action="send_to_hitl", reasoning=why, by="code", rung="hand_over")
        more, next = _hand_over(state, stop, stall.reason, "blocked")
        return {**change, **more}, next
    conflict = settle_conflict.conflict_to_settle(state)
    if policy.is_answered(state):
        why = "The analyzer calls every part of the question answered."
        proposals = [Proposal(next_action="send_to_hitl", reasoning=why, by="code")]
    else:
        proposals, refused = _ask_decision(state, tools, actions, stall, conflict)
        change["refusals"] = [refusal.replace(step=tools.step) for refusal in refused]
    if proposals[0].next_action == "send_to_hitl" and not tools.client:
        proposals = [policy.search_for_part(state, actions) or proposals[0]]
    if conflict:
        chosen, proposals = proposals[0], _settle_first(state, proposals, conflict, actions)
        if chosen.by == "model" and chosen.next_action == "send_to_hitl" != proposals[0].next_action:
            why = f"put off until this was tried, and allowed then: {proposals[0].reasoning}"
            put_off = Refusal(what="send_to_hitl", why=why, step=tools.step)
            change["refusals"] = [*change["refusals"], put_off]
    if proposals[0].next_action == "send_to_hitl":
        reason, why = _explain_hand_over(state, proposals[0])
        more, next = _hand_over(state, proposals[0], why, reason)
    else:
        more, next = _propose(state, tools, proposals)
    return {**change, **more}, next


def _settle_first(
    state: ResearchRun, proposals: list[Proposal], conflict: Conflict, actions: list[str]
) -> list[Proposal]:
    """In place of a hand-over an action that may settle the conflict, where there is one; other proposals are
    counted for the conflict when nothing else is open."""
    if proposals[0].next_action == "send_to_hitl":
        return [settle_conflict.propose_settling(state, conflict, actions) or proposals[0]]
    is_last = settle_conflict.is_only_conflict_left(state)
    return [proposal.replace(about=conflict.id) for proposal in proposals] if is_last else proposals


def _propose(state: ResearchRun, tools: RunContext, proposals: list[Proposal]) -> tuple[Change, str]:
    """To the proposed round, as far as the budgets reach, with an approval first when the run goes step by
    step; to the first round with the plan, which is made while it runs."""
    change: Change = {"pending": Proposal.join(policy.cut_round(state, proposals))}
    if is_stepwise(state):
        return change, "approve"
    return change, "plan" if needs_plan(state, tools) else "act"


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
    state: ResearchRun, tools: RunContext, actions: list[str], stall: Stall | None, conflict: Conflict | None
) -> tuple[list[Proposal], list[Refusal]]:
    """What of the role's round code allows, else the fallback's action, first as things are, then narrowed,
    then a lead; else the hand-over. With it, why others were refused. The role is asked again only where
    nothing of its round is allowed; the next decision hears of the other refusals."""
    inputs = _build_inputs(state, tools, actions, stall, conflict)
    escalation = stall.rung if stall else ""
    refused: list[Refusal] = []

    def allow(reply: DecisionReply, rung: str, by: Actor, trouble: str = "") -> list[Proposal]:
        proposals = _build_proposals(state, reply, rung, by, trouble)
        allowed, why = policy.choose_allowed(state, proposals, actions)
        refused.extend(refusal for refusal in why if refusal not in refused)
        return allowed

    def check(reply: DecisionReply) -> list[str]:
        if allow(reply, escalation, "model"):
            return []
        named = [action.query_or_url or action.next_action for action in reply.actions]
        return [f"{refusal.what}: {refusal.why}." for refusal in refused] or [f"{named}: not possible."]

    if tools.client and not state.actions and all(note.private for note in state.notes):
        first: Any = DECISION.fallback(**inputs)
        if first.actions[0].next_action != "send_to_hitl":  # the question itself, or the page that it names
            return _build_proposals(state, first, escalation, "code"), []
    tools.side_by_side.fetch_ahead(policy.choose_pages_ahead(state), policy.MAX_AHEAD)
    judgement = tools.judge(DECISION, check=check, must_pass=True, **inputs)
    for n, rung in enumerate([escalation, escalation, "narrow", "lead"]):
        forced = {"blockage": Stall(rung=rung, reason="")} if n > 1 else {}  # type: ignore[arg-type]
        reply: Any = judgement.value if n == 0 else DECISION.fallback(**{**inputs, **forced})
        allowed = allow(reply, rung, judgement.by if n == 0 else "keyless", judgement.fallback_reason)
        is_refused_model = judgement.by == "keyless" and bool(judgement.refused)
        if allowed and not (is_refused_model and allowed[0].next_action == "send_to_hitl"):
            return allowed, refused
    why = "Every proposal was refused: " + "; ".join(refusal.why for refusal in refused)
    return [Proposal(next_action="send_to_hitl", reasoning=why, by="code")], refused


def _build_inputs(
    state: ResearchRun, tools: RunContext, actions: list[str], stall: Stall | None, conflict: Conflict | None
) -> dict[str, Any]:
    """The blanks of the decision's prompt."""
    leads, results = policy.open_leads(state), _list_results(state)
    is_stale = any(reading.step > state.own.reported_at for reading in state.readings)
    stale = {"assessment": "None since the notes.", "suggestions_for_next_step": []} if is_stale else {}
    unread = opened_pages.find_unread_pages(state, tools) if "more" in actions else []
    if tools.client:
        listed = {canonicalize(line.url) for line in results}
        named = (state.own.report or {}).get("extracted_info", {}).get("leads", [])
        leads = [
            lead
            for lead in leads
            if (lead.value in named if lead.kind == "query" else canonicalize(lead.value) not in listed)
        ][: MIN_PROMPT_LEADS if results else MAX_PROMPT_LEADS]
    return {
        "question": state.full_question,
        "notes": fact_view.public_note_texts(state),
        "wishes": list_wishes(state),
        "history": _list_history(state),
        "parts": state.plan,
        **policy.choose_known_facts(state),
        "report": AnalyzerReply.model_validate(
            {**state.own.report, **stale, "answered_parts": policy.list_answered_parts(state)}
        )
        if state.own.report
        else None,
        "leads": leads,
        "results": results,
        "unread": unread,
        "actions": [action for action in actions if action != "more" or unread],
        "engines": describe_actions(state.settings.engines or tools.world.engines),
        "blockage": stall,
        "threshold": fact_view.confidence_goal(state),
        "remaining": state.settings.max_steps - len(state.actions_this_round),
        "level": state.current_confidence,
        "refused": state.refusals[-MAX_PROMPT_REFUSALS:],
        "conflict": settle_conflict.describe_conflict(state, conflict) if conflict else "",
    }


def _list_history(state: ResearchRun) -> list[Action]:
    """The last actions, and the searches before them, which are not to be repeated."""
    earlier, latest = state.actions[:-MAX_PROMPT_ACTIONS], state.actions[-MAX_PROMPT_ACTIONS:]
    return [*[action for action in earlier if action.is_search][-MAX_PROMPT_ACTIONS:], *latest]


def _list_results(state: ResearchRun) -> list[SearchHit]:
    """The results of the last round's searches, each once, "(read)" for the snippet of those that were read;
    none that a lead could not lead to."""
    found = [item.hits[:MAX_PROMPT_RESULTS] for item in state.own.brought if item.hits]
    visited, excluded = fact_view.visited_urls(state), fact_view.excluded_sites(state)
    known = {
        canonicalize(lead.value)
        for lead in state.own.leads.values()
        if lead.kind == "url" and not is_excluded(lead.value, excluded)
    }
    return [
        hit.replace(snippet="(read)") if canonicalize(hit.url) in visited else hit
        for hit in merge_results(found, MAX_PROMPT_MERGED)
        if canonicalize(hit.url) in known
    ]


def _build_proposals(
    state: ResearchRun, reply: DecisionReply, rung: str, by: Actor, trouble: str = ""
) -> list[Proposal]:
    """The actions of a reply as proposals; a known address as it was found, not as the reply spells it. To
    read a page again that was read in part is to read the rest of it."""
    proposals, parts = [], {part.id for part in state.plan}
    for action in reply.actions:
        name, what = action.next_action, action.query_or_url
        if name == "crawl_url":
            what = policy.find_known_url(state, what) or what
            read = state.pages.get(policy.find_page_url(state, what))
            name = "more" if read and policy.has_unread_text(read) else name
        if name == "more":
            what = policy.find_page_url(state, what)
        proposals.append(
            Proposal(
                next_action=name,
                query_or_url=what,
                part=action.part if action.part in parts else "",
                reasoning=action.reasoning,
                choices=action.choices,
                rung=rung,
                by=by,
                trouble=trouble,
            )
        )
    return proposals
