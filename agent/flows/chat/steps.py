"""The steps of `chat`: each returns a change and the name of the next step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent.answering.fact_view import answer_small_talk
from agent.answering.verdict import record_answer
from agent.engine.context import RunContext
from agent.engine.state import Change, state_after
from agent.flows.chat import retrieve as reading
from agent.flows.chat.places import is_facility_follow_up, list_kinds, load_facilities
from agent.flows.chat.state import ChatRun, PassageGrade, QueryRewrite, StepJudge
from agent.flows.chat.write import (
    CAVEATS,
    ask_for_clarification,
    build_answer,
    build_refusal,
    check_grounding,
    explain_empty_draft,
    explain_ungrounded,
    write_draft,
)
from agent.roles.chat import GRADE, MIN_RELEVANT_SCORE, REWRITE, ROUTER, RewriteReply, RouterReply
from agent.text.dialogue_acts import is_bare_repeat_request
from agent.text.plurals import format_count
from agent.text.question_parts import split_compound_question
from agent.types import Passage

SMALL_TALK_REPLY = "What would you like to know?"
"""The reply to small talk that no rule knows."""
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
    """Recall the conversation, and choose the route of this turn. Small talk gets a fixed reply."""
    turns, memory = reading.recall(state, tools)
    facilities = load_facilities(state, tools)
    kinds = list_kinds(facilities)
    judgement = tools.judge(
        ROUTER, question=state.question, history=state.substantive_turns, prior=memory["prior"], kinds=kinds
    )
    reply: RouterReply = judgement.value
    route, why = str(reply.route), reply.reasoning
    judge = StepJudge(by=judgement.by, trouble=judgement.fallback_reason)
    by_rule, by_code, but = judgement.by != "model", judge.replace(by="code"), ""
    if reply.asks_nothing:
        route = "DIRECT_ANSWER"
    elif by_rule and kinds and is_facility_follow_up(turns, state.question, facilities):
        route, why, judge = "LOCATION_SEARCH", "It continues the facility search before it.", by_code
    elif route == "LOCATION_SEARCH" and not kinds:
        but = "the library has no facilities"
    elif route == "DIRECT_ANSWER" and not memory["prior_docs"]:
        but = "no earlier answer cites a source"
    elif route not in ("RETRIEVE", "LOCATION_SEARCH") and not state.settings.conversational:
        but = "each question stands alone"
    if but:
        why = f"{why} But {but}, so the library is searched.".strip()
        route, judge = "RETRIEVE", by_code
    asks_back = reply.clarifying_question.strip() if route == "ASK_CLARIFICATION" else ""
    change: Change = {
        **memory,
        "asked": state.question,
        "route_decision": route,
        "route_reasoning": why,
        "speakers": {"router": judge},
        "needs_clarification": asks_back or None,
        "asks_nothing": reply.asks_nothing,
    }
    if route == "DIRECT_ANSWER" and not reply.asks_nothing:
        change["pages"] = reading.build_page_refs(memory["prior_docs"], tools.step, "an earlier turn")
        if by_rule and is_bare_repeat_request(state.question):
            answered = (turn.asked for turn in turns if turn.answer and turn.answer.sentences)
            change["asked"] = next(answered, state.question)
    return change, STEP_BY_ROUTE[route]


def rewrite(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Make the turn a question that stands alone; passages and drafts are measured by it from now on."""
    made = _rewrite_query(state, tools, "")
    made = made.replace(repeats=reading.has_same_words(made.query, [state.question]))
    return {"rewrites": [made], "asked": made.query, "rewritten_query": made.query}, "retrieve"


def rewrite_retry(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Too little was found: search in other words."""
    found = format_count(len(state.own.retrieved_docs), "passage")
    return _retry(state, tools, f"only {state.own.relevant_count} of {found} found were relevant"), "retrieve"


def rewrite_final(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """The draft was not grounded: search from another angle."""
    why = f"the drafted answer was not grounded: {explain_ungrounded(state)}"
    return {**_retry(state, tools, why), "draft": None}, "retrieve"


def _retry(state: ChatRun, tools: RunContext, why: str) -> Change:
    """The change of a search in other words. When there are none, no further retry is made."""
    made = _rewrite_query(state, tools, why)
    if reading.has_same_words(made.query, state.own.queries):
        return {"rewrites": [made.replace(repeats=True)], "retry_count": MAX_RETRIES}
    return {"rewrites": [made], "rewritten_query": made.query, "retry_count": state.own.retry_count + 1}


def _rewrite_query(state: ChatRun, tools: RunContext, angle: str) -> QueryRewrite:
    """The turn in other words. A model that repeats a search, or drops a part of the turn, hears so once;
    then the turn stays as it was typed."""
    question = " ".join([state.question, *(note.text for note in state.notes), *state.own.responses])
    tried = list(dict.fromkeys(state.own.queries))

    def check(reply: RewriteReply) -> list[str]:
        """What is wrong with a rewritten turn, for its writer."""
        if angle and tried:
            is_same = reading.has_same_words(reply.query, tried)
            told = "It has only the words of a search that was made before: use other words."
            return [told] if is_same else []
        parts = split_compound_question(question)
        if len(split_compound_question(reply.query)) >= len(parts):
            return []
        return [f"The turn asks {len(parts)} things, and the query asks fewer: keep them all."]

    judgement = tools.judge(
        REWRITE,
        check=check,
        question=question,
        history=state.substantive_turns,
        angle=angle,
        tried=tried,
    )
    reply: RewriteReply = judgement.value
    made = QueryRewrite(
        step=tools.step,
        query=reply.query.strip() or state.asked or state.question,
        why=angle,
        by=judgement.by,
        trouble=judgement.fallback_reason,
    )
    if judgement.problems and not angle:
        return made.replace(query=question, by="code")
    return made


def grade(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Score the relevance of each passage that was not graded before, all in one call."""
    question, own = reading.standalone_question(state), state.own
    passages = reading.score_passages(tools, question, own.retrieved_docs)
    grades = own.grades if own.graded_question == question else {}
    judge = own.speakers.get("grade", StepJudge())
    if new := [passage for passage in passages if passage.id not in grades]:
        judgement = tools.judge(GRADE, question=question, passages=new)
        judge = StepJudge(by=judgement.by, trouble=judgement.fallback_reason)
        ids = {passage.id for passage in new}
        grades = grades | {
            grade.passage_id: PassageGrade(
                score=round(grade.score, 4), reason=grade.reason, answers_alone=grade.answers_alone
            )
            for grade in judgement.value.grades
            if grade.passage_id in ids
        }
    graded = [grades.get(passage.id, PassageGrade()) for passage in passages]
    relevant = [grade for grade in graded if grade.score >= MIN_RELEVANT_SCORE]
    one_passage = state.settings.chat_one_passage and any(grade.answers_alone for grade in relevant)
    change = {
        "doc_relevance_scores": [grade.score for grade in graded],
        "grades": grades,
        "graded_question": question,
        "speakers": {"grade": judge},
    }
    if len(relevant) >= MIN_RELEVANT_PASSAGES or one_passage or not state.settings.conversational:
        return change, "generate"
    return change, "rewrite_retry" if own.retry_count < MAX_RETRIES else "generate_caveat"


def generate(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Write a draft from the passages found, or from those that earlier answers cite; none to small talk. In
    one pass it is the answer."""
    if state.own.asks_nothing:
        return {}, "validate"
    passages = _load_retrieved(state, tools)
    if not state.own.retrieved_docs:
        question = reading.standalone_question(state)
        passages = reading.score_passages(tools, question, state.own.prior_docs)
    change = write_draft(state, tools, passages)
    if state.settings.conversational:
        return change, "validate"
    now, draft = state_after(state, change), change["draft"]
    if draft.sentences:
        return record_answer(build_answer(now, tools), change), "end"
    why = explain_empty_draft(draft) if draft.drafted else "Nothing in the library answers this question."
    return {**change, "answers": [build_refusal(now, tools, "not_covered", why)]}, "end"


def generate_caveat(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Write a best effort from too few relevant passages, with a caveat."""
    caveat = CAVEATS[min(state.own.relevant_count, len(CAVEATS) - 1)]
    return write_draft(state, tools, _load_retrieved(state, tools), caveat=caveat), "validate"


def _load_retrieved(state: ChatRun, tools: RunContext) -> list[Passage]:
    """The passages that the writer is shown: those that a model graded as relevant, or all in one pass and
    where rules scored them."""
    own = state.own
    passages = reading.load_passages(tools, own.retrieved_docs, own.doc_relevance_scores)
    if own.speakers.get("grade", StepJudge()).by != "model" or not state.settings.conversational:
        return passages
    return [passage for passage in passages if passage.score >= MIN_RELEVANT_SCORE]


def validate(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Check that the draft is grounded in its quotes and answers. When the run must end, answer with what
    there is."""
    if state.own.asks_nothing and state.own.draft is None:
        reply = answer_small_talk(state, tools.step, SMALL_TALK_REPLY)
        return {"answers": [reply], "stop_reason": "enough"}, "end"
    if state.stop_reason in ("budget", "asked"):  # the supported part of a draft that was not rejected
        written, groundings = state.own.draft, state.own.groundings
        is_rejected = bool(written and groundings and groundings[-1].step > written.step)
        backed = [sentence for sentence in written.sentences if sentence.backed] if written else []
        if written is None or is_rejected or not backed:
            text = f"No answer is given: {state.why_stopped}."
            return {"answers": [build_refusal(state, tools, "not_covered", text)]}, "end"
        caveat = written.caveat or f"It was written before its checks were finished: {state.why_stopped}."
        kept = written.replace(sentences=backed, caveat=caveat)
        now = state_after(state, {"draft": kept})
        return {**record_answer(build_answer(now, tools)), "draft": kept}, "end"
    grounding, draft = check_grounding(state, tools)
    if grounding.grounded:
        now = state_after(state, {"draft": draft})
        change = record_answer(build_answer(now, tools))
        return {**change, "groundings": [grounding], "draft": draft, "stop_reason": "enough"}, "end"
    can_retry = state.own.retry_count < MAX_RETRIES
    return {"groundings": [grounding]}, "rewrite_final" if can_retry else "clarify_final"


def clarify(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Ask the person what is meant: what the router asks, if it asked anything."""
    why = state.own.route_reasoning or "It is not clear what is meant."
    return ask_for_clarification(state, tools, why=why, reason="needs_clarification"), "respond"


def clarify_final(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Stop searching, say what happened (nothing was found, or a draft was refused), and ask the person."""
    searches = format_count(len(set(state.own.queries)), "search", "different searches")
    why = f"I could not find an answer to this in the library ({searches})."
    if any(grounding.drafted for grounding in state.own.groundings):
        why = f"An answer was drafted after {searches}, but its check refused it: {explain_ungrounded(state)}"
    return ask_for_clarification(state, tools, why=why, reason="not_covered"), "respond"


def describe_step(name: str, change: Change) -> str:
    """A step in a line for a person, "" when it has nothing worth reporting."""
    told, judged = "", find_judge(name, change)
    if name == "router" and change.get("route_decision"):
        told = " — ".join(filter(None, [change["route_decision"], change.get("route_reasoning")]))
    elif change.get("rewrites"):
        is_retry, repeats = bool(judged["why"]), judged["repeats"]
        told = f"{'in other words' if is_retry else 'made whole'}: {judged['query']}"
        if repeats:
            told = "no other words were found" if is_retry else "it stays as it was typed"
    elif name == "retrieve" and "retrieved_docs" not in change:
        return "no further search"
    elif name == "retrieve":
        asked, method = "”, “".join(change["queries"]), str(change["searched_by"]).partition(".")[0]
        told = f"searched for “{asked}”: {format_count(len(change['retrieved_docs']), 'passage')}. {method}."
    elif name == "grade":
        scores = change["doc_relevance_scores"]
        relevant = sum(score >= MIN_RELEVANT_SCORE for score in scores)
        told = f"{relevant} of {format_count(len(scores), 'passage')} relevant"
    elif change.get("groundings"):
        told = f"{'grounded' if judged['grounded'] else 'not grounded'}: {judged['reason']}"
    elif name.startswith("generate") and change.get("draft"):
        left_out = f", left out {len(judged['left_out'])}" if judged["left_out"] else ""
        told = f"drafted {format_count(len(judged['sentences']), 'sentence')}{left_out}. {judged['caveat']}"
    elif change.get("responses"):
        told = f"you answered: “{change['responses'][-1]}”"
    elif change.get("located"):
        told = f"found {format_count(len(change['located']['rows']), 'place')}"
    return f"{told}{' (by rule: ' + judged['trouble'] + ')' if judged.get('trouble') else ''}".strip()


def find_judge(name: str, change: Change) -> Mapping[str, Any]:
    """What a step's change holds of the judgement it made, with who made it (`by`, `trouble`)."""
    last = [*change.get("rewrites", []), *change.get("groundings", [])][-1:] or [change.get("draft") or {}]
    spoken: Mapping[str, Any] = change.get("speakers", {}).get(name, last[0])
    return spoken
