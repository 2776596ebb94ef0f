"""A step of `collect` in a line for a person."""

from __future__ import annotations

from agent.engine.run_state import RunState
from agent.engine.state import Change
from agent.flows.collect.state import CollectState


def describe_step(name: str, change: Change) -> str:
    """What was decided at a page and why, or how its fetch failed; "" when there is nothing to report."""
    if name == "intent" and change.get("intent"):
        intent = change["intent"]
        own = CollectState.model_validate({"intent": intent, "today": change.get("today", "")})
        period = own.describe_period(RunState(own=own))
        days = f", {period}" if period else ""
        section = f", {intent['target_section']}" if intent["target_section"] else ""
        without = f", without: {'; '.join(intent['leave_out'])}" if intent.get("leave_out") else ""
        fallback = f"\n       by rule: {change['intent_trouble']}" if change.get("intent_trouble") else ""
        return f"wanted: {intent['topic'] or 'what the start pages hold'}{section}{days}{without}{fallback}"
    actions = {
        node["url"]: f" {node['action']} ({node['confidence']:.2f})"
        for node in change.get("tree", [])
        if node.get("action")
    }
    lines = []
    for event in change.get("events", []):
        action = actions.get(event["url"], "") if event["name"] == "nav:decision" else ""
        lines.append(f"{event['name']}{action} {event['url']} — {event['text']}")
    return "\n       ".join(lines)
