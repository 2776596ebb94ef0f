"""The `reply` flow: answer a conversation from the library's index, or stay silent.

gate -> select -> load -> write -> verify -> replied. In doubt or after a failure the run ends silent; with a
model, no rule replaces a failed call.
"""

from __future__ import annotations

from agent.engine.loop import Flow
from agent.flows.reply import steps
from agent.flows.reply.state import ReplyState
from agent.flows.reply.step_summary import describe_step
from agent.types import Edge, Status

REPLY = Flow(
    name="reply",
    first_step="gate",
    own_state=ReplyState,
    steps={
        "gate": steps.gate,
        "select": steps.select,
        "load": steps.load,
        "write": steps.write,
        "verify": steps.verify,
    },
    rest_statuses={"replied": Status.DONE, "silent": Status.DONE},
    write_up_step="silent",
    reentry_step="gate",
    is_one_shot=True,
    fail_safe="silent",
    describe_step=describe_step,
    edges=(
        Edge(start="gate", end="silent", label="not answerable"),
        Edge(start="gate", end="select", label="answerable"),
        Edge(start="select", end="silent", label="no sources and no images"),
        Edge(start="select", end="write", label="no sources and images"),
        Edge(start="select", end="load"),
        Edge(start="load", end="write"),
        Edge(start="write", end="verify", label="if enabled"),
        Edge(start="write", end="replied", label="if disabled"),
        Edge(start="verify", end="replied", label="approved"),
        Edge(start="verify", end="silent", label="rejected"),
    ),
)
