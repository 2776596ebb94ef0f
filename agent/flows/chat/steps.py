"""The steps of `chat`: each returns a change and the name of the next step."""

from __future__ import annotations

from agent.engine.context import RunContext
from agent.engine.state import Change
from agent.flows.chat import retrieve as reading
from agent.flows.chat.places import find_facilities, is_facility_follow_up, list_kinds, load_facilities
from agent.flows.chat.state import ChatRun, Grounding, QueryRewrite, StepJudge
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
from agent.text.plurals import format_count
from agent.text.tokens import content_stems
from agent.types import Passage

MIN_RELEVANT_PASSAGES = 3
"""Relevant passages from which an answer is written without another search."""
MAX_RETRIES = 2
"""Rewritten searches for one question."""
STEP_BY_ROUTE = {
    "DIRECT_ANSWER": "generate",
    "RETRIEVE": "retrieve",
    "REWRITE_THEN_RETRIEVE": "rewrite",
    "ASK_CLARIFICATION": "clarify",
    "LOCATION_SEARCH": "location",
}


def router(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Recall the conversation, and choose the route of this turn. Small talk needs no judgement."""
    turns = reading.load_earlier_turns(state, tools)
    memory = reading.collect_cited_evidence(turns)
    start = {**memory, "original_query": state.question, "asked": state.question}
    if classify_small_talk(state.question):
        why = "It is small talk, so it gets a short reply without a search."
        return {**start, **_route_change("DIRECT_ANSWER", why, StepJudge())}, "generate"
    facilities = load_facilities(state, tools)
    kinds = list_kinds(facilities)
    judgement = tools.judge(
        ROUTER, question=state.question, history=state.substantive_turns, prior=memory["prior"], kinds=kinds
    )
    reply: RouterReply = judgement.value
    route, why = str(reply.route), reply.reasoning
    judge = StepJudge(by=judgement.by, trouble=judgement.fallback_reason)
    by_rule, by_code = judgement.by != "model", judge.replace(by="code")
    if by_rule and kinds and is_facility_follow_up(turns, state.question, facilities):
        route, why, judge = "LOCATION_SEARCH", "It continues the facility search before it.", by_code
    elif route == "DIRECT_ANSWER" and not memory["prior_docs"]:
        why = f"{why} But no earlier answer cites a source, so the library is searched.".strip()
        route, judge = "RETRIEVE", by_code
    elif route == "LOCATION_SEARCH" and not kinds:
        why = f"{why} But the library has no facilities, so the library is searched.".strip()
        route, judge = "RETRIEVE", by_code
    change = {**start, **_route_change(route, why, judge)}
    if route == "ASK_CLARIFICATION":
        change["needs_clarification"] = reply.clarifying_question or None
    if route == "DIRECT_ANSWER":
        change["pages"] = reading.build_page_refs(memory["prior_docs"], tools.step, "an earlier turn")
        if by_rule and is_repeat_request(state.question):
            answered = (turn.asked for turn in turns if turn.answer and turn.answer.sentences)
            change["asked"] = next(answered, state.question)
    return change, STEP_BY_ROUTE[route]


def _route_change(route: str, why: str, judge: StepJudge) -> Change:
    return {
        "route_decision": route,
        "route_reasoning": why,
        "speakers": {"router": judge},
        "needs_clarification": None,
    }


def rewrite(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Make the turn a question that stands alone; passages and drafts are measured by it from now on."""
    made = _rewrite_query(state, tools, "")
    return {"rewrites": [made], "asked": made.query, "rewritten_query": made.query}, "retrieve"


def rewrite_retry(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Too little was found: search in other words."""
    found = format_count(len(state.own.retrieved_docs), "passage")
    return _retry(state, tools, f"only {_count_relevant(state)} of {found} found were relevant"), "retrieve"


def rewrite_final(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """The draft was not grounded: search from another angle."""
    why = f"the drafted answer was not grounded: {_explain_ungrounded(state)}"
    return {**_retry(state, tools, why), "draft": None}, "retrieve"


def _retry(state: ChatRun, tools: RunContext, why: str) -> Change:
    made = _rewrite_query(state, tools, why)
    return {"rewrites": [made], "rewritten_query": made.query, "retry_count": state.own.retry_count + 1}


def _rewrite_query(state: ChatRun, tools: RunContext, angle: str) -> QueryRewrite:
    texts = [state.question, *(note.text for note in state.notes), *state.own.responses]
    judgement = tools.judge(
        REWRITE,
        question=" ".join(texts),
        history=state.substantive_turns,
        angle=angle,
        tried=list(dict.fromkeys(state.own.queries)),
    )
    reply: RewriteReply = judgement.value
    return QueryRewrite(
        step=tools.step,
        query=reply.query.strip() or state.asked or state.question,
        why=angle,
        reasoning=reply.reasoning,
        by=judgement.by,
        trouble=judgement.fallback_reason,
    )


def _count_relevant(state: ChatRun) -> int:
    return sum(score >= MIN_RELEVANT_SCORE for score in state.own.doc_relevance_scores)


def _explain_ungrounded(state: ChatRun) -> str:
    groundings = state.own.groundings
    return groundings[-1].reason if groundings else "What was found does not answer the question."


def retrieve(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Search the library within the chosen scope."""
    return reading.retrieve_passages(state, tools), "grade"


def grade(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Score the relevance of each passage, all in one call."""
    question = reading.standalone_question(state)
    passages = reading.score_passages(tools, question, state.own.retrieved_docs)
    grades, judge = {}, StepJudge()
    if passages:
        judgement = tools.judge(GRADE, question=question, passages=passages)
        grades = {grade.passage_id: grade for grade in judgement.value.grades}
        judge = StepJudge(by=judgement.by, trouble=judgement.fallback_reason)
    graded = [grades.get(passage.id) for passage in passages]
    scores = [round(grade.score, 4) if grade else 0.0 for grade in graded]
    change = {
        "doc_relevance_scores": scores,
        "doc_reasons": [grade.reason if grade else "It was not graded." for grade in graded],
        "speakers": {"grade": judge},
    }
    if sum(score >= MIN_RELEVANT_SCORE for score in scores) >= MIN_RELEVANT_PASSAGES:
        return change, "generate"
    return change, "rewrite_retry" if state.own.retry_count < MAX_RETRIES else "generate_caveat"


def generate(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Write a draft from the passages found, or from those that earlier answers cite; none to small talk."""
    if classify_small_talk(state.question):
        return {}, "validate"
    passages = _load_retrieved(state, tools)
    if not passages:
        question = reading.standalone_question(state)
        passages = reading.score_passages(tools, question, state.own.prior_docs)
    return write_draft(state, tools, passages), "validate"


def generate_caveat(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Write a best effort from too few relevant passages, with a caveat."""
    passages = _load_retrieved(state, tools)
    return write_draft(state, tools, passages, caveat=CAVEATS[_count_relevant(state)]), "validate"


def _load_retrieved(state: ChatRun, tools: RunContext) -> list[Passage]:
    return reading.load_passages(tools, state.own.retrieved_docs, state.own.doc_relevance_scores)


def validate(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Check that every sentence is grounded in its quotes, by code first. When the run must end, answer with
    what there is."""
    small_talk = answer_small_talk(state, tools.step)
    if small_talk and state.own.draft is None:
        return {"answers": [small_talk], "stop_reason": "enough"}, "end"
    if state.stop_reason in ("budget", "asked"):
        return _finish_early(state, tools)
    grounding = _check_grounding(state, tools)
    if grounding.grounded:
        answer = build_answer(state, tools)
        return {"groundings": [grounding], "answers": [answer], "stop_reason": "enough"}, "end"
    can_retry = state.own.retry_count < MAX_RETRIES
    return {"groundings": [grounding]}, "rewrite_final" if can_retry else "clarify_final"


def _check_grounding(state: ChatRun, tools: RunContext) -> Grounding:
    claims = check_claims(state)
    if not any(claim.backed for claim in claims):
        missing = "What was found does not answer the question."
        reason = "No sentence is supported by its quotes." if claims else missing
        return Grounding(grounded=False, reason=reason, step=tools.step)
    judgement = tools.judge(VALIDATE, question=reading.standalone_question(state), claims=claims)
    reply: ValidateReply = judgement.value
    grounded = reply.grounded and all(claim.backed for claim in claims)
    reason = reply.reason if reply.grounded == grounded else "Code did not find every sentence in its quotes."
    return Grounding(
        grounded=grounded, reason=reason, by=judgement.by, trouble=judgement.fallback_reason, step=tools.step
    )


def _finish_early(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """The budget is used up, or a person wants the answer now: the backed part of a draft that was not
    rejected, else a refusal."""
    draft, groundings = state.own.draft, state.own.groundings
    is_rejected = bool(draft and groundings and groundings[-1].step > draft.step)
    backed = [] if is_rejected else [claim.n - 1 for claim in check_claims(state) if claim.backed]
    if draft is None or not backed:
        text = f"No answer is given: {state.why_stopped}."
        return {"answers": [build_refusal(state, tools, "not_covered", text)]}, "end"
    caveat = draft.caveat or f"It was written before its checks were finished: {state.why_stopped}."
    kept = draft.replace(sentences=[draft.sentences[n] for n in backed], caveat=caveat)
    now = state.model_copy(update={"own": state.own.model_copy(update={"draft": kept})})
    return {"draft": kept, "answers": [build_answer(now, tools)]}, "end"


def clarify(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Ask the person what is meant."""
    why = state.own.route_reasoning or "It is not clear what is meant."
    return ask_for_clarification(state, tools, why=why, reason="needs_clarification"), "respond"


def clarify_final(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Stop searching, and ask the person."""
    searches = format_count(len(set(state.own.queries)), "search", "different searches")
    why = f"{searches} brought no answer. {_explain_ungrounded(state)}"
    return ask_for_clarification(state, tools, why=why, reason="not_covered"), "respond"


def location(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Find facilities of a kind, the nearest first."""
    return find_facilities(state, tools), "end"


def apply_clarification(state: ChatRun, text: str) -> Change:
    """The change of a person's answer to a clarifying question: search again, retries counted anew."""
    reply, choices = text.strip(), state.own.choices
    if reply.isdigit() and 1 <= int(reply) <= len(choices):
        reply = choices[int(reply) - 1]
    is_question = "?" in reply and len(content_stems(reply)) > 1
    question = reply if is_question else f"{state.asked or state.question} {reply}"
    return {
        "responses": [reply],
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
