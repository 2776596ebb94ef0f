"""The steps of the research flow up to a page: plan, decide, and act, which carries a round out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from agent.answering import fact_view
from agent.answering.pages import build_action, cool_down, read_open_copy, store_fetched
from agent.answering.revision import has_unread_note, list_wishes
from agent.engine.context import RunContext
from agent.engine.side_by_side import WebRequest, WebResult
from agent.engine.state import Change
from agent.errors import BudgetSpent, ShutdownRequested, StopRequested
from agent.flows.research import policy
from agent.flows.research.analyze_pages import find_unread_pages, list_asked, merge_results
from agent.flows.research.policy import CHECK_PLAN, describe_reading, is_plan_edited
from agent.flows.research.state import SEARCH_PREFIX, Observation, ResearchRun
from agent.retrieval.link_scoring import lead_id, make_first_query
from agent.roles.research import DECISION, PLAN, AnalyzerReply, DecisionReply
from agent.store.ledger import utc_timestamp
from agent.text.urls import canonicalize, find_urls, is_excluded
from agent.types import (
    ENGINE_BY_ACTION,
    Actor,
    Outcome,
    Page,
    Proposal,
    Refusal,
    SearchHit,
    SearchResult,
    Stall,
    describe_actions,
)

MAX_PROMPT_ACTIONS, MAX_PROMPT_REFUSALS, MAX_PROMPT_RESULTS = 20, 5, 8
MAX_PROMPT_MERGED = 12
"""Results of several searches of a round that a decision is shown, the first of each in turn."""
MAX_PROMPT_LEADS = 3
"""Results of earlier searches that a decision is shown beside what the analyzer named."""
MAX_PAGES_READ = 8
"""Pages that are read without a model for a question or a note."""
STOP = Proposal(next_action="send_to_hitl", query_or_url="", by="code")
"""The hand-over, for want of a reason yet."""
SECRETS_BARRED = (
    "It would carry words of a private note or an added file to a search engine, so it was not made."
)


def plan(state: ResearchRun, tools: RunContext) -> tuple[Change, str]:
    """Make the plan, unless a person wrote one meanwhile. The pending round, when there is one, is begun
    before and carried out next; step by step a person sees the plan first."""
    if is_plan_edited(state):
        return {}, "act" if state.pending else "decide"
    if first := state.pending:
        engine = ENGINE_BY_ACTION.get(first.next_action)
        if not engine:
            tools.side_by_side.fetch_ahead([first.query_or_url], 1)
        elif not policy.find_secrets(state, first.query_or_url):
            tools.side_by_side.search_ahead(engine, first.query_or_url)
    judgement = tools.judge(
        PLAN,
        question=state.question if state.history else state.full_question,
        notes=fact_view.note_texts(state, public=True),
        history=fact_view.public_history(state),
        engines=describe_actions(state.settings.engines or tools.world.engines),
        report=state.settings.report,
        today=tools.today(),
    )
    reply, readings = judgement.value, judgement.value.choices
    parts = reply.to_parts(state.full_question, judgement.by)
    change: Change = {
        "plan_parts": parts,
        "ambiguity": reply.ask.strip() if readings else "",
        "meanings": readings,
        "plan_trouble": judgement.failure,
    }
    if state.history and judgement.by == "model":
        change["asked"] = " ".join(part.question for part in parts)
    return change, "act" if state.pending else CHECK_PLAN if state.settings.stop_point == "step" else "decide"


def decide(state: ResearchRun, tools: RunContext) -> tuple[Change, str]:
    """Choose the next round: what precedes a decision of the role, else what it proposes and code allows."""
    actions = policy.available_actions(state, tools.world.engines, utc_timestamp())
    is_stepwise = state.settings.stop_point == "step"
    is_new = tools.has_model and not (state.plan_parts or state.actions or state.answers)
    if is_new and (is_stepwise or state.history):
        return {}, "plan"
    if state.own.brought and not state.own.is_analyzed:  # read just before the budget ended the round
        return {}, "analyze"
    for page in state.pages.values():
        if page.waiting:
            brought = [Observation(source=page.url, page_id=page.page_id)]
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
        return {"pending": stop, "why_stopped": str(over), "stop_reason": "budget"}, "report"
    change, stall = Change(), policy.find_stall(state)
    why, reason = "", "hand_over"
    if not (proposals := policy.list_asked(state, actions)):
        if stall and stall.rung == "hand_over" and not policy.is_asked_to_continue(state):
            told = f"All escalations were tried: {stall.reason}."  # nothing new however it was tried
            proposals, why, reason = [STOP.replace(reasoning=told, rung=stall.rung)], stall.reason, "blocked"
            change["blockages"] = [stall.replace(step=tools.step)]
        elif tools.has_model:
            change, proposals, why, reason = _choose_round(state, tools, actions, stall)
        else:
            proposals = propose_round(state, actions)
    if proposals[0].next_action == "send_to_hitl":
        change |= {"pending": proposals[0], "why_stopped": why or proposals[0].reasoning}
        return {**change, "stop_reason": reason}, "approve" if is_stepwise else "report"
    change["pending"] = Proposal.join(policy.cut_round(state, proposals))
    return change, "approve" if is_stepwise else "plan" if is_new else "act"


def _choose_round(
    state: ResearchRun, tools: RunContext, actions: list[str], stall: Stall | None
) -> tuple[Change, list[Proposal], str, str]:
    """The round that the role proposes, or the hand-over where all is answered, or nothing is left to try,
    and why in a sentence and in a word. An open conflict on what was asked puts a hand-over off where an
    action may settle it; other proposals are counted for it when nothing else is open."""
    change: Change = {"blockages": [stall.replace(step=tools.step)]} if stall else {}
    coverage, proposals, conflict = policy.assess_coverage(state), list[Proposal](), None
    tried = [action.about for action in state.actions_this_round]
    for found in fact_view.open_conflicts(state):  # what could settle one of the analyzer's is a lead
        if found.asks and found.found_by != "model" and tried.count(found.id) < policy.MAX_SETTLING_ACTIONS:
            conflict = conflict or found
    if not state.actions and all(note.private for note in state.notes):
        proposals = propose_start(state, actions, [state.full_question], "code")[:1]
    elif coverage and not coverage.thin:
        proposals = [STOP.replace(reasoning=coverage.reason)]
    if not proposals:
        is_asked = any(done.action == "ask" for done in state.actions_this_round)
        if not is_asked and (state.pages or not describe_reading(state)):
            actions = [*actions[:-1], "ask", *actions[-1:]]
        about = {
            "blockage": stall,
            "conflict": policy.describe_conflict(state, conflict)[0] if conflict else "",
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
    if coverage:
        return change, proposals, coverage.reason, "hand_over" if coverage.low else "enough"
    why, answered = "", policy.list_answered_parts(state)
    if chosen.by == "model":  # its own reason stays on its decision
        left = [part.id for part in state.plan if part.id not in answered]
        told = f"{policy.name_parts(state, left, 'is', 'are')} not settled" if left else ""
        why = f"{told}, and the model sees no further step." if told else "The model hands over."
    return change, proposals, why, "hand_over"


def propose_start(
    state: ResearchRun, actions: Sequence[str], asked: Sequence[str], by: Actor
) -> list[Proposal]:
    """The addresses that these texts name, else a search for each of them: what of these is allowed."""
    pages, searches = list[Proposal](), list[Proposal]()
    for text in asked:
        why, query = "First search for this.", make_first_query(text)
        for search in policy.propose_search(state, actions, query, reasoning=why, by=by):
            searches += [] if policy.check_proposal(state, search, actions) else [search]
        for url in find_urls(text):
            page = Proposal(next_action="crawl_url", query_or_url=url, reasoning="You named it.", by=by)
            pages += [] if policy.check_proposal(state, page, actions) else [page]
    return pages or searches


def propose_round(state: ResearchRun, actions: list[str]) -> list[Proposal]:
    """What is done next without a model: the addresses that were named, a search for each thing asked, then
    the best unread page; the hand-over when enough is read or nothing is left. Nothing is judged."""
    if proposals := propose_start(state, actions, list_asked(state), "keyless"):
        return proposals
    read = sum(action.action == "crawl_url" for action in state.actions_this_round)
    is_enough = read >= MAX_PAGES_READ and state.settings.stop_point != "budget"
    for lead in () if is_enough else policy.open_leads(state):
        why = f"The best page left: {lead.why}"
        page = Proposal(next_action="crawl_url", query_or_url=lead.value, reasoning=why)
        if lead.kind == "url" and not policy.check_proposal(state, page, actions):
            return [page]
    why = f"{read} pages are read." if is_enough else "No page is left to read."
    return [STOP.replace(by="keyless", reasoning=why)]


def _ask_decision(
    state: ResearchRun, tools: RunContext, actions: list[str], about: dict[str, Any]
) -> tuple[list[Proposal], list[Refusal]]:
    """What of the role's round code allows, else the hand-over; with it, why others were refused. The role is
    asked again only where nothing of its round is allowed; the next decision hears of the other refusals.
    `about` are the blanks on what is to be overcome."""
    refused = list[Refusal]()

    def allow(reply: DecisionReply) -> list[Proposal]:
        """The actions of a round that are allowed, each once; a hand-over counts only alone."""
        kept, stops = dict[tuple[str, str], Proposal](), list[Proposal]()
        for proposal in _build_proposals(state, reply, about["blockage"]):
            if refusal := policy.check_proposal(state, proposal, actions):
                refused.extend([] if refusal in refused else [refusal])
            elif proposal.next_action == "send_to_hitl":
                stops.append(proposal)
            else:
                kind = "url" if proposal.next_action in ("crawl_url", "more") else "query"
                kept.setdefault((proposal.next_action, lead_id(kind, proposal.query_or_url)), proposal)
        return list(kept.values()) or stops[:1]

    def check(reply: DecisionReply) -> list[str]:
        if allow(reply):
            return []
        return [f"{refusal.what}: {refusal.why}." for refusal in refused] or ["`actions` is empty."]

    tools.side_by_side.fetch_ahead(policy.choose_pages_ahead(state), policy.MAX_ROUND_ACTIONS)
    inputs = {**_build_inputs(state, tools, actions), **about}
    if allowed := allow(tools.judge(DECISION, check=check, **inputs).value):
        return allowed, refused
    if policy.check_proposal(state, STOP, actions):  # it is to go on
        why = "The run is to go on, and the model proposed nothing possible: the best page left."
        for lead in inputs["leads"]:
            best = Proposal(next_action="crawl_url", query_or_url=lead.value, reasoning=why, by="code")
            if not policy.check_proposal(state, best, actions):
                return [best], refused
    why = "Nothing that the model proposed was possible: " + "; ".join(refusal.why for refusal in refused)
    return [STOP.replace(reasoning=f"{why.rstrip(': ')}.")], refused


def _build_inputs(state: ResearchRun, tools: RunContext, actions: list[str]) -> dict[str, Any]:
    """The blanks of the decision's prompt: of the actions the last ones, and the searches before them, which
    are not to be repeated; of the last round's results each once, "(read)" for the snippet of what was read,
    none that a lead could not lead to."""
    earlier, latest = state.actions[:-MAX_PROMPT_ACTIONS], state.actions[-MAX_PROMPT_ACTIONS:]
    visited, excluded = fact_view.visited_urls(state), fact_view.excluded_sites(state)
    known, found, listed = set[str](), list[list[SearchHit]](), set[str]()
    for lead in state.own.leads.values():
        if lead.kind == "url" and not is_excluded(lead.value, excluded):
            known.add(canonicalize(lead.value))
    for item in state.own.brought:
        found += [item.hits[:MAX_PROMPT_RESULTS]] if item.hits else []
        listed |= {canonicalize(hit.url) for hit in item.hits}
    results = list[SearchHit]()
    for hit in merge_results(found, MAX_PROMPT_MERGED):
        if (url := canonicalize(hit.url)) in known:
            results.append(hit.replace(snippet="(read)") if url in visited else hit)
    report = state.own.report
    if report and any(reading.step > state.own.reported_at for reading in state.readings):
        report = {**report, "assessment": "None since the notes.", "suggestions_for_next_step": []}
    unread = find_unread_pages(state, tools) if "more" in actions else []
    named, others = policy.split_leads(state)
    answered = policy.list_answered_parts(state)
    return {
        "question": state.full_question,
        "notes": fact_view.note_texts(state, public=True),
        "wishes": list_wishes(state),
        "history": [*[done for done in earlier if done.is_search][-MAX_PROMPT_ACTIONS:], *latest],
        "parts": state.plan,
        **policy.choose_known_facts(state),
        "report": AnalyzerReply.model_validate({**report, "answered_parts": answered}) if report else None,
        "leads": [
            lead for lead in (*named, *others[:MAX_PROMPT_LEADS]) if canonicalize(lead.value) not in listed
        ],
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


def _build_proposals(state: ResearchRun, reply: DecisionReply, stall: Stall | None) -> Iterator[Proposal]:
    """The actions of a reply as proposals; a known address as it was found, not as the reply spells it. To
    read a page again that was read in part is to read the rest of it."""
    for action in reply.actions:
        name, what = action.next_action, action.query_or_url
        if name == "crawl_url":
            what = policy.find_known_url(state, what) or what
        if name in ("crawl_url", "more") and (url := canonicalize(what)):
            for page in state.pages.values():
                if url in (canonicalize(page.url), canonicalize(page.final_url)):
                    name = "more" if policy.has_unread_text(page) else name
                    what = page.url if name == "more" else what
                    break
        yield Proposal(
            next_action=name,
            query_or_url=what,
            reasoning=action.reasoning,
            choices=action.choices,
            by="model",
            rung=stall.rung if stall else "",
            part=action.part if any(part.id == action.part for part in state.plan) else "",
        )


def act(state: ResearchRun, tools: RunContext) -> tuple[Change, str]:
    """Carry out the pending round: its searches and page visits side by side, recorded together. What was
    not done when a person stops the run, or its time is used up, stays pending. A page that is closed is read
    from an open copy. No search carries private words, but a person's own words are theirs to send."""
    wanted = state.pending.actions if state.pending else []
    requests, found, at_hand = dict[int, WebRequest](), dict[int, WebResult](), set[int]()
    for n, proposal in enumerate(wanted):
        what, engine = proposal.query_or_url, ENGINE_BY_ACTION.get(proposal.next_action, "")
        if proposal.next_action in ("more", "ask"):
            at_hand.add(n)
        elif engine and proposal.by != "person" and policy.find_secrets(state, what):
            found[n] = SearchResult(engine=engine, query=what, outcome=Outcome.REFUSED, detail=SECRETS_BARRED)
        else:
            requests[n] = WebRequest(what, engine)
    results, signal = tools.look_up(list(requests.values())) if requests else ([], None)
    leads = {canonicalize(lead.value): lead for lead in reversed(state.own.leads.values())}
    for n, result in zip(requests, results, strict=True):
        if isinstance(result, Page):
            lead = leads.get(canonicalize(wanted[n].query_or_url))
            try:
                found[n] = read_open_copy(tools, result, lead.publication if lead else None)
            except (StopRequested, ShutdownRequested, BudgetSpent) as raised:  # it is asked for again
                signal = raised
        elif result:
            found[n] = result
    if signal and not found:
        raise signal
    change: Change = {
        "actions": [],
        "pages": [],
        "brought": [] if state.own.is_analyzed else list(state.own.brought),
        "is_analyzed": False,
        "leads": [],
    }
    left, same = list[Proposal](), set[str]()
    for n, proposal in enumerate(wanted):
        if n not in found and n not in at_hand:
            left.append(proposal)
            continue
        result, what, page_id = found.get(n), proposal.query_or_url, ""
        outcome, detail, hits = Outcome.OK, "", list[SearchHit]()
        same.add(canonicalize(what) or what)
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
    change["pending"] = Proposal.join(left)
    for lead in state.own.leads.values():
        if lead.status == "open" and (canonicalize(lead.value) or lead.value) in same:
            change["leads"].append(lead.replace(status="taken"))
    return change, "act" if signal and left else "analyze"
