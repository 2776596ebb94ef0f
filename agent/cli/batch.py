"""`batch`: many questions from a table, asked side by side within a budget.

Exit codes: 0 every row that could be asked came to an answer, 1 some did not (stopped, budget used up,
failed), 2 wrong usage."""

from __future__ import annotations

import signal
import threading
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager

from agent.actions import validation
from agent.batch import csv_input, jobs
from agent.batch.jobs import BatchStatus
from agent.cli import options
from agent.cli.options import command, file_option, flag, limit, option, read_settings
from agent.cli.output import check_network, read_file, write_file, write_stderr, write_stdout
from agent.engine.run_settings import normalize_settings
from agent.errors import UsageError
from agent.text.plurals import clip
from agent.types import BatchBudget, RowState
from agent.workbench import Workbench


@command(
    file_option("file FILE.csv", "a table with a column “question”; none: list the batches", nargs="?"),
    file_option("--out FILE", "where to write the answers [default: stdout]"),
    flag("--json", "write JSON instead of CSV", dest="as_json"),
    option("--resume ID", "continue a batch; failed rows are tried again"),
    limit("--side-by-side N", "runs at the same time", "batch.side_by_side"),
    limit("--max-calls N", "model calls of all rows", "batch.max_calls"),
    limit("--max-tokens N", "model tokens of all rows", "batch.max_tokens"),
    limit("--max-cost USD", "cost of all rows", "batch.max_cost_usd", float),
    limit("--max-minutes MIN", "working time of all rows", "batch.max_minutes", float),
    options.WORLD,
    options.MODEL,
    limit("--max-steps N", "searches and page visits a row", "max_steps"),
    limit("--max-pages N", "pages read a row", "max_pages"),
    options.ALLOW,
    *options.SEARCH_SOURCES,
)
def batch(args: Namespace) -> int:
    """Ask all rows, write the table; returns the exit code."""
    file, resume, bench, stopping = args.file, args.resume, Workbench(), threading.Event()
    if not file and not resume:
        batches = bench.store.batches.list_newest()
        for one in batches:
            counts = jobs.get_status(bench, one.id).state_counts
            done = f"{counts['done']:>4}/{sum(counts.values()):<4}"
            write_stdout(f"{one.id}  {one.created_at[:16]}  {one.state:<8} {done}  {clip(one.name)}")
        if not batches:
            begin = "./touchstone batch FILE.csv begins one; the file needs a column “question”"
            write_stderr(f"no batches yet: {begin}")
        return 0
    if file and resume:
        raise UsageError("name a file to begin, or --resume ID to go on, not both")
    typed = {name: getattr(args, f"batch.{name}") for name in BatchBudget.model_fields}
    given = {name: value for name, value in typed.items() if value is not None}
    shown: set[int] = set()
    with _stop_on_interrupt(stopping):
        if file:
            settings = normalize_settings(read_settings(args))
            validation.check_sources(settings)
            sheet = csv_input.read_sheet(read_file(file), settings)
            check_network(bench, settings.world, jobs.list_flows(sheet.rows, settings))
            batch_id = jobs.create(bench, file.stem, sheet, settings, BatchBudget().replace(**given))
            write_stderr(f"batch {batch_id}: {sheet.summary}, {sheet.question_count} to ask")
            for remark in sheet.remarks:
                write_stderr(f"  {remark}")
        else:
            known = jobs.get_status(bench, resume)
            batch_id, settings = known.batch.id, known.batch.settings
            check_network(bench, settings.world, jobs.list_flows(known.rows, settings))
            jobs.resume(
                bench, batch_id, known.batch.allowance.replace(**given) if given else None, failed=True
            )
            shown = {row.n for row in known.rows if row.state == "done"}
            write_stderr(f"batch {batch_id}: {len(shown)} of {len(known.rows)} rows are done")

        def tell(status: BatchStatus) -> None:
            ended = [row for row in status.rows if row.state not in ("waiting", "running", "resting")]
            for row in ended:
                if row.n not in shown:
                    shown.add(row.n)
                    level = f" {row.confidence:.2f}" if row.confidence is not None else ""
                    state = f"{row.verdict}{level}" if row.state == "done" else jobs.STATE_LABELS[row.state]
                    why = f" ({clip(row.error or row.trouble)})" if row.error or row.trouble else ""
                    told = f"row {row.n}: {state}  {clip(row.question)}{why}"
                    write_stderr(f"  {len(shown):>3}/{len(status.rows)}  {told}")

        status = jobs.drive(bench, batch_id, tell, stopping)
    written = jobs.export_json if args.as_json else jobs.export_csv
    table = written(bench, batch_id).rstrip("\r\n")
    if args.out:
        write_file(args.out, table if args.as_json else f"\ufeff{table}")
    else:
        write_stdout(table)
    return _report_end(status)


def _report_end(status: BatchStatus) -> int:
    counts, spent = status.state_counts, status.usage
    left: tuple[RowState, ...] = ("failed", "resting", "waiting", "refused")
    parts = [f"{counts[state]} {jobs.STATE_LABELS[state]}" for state in left if counts[state]]
    cost = "cost unknown" if spent.cost_usd is None else f"${spent.cost_usd:.4f}"
    tokens = f"{spent.prompt_tokens + spent.completion_tokens:,} tokens"
    done = ", ".join([f"{counts['done']} done", *parts])
    write_stderr(f"{done}; {spent.llm_calls} calls, {tokens}, {cost}, {spent.seconds:.0f} s of work")
    resume = f"./touchstone batch --resume {status.batch.id}"
    is_unfinished = bool(counts["waiting"] or counts["resting"] or counts["failed"])
    if status.batch.state == "spent":
        used = status.exhausted_budget or "see the table"
        write_stderr(f"the budget is used up: {used}. Continue with more: {resume} --max-cost USD …")
    elif is_unfinished:
        write_stderr(f"continue with: {resume}")
    return 1 if is_unfinished or counts["running"] else 0


@contextmanager
def _stop_on_interrupt(stopping: threading.Event) -> Iterator[None]:
    """While this lasts, the first Ctrl-C stops the batch in good order, the second one at once."""

    def interrupt(_number: int, _frame: object) -> None:
        if stopping.is_set():
            raise KeyboardInterrupt
        write_stderr("stopping: the running rows rest at their current step …")
        stopping.set()

    previous = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
