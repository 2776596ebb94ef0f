"""`batch`: many questions from a table, asked side by side within a budget. Knows the options and how
progress reads in a line.

Exit codes: 0 every row that could be asked came to an answer, 1 some did not (stopped, budget used up,
failed), 2 wrong usage."""

from __future__ import annotations

import argparse
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent.actions import validation
from agent.batch import csv_input, jobs
from agent.batch.jobs import BatchStatus
from agent.cli import budget_options, domain_options, source_options
from agent.cli.output import check_network, write_file, write_stderr, write_stdout
from agent.engine.run_settings import normalize_settings
from agent.errors import UsageError
from agent.types import BatchBudget, BatchRow, RowState, Settings
from agent.workbench import Workbench

MAX_QUESTION_CHARS = 60
"""Characters of a question in a line."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    allowed, plain = BatchBudget(), Settings()
    parser.add_argument(
        "file",
        metavar="FILE.csv",
        type=Path,
        nargs="?",
        help="a table with a column “question”; none: list the batches there are",
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="where the table of answers goes (default: stdout)"
    )
    parser.add_argument("--json", action="store_true", help="the table as JSON instead of CSV")
    parser.add_argument(
        "--resume",
        default="",
        metavar="ID",
        help="go on with a batch where it stood; failed rows are tried again",
    )
    parser.add_argument(
        "--side-by-side",
        type=int,
        metavar="N",
        help=f"runs at the same time (default: {allowed.side_by_side})",
    )
    parser.add_argument(
        "--max-calls",
        type=int,
        metavar="N",
        help=f"model calls of all rows together (default: {allowed.max_calls:,})",
    )
    parser.add_argument(
        "--max-tokens",
        type=int,
        metavar="N",
        help=f"tokens of all rows together (default: {allowed.max_tokens:,})",
    )
    parser.add_argument(
        "--max-cost",
        type=budget_options.parse_amount,
        metavar="USD",
        help=f"money for all rows together (default: {allowed.max_cost_usd:g})",
    )
    parser.add_argument(
        "--max-minutes",
        type=budget_options.parse_amount,
        metavar="MIN",
        help=f"working time, all rows summed (default: {allowed.max_minutes:g})",
    )
    parser.add_argument(
        "--world",
        default="live",
        metavar="live|demo|DIR",
        help="where to search and read (default: live, the web)",
    )
    parser.add_argument(
        "--model",
        default="auto",
        metavar="keyless|NAME",
        help="the model (default: the configured one, else keyless)",
    )
    parser.add_argument(
        "--max-steps",
        type=int,
        default=plain.max_steps,
        metavar="N",
        help="searches and page visits a row (default: %(default)s)",
    )
    parser.add_argument(
        "--max-pages",
        type=int,
        default=plain.max_pages,
        metavar="N",
        help="pages read a row (default: %(default)s)",
    )
    domain_options.add_allow_option(parser, [], "default: all")
    source_options.add_options(parser, engines=True)


def run(options: argparse.Namespace) -> int:
    """Ask all rows, write the table; returns the exit code."""
    if not options.file and not options.resume:
        return _list_batches(Workbench())
    if options.file and options.resume:
        raise UsageError("name a file to begin, or --resume ID to go on, not both")
    bench, stopping = Workbench(), threading.Event()
    with _stop_on_interrupt(stopping):
        batch_id = _resume_batch(bench, options) if options.resume else _start_batch(bench, options)
        now = jobs.drive(bench, batch_id, BatchProgress(), stopping)
    table = (
        jobs.export_json(bench, batch_id) if options.json else jobs.export_csv(bench, batch_id).rstrip("\r\n")
    )
    if options.out:
        write_file(options.out, table if options.json else f"\ufeff{table}")
    else:
        write_stdout(table)
    return _report_end(now)


class BatchProgress:
    """Tells each row on stderr as it comes to rest, and how many are left."""

    def __init__(self) -> None:
        self.shown_rows: set[int] | None = None

    def __call__(self, now: BatchStatus) -> None:
        ended = {row.n: row for row in now.rows if row.state not in ("waiting", "running", "resting")}
        if self.shown_rows is None:
            self.shown_rows = set(ended) if now.usage.seconds else set()
        for n in sorted(set(ended) - self.shown_rows):
            self.shown_rows.add(n)
            write_stderr(f"  {len(self.shown_rows):>3}/{len(now.rows)}  {_format_row(ended[n])}")


def _format_row(row: BatchRow) -> str:
    level = f" {row.confidence:.2f}" if row.confidence is not None and row.state == "done" else ""
    how = row.verdict if row.state == "done" else jobs.STATE_LABELS[row.state]
    why = row.error or row.trouble
    return f"row {row.n}: {how}{level}  {row.question[:MAX_QUESTION_CHARS]}{f' ({why[:160]})' if why else ''}"


def _start_batch(bench: Workbench, options: argparse.Namespace) -> str:
    caps = {"max_steps": options.max_steps, "max_pages": options.max_pages}
    settings = Settings(
        world=options.world,
        model=options.model,
        allowed_domains=options.allow,
        **caps,
        **source_options.chosen_settings(options),
    )
    settings = normalize_settings(settings)
    validation.check_sources(settings)
    try:
        data = options.file.read_bytes()
    except OSError as trouble:
        raise UsageError(f"{options.file} cannot be read: {trouble.strerror}") from trouble
    sheet = csv_input.read_sheet(data, settings)
    check_network(bench, options.world)
    batch_id = jobs.create(bench, options.file.stem, sheet, settings, _read_budget(options, BatchBudget()))
    write_stderr(f"batch {batch_id}: {sheet.summary}, {sheet.question_count} to ask")
    for remark in sheet.remarks:
        write_stderr(f"  {remark}")
    return batch_id


def _resume_batch(bench: Workbench, options: argparse.Namespace) -> str:
    now = jobs.get_status(bench, options.resume)
    check_network(bench, now.batch.settings.world)
    chosen = _read_budget(options, now.batch.allowance)
    jobs.resume(bench, now.batch.id, chosen if chosen != now.batch.allowance else None, failed=True)
    write_stderr(f"batch {now.batch.id}: {now.state_counts['done']} of {len(now.rows)} rows are done")
    return now.batch.id


def _read_budget(options: argparse.Namespace, plain: BatchBudget) -> BatchBudget:
    given = {
        "side_by_side": options.side_by_side,
        "max_calls": options.max_calls,
        "max_tokens": options.max_tokens,
        "max_cost_usd": options.max_cost,
        "max_minutes": options.max_minutes,
    }
    chosen = plain.model_copy(update={name: value for name, value in given.items() if value is not None})
    jobs.check_budget(chosen)
    return chosen


def _report_end(now: BatchStatus) -> int:
    counts, spent, batch = now.state_counts, now.usage, now.batch
    left: tuple[RowState, ...] = ("failed", "resting", "waiting", "refused")
    parts = [f"{counts['done']} done"] + [
        f"{counts[state]} {jobs.STATE_LABELS[state]}" for state in left if counts[state]
    ]
    cost = "cost unknown" if spent.cost_usd is None else f"${spent.cost_usd:.4f}"
    used = f"{spent.llm_calls} calls, {spent.prompt_tokens + spent.completion_tokens:,} tokens, {cost}, {spent.seconds:.0f} s of work"
    write_stderr(f"{', '.join(parts)}; {used}")
    if batch.state == "spent":
        write_stderr(
            f"the budget is used up: {now.exhausted_budget or 'see the table'}. Go on with more: python -m agent batch --resume {batch.id} --max-cost USD …"
        )
    elif counts["waiting"] or counts["resting"] or counts["failed"]:
        write_stderr(f"go on with: python -m agent batch --resume {batch.id}")
    return 0 if not (counts["waiting"] or counts["resting"] or counts["failed"] or counts["running"]) else 1


def _list_batches(bench: Workbench) -> int:
    batches = bench.store.batches.list_newest()
    for batch in batches:
        counts = jobs.get_status(bench, batch.id).state_counts
        write_stdout(
            f"{batch.id}  {batch.created_at[:16]}  {batch.state:<8} {counts['done']:>4}/{sum(counts.values()):<4}  {batch.name[:80]}"
        )
    if not batches:
        write_stderr(
            "no batches yet: python -m agent batch FILE.csv begins one; the file needs a column “question”"
        )
    return 0


@contextmanager
def _stop_on_interrupt(stopping: threading.Event) -> Iterator[None]:
    """While this lasts, the first Ctrl-C stops the batch in good order, the second one at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupted(_number: int, _frame: object) -> None:
        if stopping.is_set():
            raise KeyboardInterrupt
        write_stderr("stopping: the runs at work rest where they stand …")
        stopping.set()

    former = signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, former)
