"""The chat flow: talk with what the library holds. Route, find, grade, write, validate; rewrite and look
again, or ask the person.

    router -> generate | rewrite | retrieve | clarify | location;  retrieve -> grade -> generate | rewrite_retry | generate_caveat
    generate, generate_caveat -> validate -> end | rewrite_final | clarify_final;  a person's answer to clarify* -> retrieve

Each turn is a run of its thread, so memory is the store's and survives a restart. The table closes the file.
"""

from __future__ import annotations

from agent.engine.context import RunContext
from agent.engine.loop import Flow
from agent.engine.state import Change, merge, shallow_copy, to_jsonable
from agent.flows.chat import retrieve as reading
from agent.flows.chat.places import find_facilities, is_facility_follow_up, list_kinds, load_facilities
from agent.flows.chat.state import ChatRun, ChatState, Grounding, QueryRewrite, StepJudge
from agent.flows.chat.step_summary import describe_step
from agent.flows.chat.write import (
    CAVEATS,
    ask_for_clarification,
    build_answer,
    build_refusal,
    check_claims,
    write_draft,
)
from agent.flows.shared.fact_view import answer_small_talk
from agent.roles.chat.grade import GRADE, MIN_RELEVANT_SCORE
from agent.roles.chat.rewrite import REWRITE, RewriteReply
from agent.roles.chat.router import ROUTER, RouterReply
from agent.roles.chat.validate import VALIDATE, ValidateReply
from agent.text.dialogue_acts import classify_small_talk, is_repeat_request
from agent.text.tokens import content_stems
from agent.types import Edge, Passage, Status

MIN_RELEVANT_PASSAGES = 3
"""Relevant passages from which an answer is written without more ado."""
MAX_RETRIES = 2
"""Rewritten searches of one question, for want of passages or of grounds."""
STEP_BY_ROUTE = {
    "DIRECT_ANSWER": "generate",
    "RETRIEVE": "retrieve",
    "REWRITE_THEN_RETRIEVE": "rewrite",
    "ASK_CLARIFICATION": "clarify",
    "LOCATION_SEARCH": "location",
}


def router(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Recall the conversation, and decide which way this turn goes."""
    turns = reading.load_earlier_turns(state, tools)
    memory = reading.collect_cited_evidence(turns)
    known = load_facilities(state, tools)
    there = list_kinds(known)
    if classify_small_talk(state.question):
        why = "It asks nothing, so it is answered in kind."
        return {
            **memory,
            **_start_turn(state, "DIRECT_ANSWER", why),
            "speakers": {"router": StepJudge(by="code")},
        }, "generate"
    judgement = tools.judge(
        ROUTER, question=state.question, history=state.substantive_turns, prior=memory["prior"], kinds=there
    )
    reply: RouterReply = judgement.value
    route, why, by = str(reply.route), reply.reasoning, judgement.by
    if there and is_facility_follow_up(turns, state.question, known):
        route, why, by = "LOCATION_SEARCH", "It goes on with the facility search before it.", "code"  # type: ignore[assignment]
    elif (route == "DIRECT_ANSWER" and not memory["prior_docs"]) or (
        route == "LOCATION_SEARCH" and not there
    ):
        lacking = (
            "no earlier answer stands on anything"
            if route == "DIRECT_ANSWER"
            else "the library has no facilities"
        )
        route, why, by = "RETRIEVE", f"{why} But {lacking}, so the library is searched.".strip(), "code"  # type: ignore[assignment]
    change: Change = {
        **memory,
        **_start_turn(state, route, why),
        "speakers": {"router": StepJudge(by=by, trouble=judgement.fallback_reason)},
        "needs_clarification": (reply.clarifying_question or None) if route == "ASK_CLARIFICATION" else None,
    }
    if route == "DIRECT_ANSWER":
        before = (
            next((turn.asked for turn in turns if turn.answer and turn.answer.sentences), "")
            if is_repeat_request(state.question)
            else ""
        )
        change |= {
            "asked": before or state.question,
            "pages": reading.build_page_refs(memory["prior_docs"], tools.step),
        }
    return change, STEP_BY_ROUTE[route]


def _start_turn(state: ChatRun, route: str, why: str) -> Change:
    return {
        "original_query": state.question,
        "asked": state.question,
        "route_decision": route,
        "route_reasoning": why,
    }


def rewrite(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Make the turn a question that stands alone; passages and drafts are measured by it from now on."""
    made = _rewrite_query(state, tools, "")
    return {"rewrites": [made], "asked": made.query, "rewritten_query": made.query}, "retrieve"


def rewrite_retry(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Too little was found: look again in other words."""
    made = _rewrite_query(
        state,
        tools,
        f"only {_count_relevant(state)} of {len(state.own.retrieved_docs)} passages found were relevant",
    )
    return {
        "rewrites": [made],
        "rewritten_query": made.query,
        "retry_count": state.own.retry_count + 1,
    }, "retrieve"


def rewrite_final(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """The draft had no ground: look again from another angle."""
    made = _rewrite_query(
        state, tools, f"the answer drafted from what was found did not hold: {_explain_ungrounded(state)}"
    )
    return {
        "rewrites": [made],
        "rewritten_query": made.query,
        "retry_count": state.own.retry_count + 1,
        "draft": None,
    }, "retrieve"


def _rewrite_query(state: ChatRun, tools: RunContext, angle: str) -> QueryRewrite:
    question = " ".join([state.question, *(note.text for note in state.notes), *state.own.responses])
    judgement = tools.judge(
        REWRITE,
        question=question,
        history=state.substantive_turns,
        angle=angle,
        tried=list(dict.fromkeys(state.own.queries)),
    )
    reply: RewriteReply = judgement.value
    query = reply.query.strip() or state.asked or state.question
    return QueryRewrite(
        step=tools.step,
        query=query,
        why=angle,
        reasoning=reply.reasoning,
        by=judgement.by,
        trouble=judgement.fallback_reason,
    )


def _count_relevant(state: ChatRun) -> int:
    return sum(score >= MIN_RELEVANT_SCORE for score in state.own.doc_relevance_scores)


def _explain_ungrounded(state: ChatRun) -> str:
    return (
        state.own.groundings[-1].reason
        if state.own.groundings
        else "What was found does not answer the question."
    )


def retrieve(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Search the library, within the scope that was chosen."""
    return reading.retrieve_passages(state, tools), "grade"


def grade(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Score how relevant each passage is, all in one batch."""
    passages = reading.score_passages(tools, reading.standalone_question(state), state.own.retrieved_docs)
    judgement = (
        tools.judge(GRADE, question=reading.standalone_question(state), passages=passages)
        if passages
        else None
    )
    told = {graded.passage_id: graded for graded in judgement.value.grades} if judgement else {}
    scores = [round(told[passage.id].score, 4) if passage.id in told else 0.0 for passage in passages]
    change = {
        "doc_relevance_scores": scores,
        "doc_reasons": [
            told[passage.id].reason if passage.id in told else "It was not graded." for passage in passages
        ],
        "speakers": {
            "grade": StepJudge(by=judgement.by, trouble=judgement.fallback_reason)
            if judgement
            else StepJudge()
        },
    }
    if sum(score >= MIN_RELEVANT_SCORE for score in scores) >= MIN_RELEVANT_PASSAGES:
        return change, "generate"
    return change, "rewrite_retry" if state.own.retry_count < MAX_RETRIES else "generate_caveat"


def generate(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Write a draft from what was found; when the turn needs no search, from what earlier answers stand on;
    none to a courtesy."""
    if classify_small_talk(state.question):
        return {}, "validate"
    if not state.own.retrieved_docs:
        return write_draft(
            state,
            tools,
            reading.score_passages(tools, reading.standalone_question(state), state.own.prior_docs),
        ), "validate"
    return write_draft(state, tools, _load_retrieved(state, tools)), "validate"


def generate_caveat(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """The best effort from too little, and a word that it is one."""
    return write_draft(
        state, tools, _load_retrieved(state, tools), caveat=CAVEATS[_count_relevant(state)]
    ), "validate"


def _load_retrieved(state: ChatRun, tools: RunContext) -> list[Passage]:
    return reading.load_passages(tools, state.own.retrieved_docs, state.own.doc_relevance_scores)


def validate(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Is every sentence grounded in its quotes, by code first? When the run has to end, what there is becomes
    the answer."""
    if (polite := answer_small_talk(state, tools.step)) and state.own.draft is None:
        return {"answers": [polite], "stop_reason": "enough"}, "end"
    if state.stop_reason in ("budget", "asked"):
        return _finish_early(state, tools)
    verdict = _check_grounding(state, tools)
    if verdict.grounded:
        return {
            "groundings": [verdict],
            "answers": [build_answer(state, tools)],
            "stop_reason": "enough",
        }, "end"
    return {
        "groundings": [verdict]
    }, "rewrite_final" if state.own.retry_count < MAX_RETRIES else "clarify_final"


def _check_grounding(state: ChatRun, tools: RunContext) -> Grounding:
    drafted = check_claims(state)
    if not any(claim.backed for claim in drafted):
        reason = (
            "No sentence stands in its quotes." if drafted else "What was found does not answer the question."
        )
        return Grounding(grounded=False, reason=reason, by="code", step=tools.step)
    judgement = tools.judge(
        VALIDATE, question=reading.standalone_question(state), claims=drafted, likelihood=state.own.likelihood
    )
    reply: ValidateReply = judgement.value
    grounded = reply.grounded and all(claim.backed for claim in drafted)
    reason = reply.reason if reply.grounded == grounded else "Code did not find every sentence in its quotes."
    return Grounding(
        grounded=grounded, reason=reason, by=judgement.by, trouble=judgement.fallback_reason, step=tools.step
    )


def _finish_early(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """The budget is spent, or a person wants the answer now: the draft as far as it is backed, else an honest
    word."""
    rejected = bool(
        state.own.draft and state.own.groundings and state.own.groundings[-1].step > state.own.draft.step
    )  # a grounded one ended the run
    backed = [] if rejected else [claim.n - 1 for claim in check_claims(state) if claim.backed]
    if state.own.draft is None or not backed:
        return {
            "answers": [
                build_refusal(state, tools, "not_covered", f"No answer is given: {state.why_stopped}.")
            ]
        }, "end"
    caveat = state.own.draft.caveat or f"It was written before its checks were finished: {state.why_stopped}."
    kept = state.own.draft.model_copy(
        update={"sentences": [state.own.draft.sentences[n] for n in backed], "caveat": caveat}
    )
    now = merge(shallow_copy(state), to_jsonable({"draft": kept}))
    return {"draft": kept, "answers": [build_answer(now, tools)]}, "end"


def clarify(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Ask the person what is meant."""
    return ask_for_clarification(
        state,
        tools,
        why=state.own.route_reasoning or "It is not clear what is meant.",
        reason="needs_clarification",
    ), "respond"


def clarify_final(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Give up searching, and ask the person."""
    searches = len(set(state.own.queries))
    why = f"{searches} {'search' if searches == 1 else 'different searches'} brought no answer. {_explain_ungrounded(state)}"
    return ask_for_clarification(state, tools, why=why, reason="not_covered"), "respond"


def location(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Find facilities of a kind, the nearest first."""
    return find_facilities(state, tools), "end"


def apply_clarification(state: ChatRun, text: str) -> Change:
    """The change that a person's answer to a clarifying question makes: the question is asked anew with it,
    from the start of its retries."""
    said = text.strip()
    said = (
        state.own.choices[int(said) - 1]
        if said.isdigit() and 1 <= int(said) <= len(state.own.choices)
        else said
    )
    is_question = "?" in said and len(content_stems(said)) > 1
    question = said if is_question else f"{state.asked or state.question} {said}"
    return {
        "responses": [said],
        "asked": question,
        "rewritten_query": question,
        "needs_clarification": None,
        "choices": [],
        "retry_count": 0,
        "retrieved_docs": [],
        "doc_relevance_scores": [],
        "doc_reasons": [],
        "draft": None,
        "stop_reason": "",
        "why_stopped": "",
    }


CHAT = Flow(
    name="chat",
    first_step="router",
    own_state=ChatState,
    steps={
        "router": router,
        "rewrite": rewrite,
        "retrieve": retrieve,
        "grade": grade,
        "generate": generate,
        "generate_caveat": generate_caveat,
        "validate": validate,
        "rewrite_retry": rewrite_retry,
        "rewrite_final": rewrite_final,
        "clarify": clarify,
        "clarify_final": clarify_final,
        "location": location,
    },
    rest_statuses={"respond": Status.WAITING, "end": Status.DONE},
    write_up_step="validate",
    reentry_step="rewrite",
    describe_step=describe_step,
    edges=(
        Edge(start="router", end="generate", label="DIRECT_ANSWER"),
        Edge(start="router", end="retrieve", label="RETRIEVE"),
        Edge(start="router", end="rewrite", label="REWRITE_THEN_RETRIEVE"),
        Edge(start="router", end="clarify", label="ASK_CLARIFICATION"),
        Edge(start="router", end="location", label="LOCATION_SEARCH"),
        Edge(start="rewrite", end="retrieve"),
        Edge(start="clarify", end="retrieve", label="user responds", rest="respond"),
        Edge(start="retrieve", end="grade"),
        Edge(start="grade", end="generate", label="≥3 relevant"),
        Edge(start="grade", end="rewrite_retry", label="<3 & retry<2"),
        Edge(start="grade", end="generate_caveat", label="<3 & retry≥2"),
        Edge(start="rewrite_retry", end="retrieve"),
        Edge(start="generate", end="validate"),
        Edge(start="generate_caveat", end="validate"),
        Edge(start="validate", end="end", label="yes"),
        Edge(start="validate", end="rewrite_final", label="no & retry<2"),
        Edge(start="validate", end="clarify_final", label="no & retry≥2"),
        Edge(start="rewrite_final", end="retrieve"),
        Edge(start="clarify_final", end="retrieve", label="user responds", rest="respond"),
        Edge(start="location", end="end"),
    ),
    decisions={"router": "route_decision?", "grade": "relevant_count?", "validate": "grounded?"},
)
