"""Batches: many questions as runs in parallel within one budget; a table in, a table of answers out.

    batch_id = create(bench, "suppliers", sheet, settings, BatchBudget(side_by_side=4, max_cost_usd=2))
    drive(bench, batch_id, watch, stopping)     # in this process; a server's workers do it by themselves
    text = export_csv(bench, batch_id)

Each row is an ordinary run. All state is in the store, so any process can go on with a batch at any time."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from math import isfinite
from typing import Any

from agent.actions import validation
from agent.actions.release import release
from agent.batch.csv_input import BATCH_FLOWS, QuestionSheet
from agent.engine.batch_scheduler import BUDGET_REASON_PREFIX, describe_exhausted_budget
from agent.errors import ConcurrentChange, CorruptRow, UsageError
from agent.export.report import drop_withheld
from agent.export.sheets import write_csv
from agent.types import Batch, BatchBudget, BatchRow, RowState, Settings, Status, Usage
from agent.workbench import Workbench

MAX_PARALLEL_RUNS = 16
POLL_S = 0.5
"""Seconds between two checks of a batch that this process drives."""
RESULT_COLUMNS = (
    *("state", "answer", "verdict", "confidence", "statements", "backed", "sources", "conflicts"),
    *("why stopped", "remark", "pages", "calls", "tokens", "cost usd", "seconds", "run"),
)
"""The columns beside those of the file."""
STATE_LABELS: dict[RowState, str] = {
    "waiting": "waiting",
    "running": "running",
    "done": "done",
    "failed": "failed",
    "resting": "stopped",
    "refused": "cannot be asked",
    "binned": "its run is in the bin",
}


@dataclass(frozen=True)
class BatchStatus:
    """A batch with its rows in the order of the file, and its usage."""

    batch: Batch
    rows: list[BatchRow]
    usage: Usage

    @property
    def state_counts(self) -> Counter[RowState]:
        """The number of rows in each state."""
        return Counter(row.state for row in self.rows)

    @property
    def exhausted_budget(self) -> str:
        """Which budget is used up, as a sentence; "" for none."""
        return describe_exhausted_budget(self.batch.allowance, self.usage)

    @property
    def can_resume(self) -> bool:
        """Would anything be done when it resumes?"""
        waiting = self.state_counts["waiting"] or self.state_counts["resting"]
        return self.batch.state not in ("running", "deleted") and bool(waiting)


def create(
    bench: Workbench, name: str, sheet: QuestionSheet, settings: Settings, allowance: BatchBudget
) -> str:
    """Start a batch; returns its id. Raises UsageError, NotFound (no such world)."""
    check_budget(allowance)
    bench.check_quota()
    if settings.flow not in BATCH_FLOWS:
        raise UsageError(f"a batch cannot run {settings.flow}; it can run {', '.join(BATCH_FLOWS)}")
    validation.check_engines(settings.engines, bench.worker.world(settings.world))
    settings = settings.replace(served_by=bench.worker.mark_model(settings))
    title = name.strip()[:120] or "Batch"
    batch_id = bench.store.batches.create(title, settings, allowance, sheet.columns, sheet.rows)
    bench.worker.schedule_batches()
    return batch_id


def list_flows(rows: Sequence[BatchRow], settings: Settings) -> set[str]:
    """The flows that the rows run."""
    return {str(row.own.get("flow", settings.flow)) for row in rows}


def check_budget(allowance: BatchBudget) -> None:
    """Raise UsageError for a budget that is not valid."""
    if not 1 <= allowance.side_by_side <= MAX_PARALLEL_RUNS:
        raise UsageError(f"{allowance.side_by_side} parallel runs: at least 1, at most {MAX_PARALLEL_RUNS}")
    amounts = allowance.max_calls, allowance.max_tokens, allowance.max_cost_usd, allowance.max_minutes
    if not isfinite(sum(amounts)) or min(amounts) < 0 or not allowance.max_minutes:
        raise UsageError("a budget needs numbers from 0 up, and some minutes")


def get_status(bench: Workbench, batch_id: str) -> BatchStatus:
    """The status of a batch. Raises NotFound."""
    store = bench.store.batches
    return BatchStatus(store.get(batch_id), store.rows(batch_id), store.sum_usage(batch_id))


def set_deleted(bench: Workbench, batch_id: str, is_deleted: bool) -> None:
    """Put a batch into the bin with its runs, or take it out with those that went there with it. Raises
    NotFound."""
    batches = bench.store.batches
    if (batches.get(batch_id).state == "deleted") is is_deleted:
        return
    if is_deleted:
        stop(bench, batch_id)
        batches.set_state(batch_id, state="deleted", among=("stopped", "done"))
    since = batches.get(batch_id).updated_at
    for row in batches.rows(batch_id):
        is_due = not row.deleted_at if is_deleted else row.deleted_at >= since
        if row.run_id and not row.same_as and is_due:
            (bench.delete if is_deleted else bench.restore)(row.run_id)
    if not is_deleted:
        stop(bench, batch_id)  # a run that had not stopped yet is restored as one that works
        left = {row.state for row in batches.rows(batch_id)} & {"waiting", "resting", "running"}
        batches.set_state(batch_id, state="stopped" if left else "done", among=("deleted",))


def stop(bench: Workbench, batch_id: str) -> None:
    """Stop the running runs and start no more. Raises NotFound."""
    bench.store.batches.get(batch_id)
    bench.store.batches.set_state(batch_id, state="stopped", among=("running", "spent"))
    for row in bench.store.batches.rows(batch_id):
        if row.state == "running" and not row.same_as:
            with suppress(ConcurrentChange):  # it came to rest at this moment
                bench.act(row.run_id, "stop")


def resume(
    bench: Workbench, batch_id: str, allowance: BatchBudget | None = None, *, failed: bool = False
) -> None:
    """Resume a batch, with another budget when one is given: then runs that the old one ended search on. With
    `failed`, failed rows are tried again. Raises NotFound, UsageError for one in the bin or whose budget is
    still used up."""
    now = get_status(bench, batch_id)
    if now.batch.state == "deleted":
        raise UsageError("this batch is in the bin: restore it on the screen Runs, then continue it")
    budget = allowance or now.batch.allowance
    check_budget(budget)
    if exhausted := describe_exhausted_budget(budget, now.usage):
        raise UsageError(f"{exhausted}: raise the budget of the batch to go on")
    finds_cut_short = now.batch.state == "spent" or allowance is not None
    states = ("resting", "failed") if failed else ("resting",)
    again = [
        row.n
        for row in now.rows
        if not row.same_as
        and (
            row.state in states
            or (row.state == "running" and not _withdraw_stop(bench, row))
            or (finds_cut_short and _is_cut_short(bench, row))
        )
    ]
    bench.store.batches.mark_for_resume(batch_id, again)
    bench.store.batches.set_state(
        batch_id, state="running", among=("running", "stopped", "spent", "done"), allowance=allowance
    )
    bench.worker.schedule_batches()


def _withdraw_stop(bench: Workbench, row: BatchRow) -> bool:
    """Withdraw the control flag that is about to stop a running run; False when the run rests already."""
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
    """Work on a batch in this process until nothing more happens; returns its status. `watch` is called now
    and then; `stopping`, once set, stops the batch. Another process may work on the same batch."""
    working: dict[str, Future[Status]] = {}
    with ThreadPoolExecutor(MAX_PARALLEL_RUNS, thread_name_prefix=f"batch-{batch_id}") as pool:
        while True:
            if stopping.is_set():
                stop(bench, batch_id)
            elif (batch := bench.store.batches.get(batch_id)).state == "running":
                bench.worker.batch_scheduler.schedule(batch)
            now = get_status(bench, batch_id)
            for row in now.rows:
                if row.state == "running" and row.run_id not in working:
                    working[row.run_id] = pool.submit(bench.drive, row.run_id)
            watch(now)
            working = {
                run_id: work for run_id, work in working.items() if not (work.done() and work.result())
            }
            if not working and (now.batch.state != "running" or stopping.is_set()):
                return get_status(bench, batch_id)
            if working:
                wait(working.values(), POLL_S, FIRST_COMPLETED)
            else:
                stopping.wait(POLL_S)


def _is_cut_short(bench: Workbench, row: BatchRow) -> bool:
    """Whether the batch's budget ended a row's run without an answer, and nobody has accepted it."""
    if row.status is Status.REVIEW and row.state == "done" and row.verdict != "answered":
        with suppress(CorruptRow):
            return bench.snapshot(row.run_id).state.why_stopped.startswith(BUDGET_REASON_PREFIX)
    return False


def export_csv(bench: Workbench, batch_id: str) -> str:
    """The columns of the file with the result beside each row; no cell is a formula to a spreadsheet."""
    now = get_status(bench, batch_id)
    columns, rows = now.batch.columns, list[list[Any]]()
    own = [name if name not in columns else f"{name} (found)" for name in RESULT_COLUMNS]
    for row in now.rows:
        result = describe_row(bench, row)
        result["sources"] = " ".join(result["sources"])
        rows.append([*(row.given.get(name, row.question) for name in columns), *result.values()])
    return write_csv([*columns, *own], rows)


def export_json(bench: Workbench, batch_id: str) -> str:
    """The same as JSON, with the budget and the usage."""
    now, rows = get_status(bench, batch_id), list[dict[str, Any]]()
    for row in now.rows:
        given = {name: row.given.get(name, row.question) for name in now.batch.columns}
        rows.append({"row": row.n, "given": given, **describe_row(bench, row)})
    batch = now.batch.model_dump(mode="json", exclude={"settings"})
    record = {"batch": batch, "spent": now.usage.model_dump(), "rows": rows}
    return json.dumps(record, ensure_ascii=False, indent=1)


def describe_row(bench: Workbench, row: BatchRow) -> dict[str, Any]:
    """The result of a row by RESULT_COLUMNS; numbers are numbers, a missing value is ""."""
    same = f"the same as row {row.same_as}" if row.same_as else ""
    result: dict[str, Any] = dict.fromkeys(RESULT_COLUMNS, "")
    result |= {"state": STATE_LABELS[row.state], "remark": same, "run": row.run_id}
    if not row.run_id:
        return result | {"why stopped": row.trouble}
    try:
        view, _ = release(bench, row.run_id)
    except CorruptRow as error:  # the other rows keep their answers
        return result | {"why stopped": str(error)}
    state, usage, answer = view.state, view.usage, view.state.answer
    result |= {
        "why stopped": view.run.error
        or (state.halt.why if state.halt else answer.why_stopped if answer else state.why_stopped),
        "pages": state.pages_read_count,
        "calls": usage.llm_calls,
        "tokens": usage.prompt_tokens + usage.completion_tokens,
        "cost usd": "unknown" if usage.cost_usd is None else usage.cost_usd,
        "seconds": usage.seconds,
    }
    if answer := answer and drop_withheld(answer):
        counts, is_check = answer.statements, answer.verdict == "checked"
        result |= {
            "answer": answer.certainty if is_check else answer.text or answer.certainty or answer.missing,
            "verdict": answer.verdict,
            "confidence": "" if answer.confidence is None else round(answer.confidence, 3),
            "statements": counts.backed + counts.unsupported,
            "backed": counts.backed,
            "sources": [source.url for source in answer.sources if source.url],
            "conflicts": len(answer.conflicts),
            "remark": "; ".join(filter(None, (same, answer.remark))),
        }
    return result
