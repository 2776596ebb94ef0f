"""The research flow: decide, look (search or crawl), analyze, decide again; until there is something for a person to review.

decide -> search | crawl | report, through a person's approval when the run goes step by step; search, crawl -> analyze -> decide;
report -> review. A person's accept ends it, a send-back leads to decide. The table closes the file.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from agent.flows import moves, reading, revising
from agent.flows.rewriting import written
from agent.flows.state import Looking, Research
from agent.loop import Flow
from agent.roles.analyzer import AnalyzerReply
from agent.roles.decision import DECISION
from agent.state import Change
from agent.toolbox import Tools
from agent.types import Action, Blockage, Edge, Lead, Outcome, PageRef, Proposal, Refusal, Status
from agent.urls import canonical

COOL_S = 60.0
"""Seconds an engine rests after a rate limit that named no time."""
WAY = {"search_duckduckgo": "search", "search_google": "search", "crawl_url": "crawl", "send_to_hitl": "report"}


def decide(state: Research, tools: Tools) -> tuple[Change, str]:
    """Choose the next action; what the role proposes is checked by code before it counts."""
    if state.looking:  # read just before the budget ended the round: it is not to be lost
        return {}, "analyze"
    if given := moves.waiting(state):
        return {"looking": Looking(source=given.url, page_id=given.page_id)}, "analyze"
    if wanted := moves.again(state):
        return {"pending": wanted}, WAY[wanted.next_action]
    if state.rewritten:
        return {"pending": None, "why_stopped": "what you gave, or asked to try again, was taken in"}, "report"
    if over := moves.cap(state):
        if state.settings.at_cap == "ask" and state.level < moves.goal(state):
            raise over
        stop = Proposal(next_action="send_to_hitl", reasoning=f"Time to report: {over}.", by="code")
        return _hand_over(state, stop, str(over), "budget")
    if start := moves.start(state):
        return {"pending": start}, "approve" if state.settings.stops_at == "step" else "crawl"
    if wish := moves.wish(state, moves.available(state, tools.world.engines, tools.now())):
        return {"pending": wish}, "approve" if state.settings.stops_at == "step" else "search"
    stuck = moves.blockage(state)
    blocked: Change = {"blockages": [stuck.model_copy(update={"step": tools.step})]} if stuck else {}
    if stuck and stuck.rung == "hand_over" and not moves.told_to_go_on(state):
        stop = Proposal(next_action="send_to_hitl", reasoning=f"Every rung was tried: {stuck.reason}.", by="code", rung="hand_over")
        more, next = _hand_over(state, stop, stuck.reason, "blocked")
        return {**blocked, **more}, next
    proposal, refused = _proposed(state, tools, stuck)
    change: Change = {**blocked, "refusals": [refusal.model_copy(update={"step": tools.step}) for refusal in refused]}
    if proposal.next_action == "send_to_hitl":
        reason = "enough" if state.level >= state.settings.threshold else "hand_over"
        more, next = _hand_over(state, proposal, proposal.reasoning, reason)
        return {**change, **more}, next
    return {**change, "pending": proposal}, "approve" if state.settings.stops_at == "step" else WAY[proposal.next_action]


def _hand_over(state: Research, stop: Proposal, why: str, reason: str) -> tuple[Change, str]:
    """To the person: with an approval first when the run goes step by step."""
    change: Change = {"pending": stop, "why_stopped": why, "stop_reason": reason}
    return change, "approve" if state.settings.stops_at == "step" and reason != "budget" else "report"


def _proposed(state: Research, tools: Tools, stuck: Blockage | None) -> tuple[Proposal, list[Refusal]]:
    """The role's proposal if code agrees, else the keyless one, else the next rungs, else the person."""
    actions = moves.available(state, tools.world.engines, tools.now())
    blanks: dict[str, Any] = {
        "question": state.question, "notes": moves.notes(state), "history": state.actions[-20:], "facts": moves.memory(state),
        "report": AnalyzerReply.model_validate(_heard(state)) if state.report else None, "leads": moves.open_leads(state),
        "actions": actions, "blockage": stuck, "threshold": moves.goal(state),
        "remaining": state.settings.max_steps - len(state.fresh_actions), "level": state.level, "refused": state.refusals[-5:],
    }  # fmt: skip
    judgement = tools.judge(DECISION, **blanks)
    refused: list[Refusal] = []
    own = stuck.rung if stuck else ""
    rungs = [own, own, "narrow", "lead"]
    for n, rung in enumerate(rungs):
        forced = {"blockage": Blockage(rung=rung, reason="")} if n > 1 else {}  # type: ignore[arg-type]
        reply: Any = judgement.value if n == 0 else DECISION.keyless(**{**blanks, **forced})
        by = judgement.by if n == 0 else "keyless"
        proposal = Proposal(
            next_action=reply.next_action, query_or_url=reply.query_or_url or "", reasoning=reply.reasoning, by=by,
            trouble=judgement.trouble, rung=rung,
        )  # fmt: skip
        refusal = moves.check(state, proposal, actions)
        if refusal is None:
            return proposal, refused
        if refusal not in refused:
            refused.append(refusal)
    return Proposal(next_action="send_to_hitl", reasoning="Every proposal was refused: " + "; ".join(r.why for r in refused), by="code"), refused


def _heard(state: Research) -> dict[str, Any]:
    report = {name: value for name, value in (state.report or {}).items() if name not in ("by", "trouble")}
    brief = report.get("extracted_info")
    return {**report, "extracted_info": brief if isinstance(brief, str) else f"{brief['facts']} facts, now in memory" if brief else ""}


def search(state: Research, tools: Tools) -> tuple[Change, str]:
    """Ask a search engine."""
    pending = state.pending or Proposal(next_action="search_duckduckgo", query_or_url=state.question)
    engine = moves.ENGINES[pending.next_action]
    result = tools.search(engine, pending.query_or_url)
    action = _action(tools, pending, result.outcome, result.detail).model_copy(update={"hits": len(result.hits)})
    looking = Looking(source=f"search: {pending.query_or_url}", outcome=result.outcome, hits=result.hits)
    change: Change = {"actions": [action], "looking": looking, "pending": None, "leads": _taken(state, pending)}
    if result.outcome is Outcome.RATE_LIMITED:
        until = datetime.now(UTC) + timedelta(seconds=result.retry_after_s or COOL_S)
        change["cooling"] = {**state.cooling, engine: until.isoformat(timespec="milliseconds").replace("+00:00", "Z")}
    return change, "analyze"


def crawl(state: Research, tools: Tools) -> tuple[Change, str]:
    """Read a page, and store what was read."""
    pending = state.pending or Proposal(next_action="crawl_url", query_or_url=(state.settings.start_urls or [""])[0])
    url = pending.query_or_url
    page = tools.fetch(url)
    page_id = tools.keep(page) if page.outcome is Outcome.OK else ""
    ref = PageRef(
        url=url, page_id=page_id, final_url=page.final_url, title=page.title, outcome=page.outcome, detail=page.detail,
        found_on=_found_on(state, url), step=tools.step,
    )  # fmt: skip
    action = _action(tools, pending, page.outcome, page.detail).model_copy(update={"page_id": page_id})
    looking = Looking(source=url, page_id=page_id, outcome=page.outcome)
    return {"actions": [action], "pages": [ref], "looking": looking, "pending": None, "leads": _taken(state, pending)}, "analyze"


def analyze(state: Research, tools: Tools) -> tuple[Change, str]:
    """Weigh what the tool brought."""
    looking = state.looking
    if looking is None:
        return {}, "decide"
    if looking.page_id:
        change = reading.of_page(state, tools, looking)
    elif looking.hits:
        change = reading.of_search(state, tools, looking)
    else:
        change = reading.of_nothing(state, tools, looking)
    return {**change, "looking": None}, "decide"


def report(state: Research, tools: Tools) -> tuple[Change, str]:
    """Write up what was found, for a person to review."""
    return {"answers": [written(state, tools)], "pending": None}, "review"


def _action(tools: Tools, pending: Proposal, outcome: Outcome, detail: str) -> Action:
    return Action(
        step=tools.step, action=pending.next_action, query_or_url=pending.query_or_url, reasoning=pending.reasoning, by=pending.by,  # type: ignore[arg-type]
        rung=pending.rung, outcome=outcome, detail=detail,
    )  # fmt: skip


def _taken(state: Research, pending: Proposal) -> list[Lead]:
    same = canonical(pending.query_or_url) or pending.query_or_url
    return [
        lead.model_copy(update={"status": "taken"})
        for lead in state.leads.values()
        if lead.status == "open" and (canonical(lead.value) or lead.value) == same
    ]


def _found_on(state: Research, url: str) -> str:
    spelled = canonical(url)
    return next((lead.found_on for lead in state.leads.values() if canonical(lead.value) == spelled), "person")


def summary(state: Research) -> dict[str, Any]:
    """What the list of runs shows."""
    latest = state.answer
    verdict = latest.verdict if latest and not latest.courtesy else ""
    level = latest.confidence if latest and verdict == "no_evidence" else state.level
    return {"actions": len(state.actions), "verdict": verdict, "confidence": level if state.confidence else None}


RESEARCH = Flow(
    name="research",
    first="decide",
    state=Research,
    steps={"decide": decide, "search": search, "crawl": crawl, "analyze": analyze, "report": report},
    rests={"approve": Status.WAITING, "review": Status.REVIEW, "done": Status.DONE},
    on_budget="report",
    again="decide",
    summary=summary,
    asks=moves.clash,
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
    heed=revising.heeded,
)
