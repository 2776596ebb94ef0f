"""`conflicts`: list what the sources of a run disagree on."""

from __future__ import annotations

from typing import Any

from agent.actions import conflict_rulings
from agent.cli.options import AsJson, RunId
from agent.cli.output import write_json, write_stdout
from agent.engine.run_state import RunState
from agent.types import Conflict
from agent.workbench import Workbench


def run(run_id: RunId, *, as_json: AsJson = False) -> int:
    """Print the conflicts; returns the exit code."""
    state = Workbench().snapshot(run_id).state
    conflicts = conflict_rulings.active_conflicts(state)
    if as_json:
        write_json([conflict_record(conflict, state) for conflict in conflicts])
        return 0
    for conflict in conflicts:
        write_stdout("\n".join(format_conflict(conflict, state)))
    if not conflicts:
        write_stdout("No conflicts found.")
    return 0


def format_conflict(conflict: Conflict, state: RunState) -> list[str]:
    """A conflict for a person: its topic and status, then its sides."""
    lines = [f"{conflict.id}  {conflict.topic}: {conflict.status_text}"]
    for side in conflict_rulings.summarize_sides(conflict, state.facts):
        mark, since = "*" if side.is_chosen else "-", f", since {side.earliest[:10]}" if side.earliest else ""
        lines.append(f"  {mark} {side.value}: {', '.join(side.sites)} ({side.source_count_text}{since})")
    return lines


def conflict_record(conflict: Conflict, state: RunState) -> dict[str, Any]:
    """A conflict as JSON."""
    return {
        **conflict.model_dump(mode="json", exclude={"values", "step", "found_by"}),
        "values": [
            {
                "text": side.value,
                "chosen": side.is_chosen,
                "sites": side.sites,
                "independent": side.independent_sites,
                "facts": [fact.id for fact in side.facts],
                "earliest": side.earliest,
                "latest": side.latest,
            }
            for side in conflict_rulings.summarize_sides(conflict, state.facts)
        ],
    }
