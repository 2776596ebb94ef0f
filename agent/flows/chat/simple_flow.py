"""The `chat_simple` flow, used when CONVERSATIONAL_MODE=false: no memory, one pass."""

from __future__ import annotations

from agent.answering.verdict import merge_changes, record_answer
from agent.engine.context import RunContext
from agent.engine.loop import Flow
from agent.engine.state import Change, state_after
from agent.flows.chat import retrieve as reading
from agent.flows.chat import steps
from agent.flows.chat.places import list_kinds, load_facilities
from agent.flows.chat.state import ChatRun, ChatState, StepJudge
from agent.flows.chat.step_summary import describe_step
from agent.flows.chat.write import build_answer, build_refusal, explain_empty_draft, write_draft
from agent.roles.chat import CLASSIFY, RERANK
from agent.types import Edge, Status


def classify(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Choose between information and places."""
    judgement = tools.judge(
        CLASSIFY, question=state.question, kinds=list_kinds(load_facilities(state, tools))
    )
    intent = judgement.value.intent
    change = {
        "original_query": state.question,
        "asked": state.question,
        "route_decision": intent,
        "route_reasoning": judgement.value.reasoning,
        "speakers": {"classify": StepJudge(by=judgement.by, trouble=judgement.fallback_reason)},
    }
    return change, "location" if intent == "location_search" else "retrieve"


def retrieve(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Search the library for the question."""
    return reading.retrieve_passages(state, tools), "rerank"


def rerank(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Sort the passages by relevance."""
    question = reading.standalone_question(state)
    passages = reading.score_passages(tools, question, state.own.retrieved_docs)
    if not passages:
        return {"doc_relevance_scores": []}, "generate"
    judgement = tools.judge(RERANK, question=question, passages=passages)
    scores = {grade.passage_id: round(grade.score, 4) for grade in judgement.value.grades}
    docs = sorted(state.own.retrieved_docs, key=lambda doc: -scores.get(doc.id, 0.0))
    change = {
        "retrieved_docs": docs,
        "doc_relevance_scores": [scores.get(doc.id, 0.0) for doc in docs],
        "speakers": {"rerank": StepJudge(by=judgement.by, trouble=judgement.fallback_reason)},
    }
    return change, "generate"


def generate(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Write the answer with its citations, or say that the library does not answer."""
    own = state.own
    change = write_draft(
        state, tools, reading.load_passages(tools, own.retrieved_docs, own.doc_relevance_scores)
    )
    now, draft = state_after(state, change), change["draft"]
    if draft.sentences:
        return merge_changes(change, record_answer(now, build_answer(now, tools))), "end"
    why = explain_empty_draft(draft) if draft.drafted else "Nothing in the library answers this question."
    answer = build_refusal(now, tools, "not_covered", why)
    return {**change, "answers": [answer]}, "end"


CHAT_SIMPLE = Flow(
    name="chat_simple",
    first_step="classify",
    own_state=ChatState,
    steps={
        "classify": classify,
        "retrieve": retrieve,
        "rerank": rerank,
        "generate": generate,
        "location": steps.location,
    },
    rest_statuses={"end": Status.DONE},
    write_up_step="generate",
    reentry_step="classify",
    describe_step=describe_step,
    edges=(
        Edge(start="classify", end="retrieve", label="information"),
        Edge(start="classify", end="location", label="location_search"),
        Edge(start="retrieve", end="rerank"),
        Edge(start="rerank", end="generate"),
        Edge(start="generate", end="end"),
        Edge(start="location", end="end"),
    ),
    decisions={"classify": "intent?"},
)
