"""`batch`: many questions from a table, asked side by side within a budget.

Exit codes: 0 every row that could be asked came to an answer, 1 some did not (stopped, budget used up,
failed), 2 wrong usage."""

from __future__ import annotations

import signal
import threading
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from agent.actions import validation
from agent.batch import csv_input, jobs
from agent.batch.jobs import BatchStatus
from agent.cli.options import (
    ALLOW,
    MODEL,
    SEARCH_SOURCES,
    WORLD,
    Option,
    amount,
    command,
    file_option,
    flag,
    limit,
    option,
    read_settings,
)
from agent.cli.output import check_network, read_file, write_file, write_stderr, write_stdout
from agent.engine.run_settings import normalize_settings
from agent.errors import UsageError
from agent.text.plurals import clip
from agent.types import BatchBudget, RowState
from agent.workbench import Workbench

MAX_QUESTION_CHARS = 60
"""Characters of a question in a line."""
PLAIN = BatchBudget()


def _budget(spec: str, help: str, field: str, type: Callable[[str], float] = int) -> Option:
    told = f"{help} (new batch: {getattr(PLAIN, field):,.0f})"
    return option(spec, told, None, dest=f"batch.{field}", type=type)


def apply_budget(args: Namespace, budget: BatchBudget) -> BatchBudget:
    """The budget of a batch with the options that were given. Raises UsageError."""
    given = {name: getattr(args, f"batch.{name}") for name in BatchBudget.model_fields}
    changed = budget.model_copy(update={name: value for name, value in given.items() if value is not None})
    jobs.check_budget(changed)
    return changed


@command(
    file_option("file FILE.csv", "a table with a column “question”; none: list the batches", nargs="?"),
    file_option("--out FILE", "where to write the answers [default: stdout]"),
    flag("--json", "write JSON instead of CSV", dest="as_json"),
    option("--resume ID", "continue a batch; failed rows are tried again"),
    _budget("--side-by-side N", "runs at the same time", "side_by_side"),
    _budget("--max-calls N", "model calls of all rows", "max_calls"),
    _budget("--max-tokens N", "model tokens of all rows", "max_tokens"),
    _budget("--max-cost USD", "cost of all rows", "max_cost_usd", amount),
    _budget("--max-minutes MIN", "working time of all rows", "max_minutes", amount),
    WORLD,
    MODEL,
    limit("--max-steps N", "searches and page visits a row", "max_steps"),
    limit("--max-pages N", "pages read a row", "max_pages"),
    ALLOW,
    *SEARCH_SOURCES,
)
def batch(args: Namespace) -> int:
    """Ask all rows, write the table; returns the exit code."""
    file, resume = args.file, args.resume
    if not file and not resume:
        return _list_batches(Workbench())
    if file and resume:
        raise UsageError("name a file to begin, or --resume ID to go on, not both")
    settings = read_settings(args)
    bench, stopping = Workbench(), threading.Event()
    with _stop_on_interrupt(stopping):
        if file:
            settings = normalize_settings(settings)
            validation.check_sources(settings)
            sheet = csv_input.read_sheet(read_file(file), settings)
            check_network(bench, settings.world, jobs.list_flows(sheet.rows, settings))
            batch_id = jobs.create(bench, file.stem, sheet, settings, apply_budget(args, PLAIN))
            write_stderr(f"batch {batch_id}: {sheet.summary}, {sheet.question_count} to ask")
            for remark in sheet.remarks:
                write_stderr(f"  {remark}")
        else:
            known = jobs.get_status(bench, resume)
            batch_id, former = known.batch.id, known.batch.allowance
            check_network(
                bench, known.batch.settings.world, jobs.list_flows(known.rows, known.batch.settings)
            )
            changed = apply_budget(args, former)
            jobs.resume(bench, batch_id, changed if changed != former else None, failed=True)
            done = f"{known.state_counts['done']} of {len(known.rows)} rows are done"
            write_stderr(f"batch {batch_id}: {done}")
        shown: set[int] | None = None

        def tell(status: BatchStatus) -> None:
            nonlocal shown
            ended = {row.n: row for row in status.rows if row.state not in ("waiting", "running", "resting")}
            if shown is None:
                shown = set(ended) if status.usage.seconds else set()
            for n in sorted(set(ended) - shown):
                shown.add(n)
                row = ended[n]
                level = f" {row.confidence:.2f}" if row.confidence is not None and row.state == "done" else ""
                state = row.verdict if row.state == "done" else jobs.STATE_LABELS[row.state]
                why = f" ({clip(row.error or row.trouble)})" if row.error or row.trouble else ""
                told = f"row {n}: {state}{level}  {row.question[:MAX_QUESTION_CHARS]}{why}"
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
    counts, spent, batch = status.state_counts, status.usage, status.batch
    left: tuple[RowState, ...] = ("failed", "resting", "waiting", "refused")
    parts = [f"{counts['done']} done"] + [
        f"{counts[state]} {jobs.STATE_LABELS[state]}" for state in left if counts[state]
    ]
    cost = "cost unknown" if spent.cost_usd is None else f"${spent.cost_usd:.4f}"
    tokens = f"{spent.prompt_tokens + spent.completion_tokens:,} tokens"
    write_stderr(
        f"{', '.join(parts)}; {spent.llm_calls} calls, {tokens}, {cost}, {spent.seconds:.0f} s of work"
    )
    is_unfinished = bool(counts["waiting"] or counts["resting"] or counts["failed"])
    resume = f"./touchstone batch --resume {batch.id}"
    if batch.state == "spent":
        used = status.exhausted_budget or "see the table"
        write_stderr(f"the budget is used up: {used}. Continue with more: {resume} --max-cost USD …")
    elif is_unfinished:
        write_stderr(f"continue with: {resume}")
    return 1 if is_unfinished or counts["running"] else 0


def _list_batches(bench: Workbench) -> int:
    batches = bench.store.batches.list_newest()
    for batch in batches:
        counts = jobs.get_status(bench, batch.id).state_counts
        done = f"{counts['done']:>4}/{sum(counts.values()):<4}"
        write_stdout(f"{batch.id}  {batch.created_at[:16]}  {batch.state:<8} {done}  {clip(batch.name)}")
    if not batches:
        write_stderr(
            "no batches yet: ./touchstone batch FILE.csv begins one; the file needs a column “question”"
        )
    return 0


@contextmanager
def _stop_on_interrupt(stopping: threading.Event) -> Iterator[None]:
    """While this lasts, the first Ctrl-C stops the batch in good order, the second one at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

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
