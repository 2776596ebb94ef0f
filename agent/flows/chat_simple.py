"""The simple chat: no memory, one pass. classify -> retrieve -> rerank -> generate, or classify -> location.

What CONVERSATIONAL_MODE=false starts instead of `chat`, for comparison and for small machines. It shares the chat's state and steps
where they are the same. The table closes the file.
"""

from __future__ import annotations

from agent.flows import chat_reading as reading
from agent.flows.chat_answer import concluded, refusal, written
from agent.flows.chat_location import facilities, kinds, locate
from agent.flows.chat_state import Chat, Spoken
from agent.flows.research import summary
from agent.loop import Flow
from agent.roles.classify import CLASSIFY
from agent.roles.rerank import RERANK
from agent.state import Change, fork, jsonable, merge
from agent.toolbox import Tools
from agent.types import Edge, Status


def classify(state: Chat, tools: Tools) -> tuple[Change, str]:
    """Information, or a place? The question is taken as it stands."""
    judgement = tools.judge(CLASSIFY, question=state.question, kinds=kinds(facilities(state, tools)))
    intent = judgement.value.intent
    change = {
        "original_query": state.question, "asked": state.question, "route_decision": intent, "route_reasoning": judgement.value.reasoning,
        "speakers": {"classify": Spoken(by=judgement.by, trouble=judgement.trouble)},
    }  # fmt: skip
    return change, "location" if intent == "location_search" else "retrieve"


def retrieve(state: Chat, tools: Tools) -> tuple[Change, str]:
    """Search the library with the question as it stands."""
    return reading.look_up(state, tools), "rerank"


def rerank(state: Chat, tools: Tools) -> tuple[Change, str]:
    """Put the passages found in the order of their scores."""
    passages = reading.counted(tools, reading.wanted(state), state.retrieved_docs)
    if not passages:
        return {"doc_relevance_scores": []}, "generate"
    judgement = tools.judge(RERANK, question=reading.wanted(state), passages=passages)
    scores = {scored.passage_id: scored.score for scored in judgement.value.scores}
    docs = sorted(state.retrieved_docs, key=lambda doc: -scores.get(doc.id, 0.0))
    change = {
        "retrieved_docs": docs, "doc_relevance_scores": [round(scores.get(doc.id, 0.0), 4) for doc in docs],
        "speakers": {"rerank": Spoken(by=judgement.by, trouble=judgement.trouble)},
    }  # fmt: skip
    return change, "generate"


def generate(state: Chat, tools: Tools) -> tuple[Change, str]:
    """Write the answer with its citations, once; or say that the library does not answer."""
    change = written(state, tools, reading.texts(tools, state.retrieved_docs, state.doc_relevance_scores))
    now = merge(fork(state), jsonable(change))
    if now.draft is None or not now.draft.sentences:
        return {**change, "answers": [refusal(now, tools, "not_covered", "Nothing in the library answers this question.")]}, "end"
    return {**change, "answers": [concluded(now, tools)]}, "end"


def location(state: Chat, tools: Tools) -> tuple[Change, str]:
    """Find facilities of a kind, the nearest first."""
    return locate(state, tools), "end"


CHAT_SIMPLE = Flow(
    name="chat_simple",
    first="classify",
    state=Chat,
    steps={"classify": classify, "retrieve": retrieve, "rerank": rerank, "generate": generate, "location": location},
    rests={"end": Status.DONE},
    on_budget="generate",
    again="classify",
    summary=summary,
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
