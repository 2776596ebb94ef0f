"""How a command tells a person what happens: progress on stderr, a run's answer on stdout, files where asked.
Knows no command."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agent.errors import TouchstoneError, UsageError
from agent.export.plain import render_plain_text
from agent.types import Status
from agent.workbench import Workbench

StepFormatter = Callable[[str, dict[str, Any]], str]
"""A step's name and change -> one line, "" when there is nothing a person would want to know."""
NO_NETWORK = (
    "there is no network; try the bundled world with --world demo, or a folder of documents with --world DIR"
)


def write_stderr(line: str) -> None:
    """One line on stderr, unless that is closed."""
    if sys.stderr is not None:
        print(line, file=sys.stderr, flush=True)


def write_stdout(line: str, end: str = "\n") -> None:
    """What was asked for, on stdout."""
    print(line, end=end, flush=True)


def write_file(path: Path, text: str) -> None:
    """A file, its folder made. Raises UsageError when it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")
    except OSError as trouble:
        raise UsageError(
            f"{path} cannot be written: {trouble.strerror}; the run itself is kept, `export` writes it elsewhere"
        ) from trouble
    write_stderr(f"wrote {path}")


def check_network(bench: Workbench, world: str) -> None:
    """Raises TouchstoneError when the live web was asked for and there is no network."""
    if world == "live" and not bench.is_online():
        raise TouchstoneError(NO_NETWORK)


class RunProgress:
    """Tells each step of a run on stderr as it is recorded, and what the question was read as once the
    conversation made it whole."""

    def __init__(self, bench: Workbench, run_id: str, line: StepFormatter, after: int = 0) -> None:
        self.bench, self.run_id, self.format_step, self.last_step = bench, run_id, line, after
        self.read_as = ""

    def __call__(self) -> None:
        view = self.bench.snapshot(self.run_id)
        for step in view.steps[self.last_step + 1 :]:
            if told := self.format_step(step.name, step.change):
                write_stderr(f"  {step.n:>3}  {told}")
        self.last_step = len(view.steps) - 1
        if view.state.standalone_question not in ("", self.read_as):
            self.read_as = view.state.standalone_question
            write_stderr(f"       Read as: {self.read_as}")


def drive_run(
    bench: Workbench, run_id: str, options: argparse.Namespace, line: StepFormatter, *, after: int = 0
) -> int:
    """Drive a run to its answer, print that, and write what `--json` and `--markdown` ask for; returns the
    exit code."""
    write_stderr(f"run {run_id}")
    status = bench.drive(run_id, watch=RunProgress(bench, run_id, line, after))
    view = bench.snapshot(run_id)
    if status not in (Status.REVIEW, Status.DONE) or view.state.answer is None:
        write_stderr(
            f"touchstone: the run is {status.value}: {view.run.error or 'it did not reach an answer'}"
        )
        return 1
    print(render_plain_text(view.state.answer), flush=True)
    if options.json:
        write_file(options.json, json.dumps(bench.as_json(run_id), ensure_ascii=False, indent=1))
    if options.markdown:
        write_file(options.markdown, bench.markdown(run_id))
    return 0
