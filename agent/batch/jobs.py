"""Many questions asked at once, as a call: a table in, runs side by side within a budget, a table of answers
out.

    sheet = question_sheet.read(data, settings)
    batch_id = create(bench, "suppliers", sheet, settings, Allowance(side_by_side=4, max_cost_usd=2))
    drive(bench, batch_id)                 # in this process; a server's workers do it by themselves
    text = csv_table(bench, batch_id)

Each row is an ordinary run. It holds no state; the store has everything, so any process may go on with a
batch at any time. Not `agent.bot.debounce`, which gathers the messages that `reply` answers."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from math import isfinite
from typing import Any

from agent.actions import validation
from agent.batch.csv_input import BATCH_FLOWS, QuestionSheet
from agent.engine.batch_scheduler import BUDGET_REASON_PREFIX, describe_exhausted_budget
from agent.errors import ConcurrentChange, CorruptRow, UsageError
from agent.export.sheets import write_csv
from agent.types import Batch, BatchBudget, BatchRow, RowState, Settings, Status, Usage
from agent.workbench import Workbench

MAX_PARALLEL_RUNS = 16
POLL_S = 0.5
"""Seconds between two looks at a batch that is driven here."""
RESULT_COLUMNS = (
    "state",
    "answer",
    "verdict",
    "confidence",
    "statements",
    "backed",
    "sources",
    "conflicts",
    "why stopped",
    "remark",
    "pages",
    "calls",
    "tokens",
    "cost usd",
    "seconds",
    "run",
)
"""The columns that stand beside those of the file."""
STATE_LABELS: dict[RowState, str] = {
    "waiting": "waiting",
    "running": "at work",
    "done": "done",
    "failed": "failed",
    "resting": "stopped",
    "refused": "cannot be asked",
    "binned": "its run is in the bin",
}


@dataclass(frozen=True)
class BatchStatus:
    """How a batch stands: itself, its rows in the order of the file, what it has spent."""

    batch: Batch
    rows: list[BatchRow]
    usage: Usage

    @property
    def state_counts(self) -> Counter[RowState]:
        """How many rows stand how."""
        return Counter(row.state for row in self.rows)

    @property
    def exhausted_budget(self) -> str:
        """Which part of the budget is used up, as a sentence; "" for none."""
        return describe_exhausted_budget(self.batch.allowance, self.usage).removeprefix(BUDGET_REASON_PREFIX)

    @property
    def can_resume(self) -> bool:
        """Is there anything left that would be done when it goes on?"""
        return self.batch.state != "running" and bool(
            self.state_counts["waiting"] or self.state_counts["resting"]
        )


def create(
    bench: Workbench, name: str, sheet: QuestionSheet, settings: Settings, allowance: BatchBudget
) -> str:
    """Begin a batch; returns its id. Raises UsageError, NotFound (no such world); nothing was written
    then."""
    check_budget(allowance)
    if settings.flow not in BATCH_FLOWS:
        raise UsageError(f"a batch cannot ask {settings.flow}; it can {', '.join(BATCH_FLOWS)}")
    validation.check_engines(settings.engines, bench.worker.world(settings.world))
    batch_id = bench.store.batches.create(
        name.strip()[:120] or "Batch", settings, allowance, sheet.columns, sheet.rows
    )
    bench.worker.schedule_batches()
    return batch_id


def check_budget(allowance: BatchBudget) -> None:
    """Raises UsageError when a budget cannot be."""
    if not 1 <= allowance.side_by_side <= MAX_PARALLEL_RUNS:
        raise UsageError(
            f"{allowance.side_by_side} runs side by side: at least 1, at most {MAX_PARALLEL_RUNS}"
        )
    if not (isfinite(allowance.max_cost_usd) and isfinite(allowance.max_minutes)):
        raise UsageError("a budget without an end is none: give money and minutes as numbers")
    if (
        min(allowance.max_calls, allowance.max_tokens, allowance.max_cost_usd) < 0
        or allowance.max_minutes <= 0
    ):
        raise UsageError("a budget below nothing: give numbers from 0 up, and some minutes")


def get_status(bench: Workbench, batch_id: str) -> BatchStatus:
    """How a batch stands. Raises NotFound."""
    store = bench.store.batches
    return BatchStatus(store.get(batch_id), store.rows(batch_id), store.sum_usage(batch_id))


def stop(bench: Workbench, batch_id: str) -> None:
    """Let the runs at work rest where they stand, and start no more. Raises NotFound."""
    bench.store.batches.get(batch_id)
    bench.store.batches.set_state(batch_id, state="stopped", among=("running", "spent"))
    for row in bench.store.batches.rows(batch_id):
        if row.state == "running" and not row.same_as:
            with suppress(ConcurrentChange):  # it came to rest at this very moment
                bench.stop(row.run_id)


def resume(
    bench: Workbench, batch_id: str, allowance: BatchBudget | None = None, *, failed: bool = False
) -> None:
    """Go on where it stood, with another budget when one is given: then runs that the old one cut short look
    on. With `failed`, rows that failed are tried again, from where they did.

    Raises NotFound, UsageError when the budget is still used up."""
    now = get_status(bench, batch_id)
    chosen = allowance or now.batch.allowance
    check_budget(chosen)
    if over := describe_exhausted_budget(chosen, now.usage):
        raise UsageError(f"{over.removeprefix(BUDGET_REASON_PREFIX)}: raise the budget of the batch to go on")
    cut = _find_rows_cut_short(bench, now.rows) if now.batch.state == "spent" or allowance else []
    wanted: tuple[RowState, ...] = ("resting", "failed") if failed else ("resting",)
    again = [
        row.n
        for row in now.rows
        if not row.same_as
        and (row.state in wanted or (row.state == "running" and not _withdraw_stop(bench, row)))
    ]
    bench.store.batches.mark_for_resume(batch_id, [*again, *cut])
    bench.store.batches.set_state(
        batch_id, state="running", among=("running", "stopped", "spent", "done"), allowance=allowance
    )
    bench.worker.schedule_batches()


def _withdraw_stop(bench: Workbench, row: BatchRow) -> bool:
    """Take back the word by which a run at work is about to rest; False when it rests already."""
    if not bench.store.ledger.control(row.run_id):
        return True
    with suppress(ConcurrentChange):
        bench.store.ledger.append_person_step(
            row.run_id, "resume", {"control": "resumed"}, among=(Status.RUNNING,), control=""
        )
        return True
    return bench.store.ledger.get(row.run_id).status not in (Status.STOPPED, Status.PAUSED)


def drive(
    bench: Workbench, batch_id: str, watch: Callable[[BatchStatus], None], stopping: threading.Event
) -> BatchStatus:
    """Work on a batch in this process until nothing more happens; returns how it stands then. `watch` is
    called now and then.

    `stopping`, once set, stops the batch: its runs rest. Another process may work on the same batch."""
    at_work: dict[str, Future[Status]] = {}
    with ThreadPoolExecutor(MAX_PARALLEL_RUNS, thread_name_prefix=f"batch-{batch_id}") as pool:
        while True:
            now = _advance(bench, batch_id, stopping)
            for row in now.rows:
                if row.state == "running" and row.run_id not in at_work:
                    at_work[row.run_id] = pool.submit(bench.drive, row.run_id)
            watch(now)
            at_work = {run_id: work for run_id, work in at_work.items() if not _is_finished(work)}
            if not at_work and (now.batch.state != "running" or stopping.is_set()):
                return get_status(bench, batch_id)
            if at_work:
                wait(at_work.values(), POLL_S, FIRST_COMPLETED)
            else:
                stopping.wait(POLL_S)


def _advance(bench: Workbench, batch_id: str, stopping: threading.Event) -> BatchStatus:
    if stopping.is_set():
        stop(bench, batch_id)
    else:
        batch = bench.store.batches.get(batch_id)
        if batch.state == "running":
            bench.worker.batch_scheduler.schedule(batch)
    return get_status(bench, batch_id)


def _is_finished(work: Future[Status]) -> bool:
    """Did it come to rest? What went wrong with it is raised here."""
    return work.done() and bool(work.result())


def _find_rows_cut_short(bench: Workbench, rows: Sequence[BatchRow]) -> list[int]:
    """The rows whose answer was written because the batch's budget was used up, and that nobody has accepted
    yet."""
    short = [
        row
        for row in rows
        if row.status is Status.REVIEW
        and row.state == "done"
        and not row.same_as
        and row.verdict != "answered"
    ]
    cut = []
    for row in short:
        with suppress(CorruptRow):
            cut += (
                [row.n]
                if bench.snapshot(row.run_id).state.why_stopped.startswith(BUDGET_REASON_PREFIX)
                else []
            )
    return cut


# --- the table
# ----------------------------------------------------------------------------------------------------------------


def collect_results(bench: Workbench, rows: Collection[BatchRow]) -> list[dict[str, Any]]:
    """What became of each of these rows, by the names in RESULTS; numbers are numbers, what is not there is
    ""."""
    return [_describe_row(bench, row) for row in rows]


def export_csv(bench: Workbench, batch_id: str) -> str:
    """The file's columns in their order, and beside each row what became of it; no cell is a formula to a
    spreadsheet."""
    now = get_status(bench, batch_id)
    own = [name if name not in now.batch.columns else f"{name} (found)" for name in RESULT_COLUMNS]
    table = (
        [*_input_cells(now.batch, row).values(), *map(_cell, result.values())]
        for row, result in _rows_with_results(bench, now)
    )
    return write_csv([*now.batch.columns, *own], table)


def export_json(bench: Workbench, batch_id: str) -> str:
    """The same as JSON, with the budget and what was spent."""
    now = get_status(bench, batch_id)
    told = {
        "batch": now.batch.model_dump(mode="json", exclude={"settings"}),
        "spent": now.usage.model_dump(),
        "rows": [
            {"row": row.n, "given": _input_cells(now.batch, row), **result}
            for row, result in _rows_with_results(bench, now)
        ],
    }
    return json.dumps(told, ensure_ascii=False, indent=1)


def _rows_with_results(bench: Workbench, now: BatchStatus) -> list[tuple[BatchRow, dict[str, Any]]]:
    return list(zip(now.rows, collect_results(bench, now.rows), strict=True))


def _input_cells(batch: Batch, row: BatchRow) -> dict[str, str]:
    return {name: row.given.get(name, row.question) for name in batch.columns}


def _describe_row(bench: Workbench, row: BatchRow) -> dict[str, Any]:
    told: dict[str, Any] = dict.fromkeys(RESULT_COLUMNS, "")
    told["state"] = STATE_LABELS[row.state]
    same = f"the same as row {row.same_as}" if row.same_as else ""
    if not row.run_id:
        return told | {"why stopped": row.trouble, "remark": same}
    try:
        view = bench.snapshot(row.run_id)
    except CorruptRow as trouble:  # this row's run alone: the others have their answers
        return told | {"why stopped": str(trouble), "remark": same, "run": row.run_id}
    state, usage, answer = view.state, view.usage, view.state.answer
    told |= {
        "why stopped": row.error or (answer.why_stopped if answer else state.why_stopped),
        "remark": same,
        "pages": state.pages_read_count,
        "calls": usage.llm_calls,
        "tokens": usage.prompt_tokens + usage.completion_tokens,
        "cost usd": "unknown" if usage.cost_usd is None else usage.cost_usd,
        "seconds": usage.seconds,
        "run": row.run_id,
    }
    if answer:
        counted = answer.statements
        told |= {
            "answer": answer.text or answer.certainty or answer.missing,
            "verdict": answer.verdict,
            "confidence": round(answer.confidence, 3),
            "statements": counted.backed + counted.unsupported,
            "backed": counted.backed,
            "sources": [source.url for source in answer.sources if source.url],
            "conflicts": len(answer.conflicts),
            "remark": "; ".join(filter(None, (same, answer.remark))),
        }
    return told


def _cell(value: Any) -> object:
    return " ".join(value) if isinstance(value, list) else value
