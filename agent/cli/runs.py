"""`runs`: list the runs, newest first."""

from __future__ import annotations

from argparse import Namespace

from agent.cli.options import option
from agent.cli.output import check_same_model, drive_and_print, write_stderr, write_stdout
from agent.errors import UsageError
from agent.types import Status
from agent.workbench import Workbench

ARGUMENTS = (
    option("--text TEXT", "only those with this text in the question"),
    option("--resume RUN", "go on with this run, which rests"),
    option("--model auto|keyless", "go on with the model set up now, or without one"),
)


def run(args: Namespace) -> int:
    """Print a line a run, or go on with one; returns the exit code."""
    bench = Workbench()
    if args.resume:
        return _resume(bench, args.resume, args.model)
    runs = bench.runs(text=args.text)
    for one in runs:
        level = f"{one.confidence:.2f}" if one.confidence is not None else "  – "
        state = f"{one.status.value:<8} {one.verdict or '-':<14} {level}"
        question = f"{'(imported) ' if one.imported else ''}{one.question[:100]}"
        write_stdout(f"{one.id}  {one.created_at[:16]}  {state}  {question}")
    if not runs:
        write_stderr('no runs yet: ./touchstone research "QUESTION" makes one')
    return 0


def _resume(bench: Workbench, run_id: str, model: str) -> int:
    view = bench.snapshot(run_id)
    if not model:
        check_same_model(bench, view.run.settings)
    elif model == "keyless":
        bench.act(run_id, "drop_model")
    elif bench.worker.detect_model() and (served_by := bench.worker.mark_model(view.run.settings)):
        bench.act(run_id, "keep_model", served_by=served_by)
    else:
        raise UsageError("no model is set up for it: type --model keyless to go on without one")
    if bench.snapshot(run_id).run.status is not Status.RUNNING:
        bench.act(run_id, "resume")
    return drive_and_print(bench, run_id, after=view.head)
