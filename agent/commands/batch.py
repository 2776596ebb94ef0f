"""`batch`: many questions from a table, asked side by side within a budget. Knows the options and how progress reads in a line.

Exit codes: 0 every row that could be asked came to an answer, 1 some did not (stopped, budget used up, failed), 2 wrong usage.
"""

from __future__ import annotations

import argparse
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent import asking_many, question_sheet, starting
from agent.asking_many import Standing
from agent.commands import hosts, limits, sources
from agent.commands.telling import reached, say, tell, write
from agent.errors import UsageError
from agent.types import Allowance, BatchRow, RowState, Settings
from agent.workbench import Workbench

LONG = 60
"""Characters of a question in a line."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    allowed, plain = Allowance(), Settings()
    parser.add_argument("file", metavar="FILE.csv", type=Path, nargs="?", help="a table with a column “question”; none: list the batches there are")
    parser.add_argument("--out", type=Path, metavar="FILE", help="where the table of answers goes (default: stdout)")
    parser.add_argument("--json", action="store_true", help="the table as JSON instead of CSV")
    parser.add_argument("--resume", default="", metavar="ID", help="go on with a batch where it stood; failed rows are tried again")
    parser.add_argument("--side-by-side", type=int, metavar="N", help=f"runs at the same time (default: {allowed.side_by_side})")
    parser.add_argument("--max-calls", type=int, metavar="N", help=f"model calls of all rows together (default: {allowed.max_calls:,})")
    parser.add_argument("--max-tokens", type=int, metavar="N", help=f"tokens of all rows together (default: {allowed.max_tokens:,})")
    parser.add_argument("--max-cost", type=limits.figure, metavar="USD", help=f"money for all rows together (default: {allowed.max_cost_usd:g})")
    parser.add_argument("--max-minutes", type=limits.figure, metavar="MIN", help=f"working time, all rows summed (default: {allowed.max_minutes:g})")
    parser.add_argument("--world", default="live", metavar="live|demo|DIR", help="where to search and read (default: live, the web)")
    parser.add_argument("--model", default="auto", metavar="keyless|NAME", help="the model (default: the configured one, else keyless)")
    parser.add_argument("--max-steps", type=int, default=plain.max_steps, metavar="N", help="searches and page visits a row (default: %(default)s)")
    parser.add_argument("--max-pages", type=int, default=plain.max_pages, metavar="N", help="pages read a row (default: %(default)s)")
    hosts.add_option(parser, [], "default: all")
    sources.add_options(parser, engines=True)


def run(options: argparse.Namespace) -> int:
    """Ask all rows, write the table; returns the exit code."""
    if not options.file and not options.resume:
        return _list(Workbench())
    if options.file and options.resume:
        raise UsageError("name a file to begin, or --resume ID to go on, not both")
    bench, stopping = Workbench(), threading.Event()
    with _interrupts(stopping):
        batch_id = _resumed(bench, options) if options.resume else _begun(bench, options)
        now = asking_many.drive(bench, batch_id, Progress(), stopping)
    table = asking_many.json_table(bench, batch_id) if options.json else asking_many.csv_table(bench, batch_id).rstrip("\r\n")
    if options.out:
        write(options.out, table if options.json else f"\ufeff{table}")
    else:
        tell(table)
    return _ending(now)


class Progress:
    """Tells each row on stderr as it comes to rest, and how many are left."""

    def __init__(self) -> None:
        self.told: set[int] | None = None

    def __call__(self, now: Standing) -> None:
        ended = {row.n: row for row in now.rows if row.state not in ("waiting", "running", "resting")}
        if self.told is None:
            self.told = set(ended) if now.spent.seconds else set()
        for n in sorted(set(ended) - self.told):
            self.told.add(n)
            say(f"  {len(self.told):>3}/{len(now.rows)}  {_line(ended[n])}")


def _line(row: BatchRow) -> str:
    level = f" {row.confidence:.2f}" if row.confidence is not None and row.state == "done" else ""
    how = row.verdict if row.state == "done" else asking_many.STATES[row.state]
    why = row.error or row.trouble
    return f"row {row.n}: {how}{level}  {row.question[:LONG]}{f' ({why[:160]})' if why else ''}"


def _begun(bench: Workbench, options: argparse.Namespace) -> str:
    caps = {"max_steps": options.max_steps, "max_pages": options.max_pages}
    settings = Settings(world=options.world, model=options.model, allowed_domains=options.allow, **caps, **sources.chosen(options))
    settings = starting.spelled(settings)
    starting.check_sources(settings)
    try:
        data = options.file.read_bytes()
    except OSError as trouble:
        raise UsageError(f"{options.file} cannot be read: {trouble.strerror}") from trouble
    sheet = question_sheet.read(data, settings)
    reached(bench, options.world)
    batch_id = asking_many.create(bench, options.file.stem, sheet, settings, _allowance(options, Allowance()))
    say(f"batch {batch_id}: {sheet.understood}, {sheet.asked} to ask")
    for remark in sheet.remarks:
        say(f"  {remark}")
    return batch_id


def _resumed(bench: Workbench, options: argparse.Namespace) -> str:
    now = asking_many.standing(bench, options.resume)
    reached(bench, now.batch.settings.world)
    chosen = _allowance(options, now.batch.allowance)
    asking_many.go_on(bench, now.batch.id, chosen if chosen != now.batch.allowance else None, failed=True)
    say(f"batch {now.batch.id}: {now.counts['done']} of {len(now.rows)} rows are done")
    return now.batch.id


def _allowance(options: argparse.Namespace, plain: Allowance) -> Allowance:
    given = {
        "side_by_side": options.side_by_side, "max_calls": options.max_calls, "max_tokens": options.max_tokens,
        "max_cost_usd": options.max_cost, "max_minutes": options.max_minutes,
    }  # fmt: skip
    chosen = plain.model_copy(update={name: value for name, value in given.items() if value is not None})
    asking_many.check(chosen)
    return chosen


def _ending(now: Standing) -> int:
    counts, spent, batch = now.counts, now.spent, now.batch
    left: tuple[RowState, ...] = ("failed", "resting", "waiting", "refused")
    parts = [f"{counts['done']} done"] + [f"{counts[state]} {asking_many.STATES[state]}" for state in left if counts[state]]
    cost = "cost unknown" if spent.cost_usd is None else f"${spent.cost_usd:.4f}"
    used = f"{spent.llm_calls} calls, {spent.prompt_tokens + spent.completion_tokens:,} tokens, {cost}, {spent.seconds:.0f} s of work"
    say(f"{', '.join(parts)}; {used}")
    if batch.state == "spent":
        say(f"the budget is used up: {now.over or 'see the table'}. Go on with more: python -m agent batch --resume {batch.id} --max-cost USD …")
    elif counts["waiting"] or counts["resting"] or counts["failed"]:
        say(f"go on with: python -m agent batch --resume {batch.id}")
    return 0 if not (counts["waiting"] or counts["resting"] or counts["failed"] or counts["running"]) else 1


def _list(bench: Workbench) -> int:
    batches = bench.store.batches.newest()
    for batch in batches:
        counts = asking_many.standing(bench, batch.id).counts
        tell(f"{batch.id}  {batch.created_at[:16]}  {batch.state:<8} {counts['done']:>4}/{sum(counts.values()):<4}  {batch.name[:80]}")
    if not batches:
        say("no batches yet: python -m agent batch FILE.csv begins one; the file needs a column “question”")
    return 0


@contextmanager
def _interrupts(stopping: threading.Event) -> Iterator[None]:
    """While this lasts, the first Ctrl-C stops the batch in good order, the second one at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupted(_number: int, _frame: object) -> None:
        if stopping.is_set():
            raise KeyboardInterrupt
        say("stopping: the runs at work rest where they stand …")
        stopping.set()

    former = signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, former)
