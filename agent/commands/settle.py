"""`conflicts` and `settle`: what the sources of a run disagree on, and what a person rules on it. Knows options and wording.

Exit code 0: told, or ruled and the answer written anew where there was one; 2: wrong usage, no such run or conflict.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from agent import settling as doors
from agent.commands.telling import say, tell
from agent.errors import UsageError
from agent.flows import settling
from agent.flows.state import Research
from agent.types import Conflict, Status
from agent.workbench import Workbench


def add_conflicts(parser: argparse.ArgumentParser) -> None:
    """The options of `conflicts`."""
    parser.add_argument("run", metavar="RUN")
    parser.add_argument("--json", action="store_true", help="tell them as JSON")


def run_conflicts(options: argparse.Namespace) -> int:
    """List the conflicts of a run; returns the exit code."""
    state = Workbench().view(options.run).state
    known = settling.shown(state)
    if options.json:
        tell(json.dumps([record(conflict, state) for conflict in known], ensure_ascii=False, indent=1))
        return 0
    for conflict in known:
        for line in lines(conflict, state):
            tell(line)
    if not known:
        tell("No conflicts found.")
    return 0


def lines(conflict: Conflict, state: Research) -> list[str]:
    """A conflict for a person."""
    told = [f"{conflict.id}  {conflict.about}: {conflict.stands}"]
    for side in settling.sides(conflict, state.facts):
        since = f", since {side.earliest[:10]}" if side.earliest else ""
        told.append(f"  {'*' if side.chosen else '-'} {side.value}: {', '.join(side.sites)} ({side.counted}{since})")
    return told


def record(conflict: Conflict, state: Research) -> dict[str, Any]:
    """A conflict as JSON."""
    found = settling.sides(conflict, state.facts)
    kept = conflict.model_dump(mode="json", exclude={"values", "step", "found_by"})
    return {**kept, "values": [
        {"text": side.value, "chosen": side.chosen, "sites": side.sites, "independent": side.voices, "facts": [fact.id for fact in side.facts],
         "earliest": side.earliest, "latest": side.latest}
        for side in found
    ]}  # fmt: skip


def add_settle(parser: argparse.ArgumentParser) -> None:
    """The options of `settle`."""
    parser.add_argument("run", metavar="RUN")
    parser.add_argument("conflict", metavar="CONFLICT", help="its id, or the beginning of it; `conflicts RUN` lists them")
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
        doors.look(bench, options.run, options.conflict, options.look)
    else:
        ruling: settling.Ruling = "take" if options.take is not None else "both" if options.both else "neither" if options.neither else "open"
        doors.settle(bench, options.run, options.conflict, ruling, value=options.take or "", because=options.because)
    view = bench.view(options.run)
    if view.run.status is Status.RUNNING:
        bench.drive(options.run)
    view = bench.view(options.run)
    if view.run.error:
        say(view.run.error)
    tell(view.state.answer.text if view.state.answer else "There is no answer yet.")
    return 1 if view.run.status is Status.FAILED else 0
