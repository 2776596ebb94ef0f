"""The `chat` flow: talk with the library, a run a turn; with CONVERSATIONAL_MODE=false in one pass."""

from __future__ import annotations

from agent.engine.loop import Flow
from agent.flows.chat import steps
from agent.flows.chat.places import find_facilities
from agent.flows.chat.retrieve import retrieve
from agent.flows.chat.state import ChatState
from agent.types import Edge, Status

CHAT = Flow(
    name="chat",
    first_step="router",
    own_state=ChatState,
    steps={
        "router": steps.router,
        "rewrite": steps.rewrite,
        "retrieve": retrieve,
        "read_document": steps.read_document,
        "grade": steps.grade,
        "generate": steps.generate,
        "generate_caveat": steps.generate_caveat,
        "validate": steps.validate,
        "rewrite_retry": steps.rewrite_retry,
        "rewrite_final": steps.rewrite_final,
        "clarify": steps.clarify,
        "clarify_final": steps.clarify_final,
        "location": find_facilities,
    },
    rest_statuses={"respond": Status.WAITING, "end": Status.DONE},
    write_up_step="validate",
    reentry_step="rewrite",
    describe_step=steps.describe_step,
    edges=(
        *(Edge(start="router", end=step, label=route) for route, step in steps.STEP_BY_ROUTE.items()),
        Edge(start="read_document", end="generate"),
        Edge(start="rewrite", end="retrieve"),
        Edge(start="clarify", end="retrieve", label="user responds", rest="respond"),
        Edge(start="retrieve", end="grade"),
        Edge(start="grade", end="generate", label="≥3 relevant"),
        Edge(start="grade", end="rewrite_retry", label="<3 & retry<2"),
        Edge(start="grade", end="generate_caveat", label="<3 & retry≥2"),
        Edge(start="rewrite_retry", end="retrieve"),
        Edge(start="generate", end="validate"),
        Edge(start="generate", end="end", label="CONVERSATIONAL_MODE=false, or no model"),
        Edge(start="generate_caveat", end="validate"),
        Edge(start="validate", end="end", label="yes"),
        Edge(start="validate", end="rewrite_final", label="no & retry<2"),
        Edge(start="validate", end="clarify_final", label="no & retry≥2"),
        Edge(start="rewrite_final", end="retrieve"),
        Edge(start="clarify_final", end="retrieve", label="user responds", rest="respond"),
        Edge(start="location", end="end"),
    ),
)
