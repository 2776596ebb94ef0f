"""The steps of the research flow that choose and write: decide, report. `act` and `analyze` have files of
their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent.answering import fact_view
from agent.answering.engine_choice import merge_results, take_over_searches
from agent.answering.revision import has_unread_note, list_wishes
from agent.engine.context import RunContext
from agent.engine.state import Change
from agent.flows.research import opened_pages, policy, without_model
from agent.flows.research.plan_step import describe_reading, needs_plan
from agent.flows.research.state import Observation, ResearchRun
from agent.retrieval.link_scoring import lead_id, make_first_query
from agent.roles.research import DECISION, AnalyzerReply, DecisionReply
from agent.text.urls import canonicalize, find_urls, is_excluded
from agent.types import Proposal, Refusal, Stall, describe_actions

MAX_PROMPT_ACTIONS, MAX_PROMPT_REFUSALS, MAX_PROMPT_RESULTS = 20, 5, 8
MAX_PROMPT_MERGED = 12
"""Results of several searches of a round that a decision is shown, the first of each in turn."""
MAX_PROMPT_LEADS = 3
"""Results of earlier searches that a decision is shown beside what the analyzer named."""
STOP = Proposal(next_action="send_to_hitl", query_or_url="", by="code")
"""The hand-over, for want of a reason yet."""


def decide(state: ResearchRun, tools: RunContext) -> tuple[Change, str]:
    """Choose the next round: what comes before a decision of the role, else what it proposes and code
    allows."""
    own, is_stepwise = state.own, state.settings.stop_point == "step"
    actions = policy.available_actions(state, tools.world.engines, tools.now())
    if (is_stepwise or state.history) and needs_plan(state, tools):
        return {}, "plan"
    if own.unanalyzed:  # read just before the budget ended the round
        return {}, "analyze"
    if given := next((page for page in state.pages.values() if page.waiting), None):
        brought = [Observation(source=given.url, page_id=given.page_id)]
        return {"brought": brought, "is_analyzed": False}, "analyze"
    if tools.has_model and has_unread_note(state):
        return {}, "revise"
    if retry := fact_view.requested_retry(state):
        return {"pending": retry}, "act"
    if state.needs_rewrite:
        return {"pending": None, "why_stopped": "the pages you supplied or retried were read"}, "report"
    if over := policy.find_reached_budget(state):
        if state.settings.at_cap == "ask" and state.current_confidence < fact_view.confidence_goal(state):
            raise over
        stop = STOP.replace(reasoning=f"Time to report: {over}.")
        return _hand_over(state, stop, str(over), "budget")
    asked = policy.list_asked(state, actions)[:1]
    if asked := asked or take_over_searches(state.actions_this_round, actions, state.skipped):
        return _propose(state, tools, asked)
    stall = None if policy.is_asked_to_continue(state) else policy.find_stall(state)
    if stall and stall.rung == "hand_over":  # nothing new however it was tried
        why = f"All escalations were tried: {stall.reason}."
        change, next_step = _hand_over(
            state, STOP.replace(reasoning=why, rung=stall.rung), stall.reason, "blocked"
        )
        return {**change, "blockages": [stall.replace(step=tools.step)]}, next_step
    return _choose_round(state, tools, actions)


def _propose(state: ResearchRun, tools: RunContext, proposals: Sequence[Proposal]) -> tuple[Change, str]:
    """To the proposed round, as far as the budgets reach, with an approval first when the run goes step by
    step; to the first round with the plan, which is made while it runs."""
    change: Change = {"pending": Proposal.join(policy.cut_round(state, proposals))}
    if state.settings.stop_point == "step":
        return change, "approve"
    return change, "plan" if needs_plan(state, tools) else "act"


def _hand_over(state: ResearchRun, stop: Proposal, why: str, reason: str) -> tuple[Change, str]:
    """To the report, with an approval first when the run goes step by step."""
    change: Change = {"pending": stop, "why_stopped": why, "stop_reason": reason}
    return change, "approve" if state.settings.stop_point == "step" and reason != "budget" else "report"


def _choose_round(state: ResearchRun, tools: RunContext, actions: list[str]) -> tuple[Change, str]:
    """The round that the role proposes, or the hand-over where all is answered, or nothing is left to try. An
    open conflict on what was asked puts a hand-over off where an action may settle it; other proposals are
    counted for it when nothing else is open."""
    if not tools.has_model:
        proposals = without_model.propose_round(state, actions)
        if proposals[0].next_action != "send_to_hitl":
            return _propose(state, tools, proposals)
        return _hand_over(state, proposals[0], proposals[0].reasoning, "hand_over")
    stall, conflict = policy.find_stall(state), policy.conflict_to_settle(state)
    change: Change = {"blockages": [stall.replace(step=tools.step)]} if stall else {}
    coverage = policy.assess_coverage(state)
    if not state.actions and all(note.private for note in state.notes):
        named = [
            Proposal(next_action="crawl_url", query_or_url=url, reasoning="You named it.", by="code")
            for url in find_urls(state.full_question)
        ]
        proposals = [page for page in named if not policy.check_proposal(state, page, actions)][:1]
        proposals = proposals or policy.propose_search(
            state,
            actions,
            make_first_query(state.full_question),
            reasoning="The question itself.",
            by="code",
        )
    elif coverage and not coverage.thin:
        proposals = [STOP.replace(reasoning=coverage.reason)]
    else:
        proposals = []
    if not proposals:
        is_asked = any(done.action == "ask" for done in state.actions_this_round)
        if not is_asked and (state.pages or not describe_reading(state)):
            actions = [*actions[:-1], "ask", *actions[-1:]]
        about = {
            "blockage": stall,
            "conflict": policy.describe_conflict(state, conflict) if conflict else "",
            "thin": coverage.thin if coverage else [],
        }
        proposals, refused = _ask_decision(state, tools, actions, about)
        change["refusals"] = [refusal.replace(step=tools.step) for refusal in refused]
    chosen = proposals[0]
    if conflict and chosen.next_action == "send_to_hitl":
        proposals = policy.propose_settling(state, conflict, actions)[:1] or proposals
        if chosen.by == "model" and proposals[0] is not chosen:
            why = f"put off until this was tried, and allowed then: {proposals[0].reasoning}"
            change["refusals"].append(Refusal(what="send_to_hitl", why=why, step=tools.step))
    elif conflict and (len(state.plan) == 1 or coverage):
        proposals = [proposal.replace(about=conflict.id) for proposal in proposals]
    if proposals[0].next_action != "send_to_hitl":
        more, next = _propose(state, tools, proposals)
        return {**change, **more}, next
    why, reason = proposals[0].reasoning, "hand_over"
    if coverage:
        why, reason = coverage.reason, "hand_over" if coverage.low else "enough"
    elif proposals[0].by == "model":  # its own reason stays on its decision
        why = policy.describe_unanswered(state)
    more, next = _hand_over(state, proposals[0], why, reason)
    return {**change, **more}, next


def _ask_decision(
    state: ResearchRun,
    tools: RunContext,
    actions: list[str],
    about: dict[str, Any],
) -> tuple[list[Proposal], list[Refusal]]:
    """What of the role's round code allows, else the hand-over; with it, why others were refused. The role is
    asked again only where nothing of its round is allowed; the next decision hears of the other refusals.
    `about` are the blanks on what is to be overcome."""
    refused = list[Refusal]()

    def allow(reply: DecisionReply) -> list[Proposal]:
        """The actions of a round that are allowed, each once; a hand-over counts only alone."""
        kept = dict[tuple[str, str], Proposal]()
        for proposal in _build_proposals(state, reply, about["blockage"]):
            if not (refusal := policy.check_proposal(state, proposal, actions)):
                kind = "url" if proposal.next_action in ("crawl_url", "more") else "query"
                kept.setdefault((proposal.next_action, lead_id(kind, proposal.query_or_url)), proposal)
            elif refusal not in refused:
                refused.append(refusal)
        tools = [proposal for proposal in kept.values() if proposal.next_action != "send_to_hitl"]
        return tools or list(kept.values())[:1]

    def check(reply: DecisionReply) -> list[str]:
        if allow(reply):
            return []
        return [f"{refusal.what}: {refusal.why}." for refusal in refused] or ["`actions` is empty."]

    tools.side_by_side.fetch_ahead(policy.choose_pages_ahead(state), policy.MAX_ROUND_ACTIONS)
    inputs = {**_build_inputs(state, tools, actions), **about}
    judgement = tools.judge(DECISION, check=check, **inputs)
    if allowed := allow(judgement.value):
        return allowed, refused
    if policy.check_proposal(state, STOP, actions):  # it is to go on
        best = (Proposal(next_action="crawl_url", query_or_url=lead.value) for lead in inputs["leads"])
        go_on = [one for one in best if not policy.check_proposal(state, one, actions)]
        if go_on:
            why = "The run is to go on, and the model proposed nothing possible: the best page left."
            return [go_on[0].replace(reasoning=why, by="code")], refused
    why = "Nothing that the model proposed was possible: " + "; ".join(refusal.why for refusal in refused)
    return [STOP.replace(reasoning=f"{why.rstrip(': ')}.")], refused


def _build_inputs(state: ResearchRun, tools: RunContext, actions: list[str]) -> dict[str, Any]:
    """The blanks of the decision's prompt: of the actions the last ones, and the searches before them, which
    are not to be repeated; of the last round's results each once, "(read)" for the snippet of what was read,
    none that a lead could not lead to."""
    earlier, latest = state.actions[:-MAX_PROMPT_ACTIONS], state.actions[-MAX_PROMPT_ACTIONS:]
    found = [item.hits[:MAX_PROMPT_RESULTS] for item in state.own.brought]
    visited, excluded = fact_view.visited_urls(state), fact_view.excluded_sites(state)
    urls = [lead.value for lead in state.own.leads.values() if lead.kind == "url"]
    known = {canonicalize(url) for url in urls if not is_excluded(url, excluded)}
    results = [
        hit.replace(snippet="(read)") if canonicalize(hit.url) in visited else hit
        for hit in merge_results(list(filter(None, found)), MAX_PROMPT_MERGED)
        if canonicalize(hit.url) in known
    ]
    is_stale = any(reading.step > state.own.reported_at for reading in state.readings)
    stale = {"assessment": "None since the notes.", "suggestions_for_next_step": []} if is_stale else {}
    unread = opened_pages.find_unread_pages(state, tools) if "more" in actions else []
    listed = {canonicalize(hit.url) for item in state.own.brought for hit in item.hits}
    named, others = policy.split_leads(state)
    leads = [lead for lead in [*named, *others[:MAX_PROMPT_LEADS]] if canonicalize(lead.value) not in listed]
    return {
        "question": state.full_question,
        "notes": fact_view.public_note_texts(state),
        "wishes": list_wishes(state),
        "history": [*[done for done in earlier if done.is_search][-MAX_PROMPT_ACTIONS:], *latest],
        "parts": state.plan,
        **policy.choose_known_facts(state),
        "report": AnalyzerReply.model_validate(
            {**state.own.report, **stale, "answered_parts": policy.list_answered_parts(state)}
        )
        if state.own.report
        else None,
        "leads": leads,
        "reading": describe_reading(state),
        "results": results,
        "unread": unread,
        "actions": [action for action in actions if action != "more" or unread],
        "engines": describe_actions(state.settings.engines or tools.world.engines),
        "threshold": fact_view.confidence_goal(state),
        "remaining": state.settings.max_steps - len(state.actions_this_round),
        "level": state.current_confidence,
        "refused": state.refusals[-MAX_PROMPT_REFUSALS:],
    }


def _build_proposals(state: ResearchRun, reply: DecisionReply, stall: Stall | None) -> list[Proposal]:
    """The actions of a reply as proposals; a known address as it was found, not as the reply spells it. To
    read a page again that was read in part is to read the rest of it."""
    proposals, parts = [], {part.id for part in state.plan}
    for action in reply.actions:
        name, what = action.next_action, action.query_or_url
        if name == "crawl_url":
            what = policy.find_known_url(state, what) or what
        if name in ("crawl_url", "more") and (url := canonicalize(what)):
            pages = state.pages.values()
            page = next((ref for ref in pages if url in map(canonicalize, (ref.url, ref.final_url))), None)
            name = "more" if page and policy.has_unread_text(page) else name
            what = page.url if page and name == "more" else what
        given: Any = {"reasoning": action.reasoning, "choices": action.choices, "by": "model"}
        given |= {"rung": stall.rung} if stall else {}
        given |= {"part": action.part} if action.part in parts else {}
        proposals.append(Proposal(next_action=name, query_or_url=what, **given))
    return proposals
