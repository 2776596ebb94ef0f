"""The steps of `chat`: each returns a change and the name of the next step."""

from __future__ import annotations

from functools import partial

from agent.answering import fact_view
from agent.answering.claim_checks import FAILED_VERDICTS
from agent.answering.draft import ask_writer
from agent.answering.fact_view import list_parts
from agent.answering.passages import show_passages
from agent.answering.verdict import no_answer, record_answer
from agent.engine.context import RunContext
from agent.engine.state import Change, state_after
from agent.flows.chat import retrieve as reading
from agent.flows.chat.places import load_facilities
from agent.flows.chat.state import ChatRun, PassageGrade, QueryRewrite, StepJudge
from agent.flows.chat.write import (
    CAVEATS,
    NOT_COVERED,
    ask_for_clarification,
    build_answer,
    check_grounding,
    describe_journey,
    explain_empty_draft,
    explain_ungrounded,
    refuse,
    write_draft,
)
from agent.retrieval.scorer import CountedPassages, rank_passages
from agent.roles.chat import (
    GRADE,
    MIN_RELEVANT_SCORE,
    READ_SECTION,
    REWRITE,
    ROUTER,
    RewriteReply,
    RouterReply,
)
from agent.text.plurals import format_count
from agent.types import Passage

MIN_RELEVANT_PASSAGES = 3
"""Relevant passages from which an answer is written without another search."""
MAX_RETRIES = 2
"""Rewritten searches for one question."""
MAX_FOUND_TOLD = 6
"""Relevant passages that are told to whoever words another search."""
STEP_BY_ROUTE = {
    "DIRECT_ANSWER": "generate",
    "RETRIEVE": "retrieve",
    "REWRITE_THEN_RETRIEVE": "rewrite",
    "ASK_CLARIFICATION": "clarify",
    "LOCATION_SEARCH": "location",
    "READ_DOCUMENT": "read_document",
}


def router(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Recall the conversation, and choose the route of this turn; without a model the library is searched."""
    memory = reading.recall(state, tools)
    change: Change = {**memory, "asked": state.question}
    if not tools.has_model:
        why = "Without a model the library is searched for the question as it was typed."
        chosen = {"route_decision": "RETRIEVE", "route_reasoning": why}
        return {**change, **chosen, "speakers": {"router": StepJudge()}}, "retrieve"
    (_, kinds), documents = load_facilities(state, tools), reading.list_documents(state, tools)
    judgement = tools.judge(
        ROUTER,
        question=state.question,
        history=state.history,
        prior=memory["prior"],
        kinds=kinds,
        titles=[source.title or source.url for source in documents],
    )
    reply: RouterReply = judgement.value
    route: str = "DIRECT_ANSWER" if reply.asks_nothing else reply.route
    is_document = route == "READ_DOCUMENT" and 1 <= reply.document <= len(documents)
    is_direct = route == "DIRECT_ANSWER" and not reply.asks_nothing
    leans = route not in ("RETRIEVE", "LOCATION_SEARCH") and not reply.asks_nothing
    objections = {
        "the library has no facilities": route == "LOCATION_SEARCH" and not kinds,
        "it names no document of the library": route == "READ_DOCUMENT" and not is_document,
        "no earlier answer cites a source": is_direct and not memory["prior_docs"],
        "each question stands alone": leans and not state.settings.conversational,
    }
    why = fact_view.clean_message(state, reply.reasoning)
    judge = StepJudge(by=judgement.by, trouble=judgement.failure)
    if but := next((objection for objection, holds in objections.items() if holds), ""):
        why = f"{why} But {but}, so the library is searched.".strip()
        route, judge = "RETRIEVE", judge.replace(by="code")
    asks_back = reply.clarifying_question.strip() if route == "ASK_CLARIFICATION" else ""
    change |= {
        "route_decision": route,
        "route_reasoning": why,
        "speakers": {"router": judge},
        "needs_clarification": asks_back or None,
        "asks_nothing": reply.asks_nothing,
        "message": fact_view.clean_message(state, reply.message) if reply.asks_nothing else "",
        "document": documents[reply.document - 1].source_id if route == "READ_DOCUMENT" else "",
        "plan_parts": list_parts(reply.parts, state.question),
    }
    if is_direct and not but:
        change["pages"] = reading.build_page_refs(memory["prior_docs"], tools.step, "an earlier turn")
    return change, STEP_BY_ROUTE[route]


def rewrite(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Make the turn a question that stands alone; passages and drafts are measured by it from now on."""
    made, parts = _rewrite_query(state, tools)
    asked = {"asked": made.query, "rewritten_query": made.query, "plan_parts": list_parts(parts, made.query)}
    return {"rewrites": [made], "grades": {}, **asked}, "retrieve"


def rewrite_retry(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Too little was found: search in other words."""
    found = format_count(len(state.own.retrieved_docs), "passage")
    return _retry(state, tools, f"only {state.own.relevant_count} of {found} found were relevant"), "retrieve"


def rewrite_final(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Search from another angle for what the draft left open; what is right of it stays."""
    has_half = state.own.draft is not None and bool(state.own.draft.held)
    why = f"the drafted answer {'is not complete' if has_half else 'was not grounded'}: "
    change = _retry(state, tools, why + explain_ungrounded(state))
    return (change if has_half else {**change, "draft": None}), "retrieve"


def _retry(state: ChatRun, tools: RunContext, why: str) -> Change:
    made, _ = _rewrite_query(state, tools, why)
    return {"rewrites": [made], "rewritten_query": made.query, "retry_count": state.own.retry_count + 1}


def _rewrite_query(state: ChatRun, tools: RunContext, why: str = "") -> tuple[QueryRewrite, list[str]]:
    """The turn in other words, and its parts; `why` it is searched for once more."""
    relevant = _load_relevant(state, tools)[:MAX_FOUND_TOLD] if why else []
    judgement = tools.judge(
        REWRITE,
        question=" ".join([state.question, *(note.text for note in state.notes), *state.own.responses]),
        history=state.history,
        titles=[source.title or source.url for source in reading.list_documents(state, tools)],
        angle=why,
        tried=list(dict.fromkeys(state.own.queries)),
        found=[f"{doc.title} › {doc.heading}: {doc.text}" for doc in relevant],
    )
    reply: RewriteReply = judgement.value
    query = reply.query.strip() or state.asked or state.question
    made = QueryRewrite(step=tools.step, query=query, why=why, by=judgement.by, trouble=judgement.failure)
    return made, reply.parts


def read_document(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Read one document from end to end, its sections side by side: the passages with its main points."""
    page = tools.library.load(state.own.document)
    page_id, title = tools.store_page(page), page.title
    sections = reading.split_sections(page, page_id)
    asked = sections if len(sections) > 1 else []  # a short one is shown to the writer whole
    ask = partial(ask_writer, tools, READ_SECTION)
    read = tools.judge_side_by_side(
        [partial(ask, section, question=state.question, title=title, passages=section) for section in asked]
    )
    quoted = {quote.passage_id for reading in read for said in reading.value.answer for quote in said.quotes}
    docs = [p.ref for section in sections for p in section if not asked or p.id in quoted]
    failed = next((one.failure for one in read if one.failure), "")
    return {
        "retrieved_docs": docs,
        "doc_relevance_scores": [1.0] * len(docs),
        "pages": reading.build_page_refs(docs, tools.step, "library"),
        "searched_by": f"{title}, read from end to end in {format_count(len(sections), 'section')}.",
        "speakers": {"read_document": StepJudge(by="model", trouble=failed)},
    }, "generate"


def grade(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Score each passage that was not graded before, all in one call; without a model all are shown."""
    if not tools.has_model:
        return {}, "generate"
    question, own = reading.standalone_question(state), state.own
    passages = reading.load_passages(tools, own.retrieved_docs)
    grades, judge = own.grades, own.speakers.get("grade", StepJudge())
    if new := [passage for passage in passages if passage.id not in grades]:
        judgement = tools.judge(GRADE, question=question, passages=new)
        judge = StepJudge(by=judgement.by, trouble=judgement.failure)
        if judgement.by != "model":  # nobody graded: the writer is shown all
            return {"speakers": {"grade": judge}}, "generate"
        ids = {passage.id for passage in new}
        grades = grades | {
            grade.passage_id: PassageGrade.model_validate(grade.model_dump(exclude={"passage_id"}))
            for grade in judgement.value.grades
            if grade.passage_id in ids
        }
    graded = [grades.get(passage.id, PassageGrade()) for passage in passages]
    relevant = [grade for grade in graded if grade.score >= MIN_RELEVANT_SCORE]
    together = sum(grade.answers_together for grade in relevant)
    is_complete = any(grade.answers_alone for grade in relevant) or together > 1
    change = {
        "doc_relevance_scores": [grade.score for grade in graded],
        "grades": grades,
        "speakers": {"grade": judge},
    }
    is_enough = len(relevant) >= MIN_RELEVANT_PASSAGES or (state.settings.chat_one_passage and is_complete)
    if is_enough or not state.settings.conversational:
        return change, "generate"
    return change, "rewrite_retry" if own.retry_count < MAX_RETRIES else "generate_caveat"


def generate(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Write a draft from the passages found, or those that earlier answers cite; in one pass the answer."""
    if state.own.asks_nothing:
        return {}, "validate"
    if not tools.has_model:
        return _show_found(state, tools), "end"
    docs = state.own.retrieved_docs
    passages = _load_relevant(state, tools) if docs else reading.load_passages(tools, state.own.prior_docs)
    change = write_draft(state, tools, passages)
    if state.settings.conversational:
        return change, "validate"
    now, draft = state_after(state, change), change["draft"]
    if draft.held:
        return record_answer(build_answer(now, tools.step), change), "end"
    why = explain_empty_draft(draft) if draft.drafted else NOT_COVERED
    return {**change, "answers": [refuse(now, tools.step, "not_covered", why)]}, "end"


def generate_caveat(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Write a best effort from too few relevant passages, with a caveat."""
    caveat = CAVEATS[min(state.own.relevant_count, len(CAVEATS) - 1)]
    return write_draft(state, tools, _load_relevant(state, tools), caveat=caveat), "validate"


def _load_relevant(state: ChatRun, tools: RunContext) -> list[Passage]:
    """The relevant passages, the best grades first; all in one pass and where nobody graded."""
    own, is_graded = state.own, bool(state.own.doc_relevance_scores)
    passages = reading.load_passages(tools, own.retrieved_docs, own.doc_relevance_scores)
    passages.sort(key=lambda passage: -passage.score)
    if not is_graded or not state.settings.conversational:
        return passages
    return [passage for passage in passages if passage.score >= MIN_RELEVANT_SCORE]


def _show_found(state: ChatRun, tools: RunContext, why: str = "") -> Change:
    """The change of an answer without a model: the passages that fit best."""
    passages = reading.load_passages(tools, state.own.retrieved_docs or state.own.prior_docs)
    counts = tools.library.count_terms(state.full_question)
    ranked = rank_passages(state.full_question, passages, len(passages), counts)
    found = CountedPassages(ranked, counts)
    change, answer = show_passages(state, tools, found, caveat=why, journey=describe_journey(state))
    return record_answer(answer, change)


def validate(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Whether the draft is grounded and answers; when the run must end, answer with what there is."""
    own = state.own
    if own.asks_nothing and own.draft is None:
        reply = own.message or "What would you like to know?"
        said = no_answer(state, tools.step, "none", reply).replace(by="code")
        return {"answers": [said], "stop_reason": "enough"}, "end"
    if state.stop_reason in ("budget", "asked"):  # what its check found supported
        if not own.draft or not any(sentence.backed for sentence in own.draft.held):
            return _show_found(state, tools, f"It is not written up: {state.why_stopped}."), "end"
        caveat = own.draft.caveat or f"It was written before its checks were finished: {state.why_stopped}."
        change: Change = {"draft": own.draft.replace(caveat=caveat)}
        return record_answer(build_answer(state_after(state, change), tools.step), change), "end"
    was_drafted = any(grounding.drafted for grounding in own.groundings)
    can_search = own.retry_count < MAX_RETRIES and not was_drafted and not own.document
    grounding = check_grounding(state, tools.step, can_search=can_search)
    if grounding.grounded:
        change = record_answer(build_answer(state, tools.step))
        return {**change, "groundings": [grounding], "stop_reason": "enough"}, "end"
    can_retry = own.retry_count < MAX_RETRIES
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
    last = [*change.get("rewrites", []), *change.get("groundings", [])][-1:] or [change.get("draft") or {}]
    told, judged = "", change.get("speakers", {}).get(name, last[0])  # with who made it (`by`, `trouble`)
    if name == "router" and change.get("route_decision"):
        told = change.get("route_reasoning") or change["route_decision"]
    elif name == "read_document":
        told = change["searched_by"]
    elif change.get("rewrites"):
        told = f"{'in other words' if judged['why'] else 'made whole'}: {judged['query']}"
    elif name == "retrieve":
        asked, method = "”, “".join(change["queries"]), str(change["searched_by"]).partition(".")[0]
        told = f"searched for “{asked}”: {format_count(len(change['retrieved_docs']), 'passage')}. {method}."
    elif change.get("doc_relevance_scores"):
        scores = change["doc_relevance_scores"]
        relevant = sum(score >= MIN_RELEVANT_SCORE for score in scores)
        told = f"{relevant} of {format_count(len(scores), 'passage')} relevant"
    elif change.get("groundings"):
        told = f"{'grounded' if judged['grounded'] else 'not grounded'}: {judged['reason']}"
    elif name.startswith("generate") and change.get("draft"):
        failed = sum(said["check"] in FAILED_VERDICTS for said in judged["sentences"])
        told = f"drafted {format_count(len(judged['sentences']) - failed, 'sentence')}"
        told += f"{f', left out {failed}' if failed else ''}. {judged['caveat']}"
    elif change.get("responses"):
        told = f"you answered: “{change['responses'][-1]}”"
    elif change.get("located"):
        told = f"found {format_count(len(change['located']['rows']), 'place')}"
    return (
        f"{told}{' (the model failed: ' + judged['trouble'] + ')' if judged.get('trouble') else ''}".strip()
    )
