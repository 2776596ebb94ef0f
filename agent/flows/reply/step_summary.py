"""A step of `reply` in a line for a person."""

from __future__ import annotations

from typing import Any

from agent.engine.state import Change


def describe_step(name: str, change: Change) -> str:
    """The line, "" when the step has nothing worth reporting."""
    if name == "gate" and (gating := change.get("gating")):
        return f"gate: {'answerable' if gating['should_reply'] else 'not answerable'} — {gating['reasoning']}"
    if name == "select" and (chosen := change.get("selection")):
        return _describe_selection(chosen, change.get("refusals", []))
    if name == "load":
        loaded = [
            f"{source['source_id']}: {source['detail'] or format(source['characters'], ',') + ' characters'}"
            for source in change["loaded"]
        ]
        return f"load: {'; '.join(loaded)}"
    if name == "write":
        left_out = len(change.get("left_out", []))
        return f"write: {len(change.get('draft', ''))} characters, {left_out} sentences left out"
    if name == "verify" and (check := change.get("verification")):
        return f"verify: {'approved' if check['verification'] else 'rejected'} — {check['reasoning']}"
    return ""


def _describe_selection(chosen: dict[str, Any], refusals: list[dict[str, Any]]) -> str:
    total = chosen["entries"]
    shown = f"{len(chosen['shown'])} of {total}" if chosen["prefiltered"] else str(total)
    names = ", ".join(chosen["selected_source_ids"]) or "none"
    refused = "".join(f"\n       refused: {refusal['what']}: {refusal['why']}" for refusal in refusals)
    return f"select: {names} (of {shown} in the index) — {chosen['reasoning']}{refused}"
