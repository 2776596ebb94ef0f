"""The `reply` flow: answer a conversation from the library's index; in doubt, or after a failure, silence."""

from __future__ import annotations

from agent.engine.loop import Flow
from agent.engine.state import Change
from agent.flows.reply.state import ReplyState
from agent.flows.reply.steps import gate, load, select
from agent.flows.reply.write import verify, write
from agent.types import Edge, Status


def describe_step(name: str, change: Change) -> str:
    """A step in a line for a person; "" when it has nothing worth reporting."""
    if name == "gate" and (gating := change.get("gating")):
        return f"should it answer: {'yes' if gating['should_reply'] else 'no'} — {gating['reasoning']}"
    if name == "select" and (chosen := change.get("selection")):
        total, shown = chosen["entries"], len(chosen["shown"])
        names = ", ".join(chosen["selected_source_ids"]) or "none"
        refusals = change.get("refusals", [])
        refused = "".join(f"\n       refused: {refusal['what']}: {refusal['why']}" for refusal in refusals)
        of = f"{shown} of {total}" if shown else str(total)
        return f"sources chosen: {names} (of {of} in the index) — {chosen['reasoning']}{refused}"
    if name == "load":
        loaded = [
            f"{source['source_id']}: {source['detail'] or format(source['characters'], ',') + ' characters'}"
            for source in change["loaded"]
        ]
        return f"sources read: {'; '.join(loaded)}"
    if name == "write":
        left_out = len(change.get("left_out", []))
        return f"written: {len(change.get('draft', ''))} characters, {left_out} sentences left out"
    if name == "verify" and (check := change.get("verification")):
        return f"second check: {'approved' if check['verification'] else 'rejected'} — {check['reasoning']}"
    return ""


REPLY = Flow(
    name="reply",
    first_step="gate",
    own_state=ReplyState,
    steps={step.__name__: step for step in (gate, select, load, write, verify)},
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
