"""`conflicts` and `settle`: what the sources of a run disagree on, and what a person rules on it. Knows
options and wording.

Exit code 0: told, or ruled and the answer written anew where there was one; 2: wrong usage, no such run or
conflict."""

from __future__ import annotations

import argparse
import json
from typing import Any

from agent.actions import conflict_changes
from agent.actions import conflicts as doors
from agent.cli.output import write_stderr, write_stdout
from agent.engine.run_state import RunState
from agent.errors import UsageError
from agent.types import Conflict, Status
from agent.workbench import Workbench


def add_conflicts_options(parser: argparse.ArgumentParser) -> None:
    """The options of `conflicts`."""
    parser.add_argument("run", metavar="RUN")
    parser.add_argument("--json", action="store_true", help="tell them as JSON")


def run_conflicts(options: argparse.Namespace) -> int:
    """List the conflicts of a run; returns the exit code."""
    state = Workbench().snapshot(options.run).state
    known = conflict_changes.active_conflicts(state)
    if options.json:
        write_stdout(
            json.dumps([conflict_record(conflict, state) for conflict in known], ensure_ascii=False, indent=1)
        )
        return 0
    for conflict in known:
        for line in format_conflict(conflict, state):
            write_stdout(line)
    if not known:
        write_stdout("No conflicts found.")
    return 0


def format_conflict(conflict: Conflict, state: RunState) -> list[str]:
    """A conflict for a person."""
    told = [f"{conflict.id}  {conflict.topic}: {conflict.status_text}"]
    for side in conflict_changes.summarize_sides(conflict, state.facts):
        since = f", since {side.earliest[:10]}" if side.earliest else ""
        told.append(
            f"  {'*' if side.is_chosen else '-'} {side.value}: {', '.join(side.sites)} ({side.source_count_text}{since})"
        )
    return told


def conflict_record(conflict: Conflict, state: RunState) -> dict[str, Any]:
    """A conflict as JSON."""
    found = conflict_changes.summarize_sides(conflict, state.facts)
    kept = conflict.model_dump(mode="json", exclude={"values", "step", "found_by"})
    return {
        **kept,
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
            for side in found
        ],
    }


def add_settle_options(parser: argparse.ArgumentParser) -> None:
    """The options of `settle`."""
    parser.add_argument("run", metavar="RUN")
    parser.add_argument(
        "conflict", metavar="CONFLICT", help="its id, or the beginning of it; `conflicts RUN` lists them"
    )
    ruling = parser.add_mutually_exclusive_group(required=True)
    ruling.add_argument("--take", metavar="VALUE", help="this value holds")
    ruling.add_argument("--both", action="store_true", help="both hold")
    ruling.add_argument("--neither", action="store_true", help="neither holds")
    ruling.add_argument("--reopen", action="store_true", help="open it again")
    ruling.add_argument("--look", metavar="QUERY", help="search for this, to settle it")
    parser.add_argument("--because", default="", metavar="REASON", help="why; it stands in the answer")


def run_settle(options: argparse.Namespace) -> int:
    """Rule on a conflict, or look for what would settle it; returns the exit code."""
    bench = Workbench()
    if options.look is not None:
        if not options.look.strip():
            raise UsageError("--look needs the words to search for")
        doors.request_search(bench, options.run, options.conflict, options.look)
    else:
        ruling: conflict_changes.Ruling = (
            "take"
            if options.take is not None
            else "both"
            if options.both
            else "neither"
            if options.neither
            else "open"
        )
        doors.resolve_conflict(
            bench, options.run, options.conflict, ruling, value=options.take or "", because=options.because
        )
    view = bench.snapshot(options.run)
    if view.run.status is Status.RUNNING:
        bench.drive(options.run)
    view = bench.snapshot(options.run)
    if view.run.error:
        write_stderr(view.run.error)
    write_stdout(view.state.answer.text if view.state.answer else "There is no answer yet.")
    return 1 if view.run.status is Status.FAILED else 0
