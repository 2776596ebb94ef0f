"""A step of `research` in a line for a person."""

from __future__ import annotations

from agent.answering.revision import state_understood
from agent.engine.state import Change
from agent.text.plurals import format_count
from agent.types import NoteReading, PlanPart, describe_action


def describe_step(name: str, change: Change) -> str:
    """The line, "" when the step has nothing worth reporting."""
    if name == "plan":
        fallback = f" (by rule: {change['plan_trouble']})" if change.get("plan_trouble") else ""
        return "; ".join(part["question"] for part in change.get("plan_parts", [])) + fallback
    if name == "decide" and (pending := change.get("pending")):
        refused = "".join(
            f"\n       refused: {refusal['what']}: {refusal['why']}" for refusal in change.get("refusals", [])
        )
        fallback = f" (by rule: {pending['trouble']})" if pending.get("trouble") else ""
        lines = [
            f"{describe_action(one['next_action'])} {one.get('query_or_url') or ''}".rstrip()
            + f" — {one.get('reasoning', '')}"
            for one in [pending, *pending.get("beside", [])]
        ]
        return "\n       ".join(lines) + fallback + refused
    if name in ("act", "search", "crawl") and change.get("actions"):
        return "; ".join(
            f"{done['outcome']}{': ' + done['detail'] if done['detail'] else ''}"
            + (f", {done['hits']} results" if done["hits"] else "")
            for done in change["actions"]
        )
    if name == "revise" and (read := change.get("readings")):
        plan = [PlanPart.model_validate(part) for part in change.get("plan_parts", [])]
        return state_understood(NoteReading.model_validate(read[-1]), plan)
    if name == "outline":
        return "; ".join(section["heading"] for section in change["outline"]["sections"])
    if name == "analyze" and (said := change.get("assessments")):
        count = sum(fact["verified"] and fact["step"] == said[-1]["step"] for fact in change["facts"])
        return format_count(count, "fact")
    return ""
