"""The simple chat: no memory, one pass. classify -> retrieve -> rerank -> generate, or classify -> location.

What CONVERSATIONAL_MODE=false starts instead of `chat`, for comparison and for small machines. It shares the
chat's state and steps where they are the same. The table closes the file."""

from __future__ import annotations

from agent.engine.context import RunContext
from agent.engine.loop import Flow
from agent.engine.state import Change, merge, shallow_copy, to_jsonable
from agent.flows.chat import retrieve as reading
from agent.flows.chat.places import find_facilities, list_kinds, load_facilities
from agent.flows.chat.state import ChatRun, ChatState, StepJudge
from agent.flows.chat.step_summary import describe_step
from agent.flows.chat.write import build_answer, build_refusal, write_draft
from agent.roles.chat.classify import CLASSIFY
from agent.roles.chat.rerank import RERANK
from agent.types import Edge, Status


def classify(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Information, or a place? The question is taken as it stands."""
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
    """Search the library with the question as it stands."""
    return reading.retrieve_passages(state, tools), "rerank"


def rerank(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Put the passages found in the order of their scores."""
    passages = reading.score_passages(tools, reading.standalone_question(state), state.own.retrieved_docs)
    if not passages:
        return {"doc_relevance_scores": []}, "generate"
    judgement = tools.judge(RERANK, question=reading.standalone_question(state), passages=passages)
    scores = {scored.passage_id: scored.score for scored in judgement.value.scores}
    docs = sorted(state.own.retrieved_docs, key=lambda doc: -scores.get(doc.id, 0.0))
    change = {
        "retrieved_docs": docs,
        "doc_relevance_scores": [round(scores.get(doc.id, 0.0), 4) for doc in docs],
        "speakers": {"rerank": StepJudge(by=judgement.by, trouble=judgement.fallback_reason)},
    }
    return change, "generate"


def generate(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Write the answer with its citations, once; or say that the library does not answer."""
    change = write_draft(
        state, tools, reading.load_passages(tools, state.own.retrieved_docs, state.own.doc_relevance_scores)
    )
    now = merge(shallow_copy(state), to_jsonable(change))
    if now.own.draft is None or not now.own.draft.sentences:
        return {
            **change,
            "answers": [
                build_refusal(now, tools, "not_covered", "Nothing in the library answers this question.")
            ],
        }, "end"
    return {**change, "answers": [build_answer(now, tools)]}, "end"


def location(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Find facilities of a kind, the nearest first."""
    return find_facilities(state, tools), "end"


CHAT_SIMPLE = Flow(
    name="chat_simple",
    first_step="classify",
    own_state=ChatState,
    steps={
        "classify": classify,
        "retrieve": retrieve,
        "rerank": rerank,
        "generate": generate,
        "location": location,
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
