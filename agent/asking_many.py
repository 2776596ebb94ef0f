"""Many questions asked at once, as a call: a table in, runs side by side within a budget, a table of answers out.

    sheet = question_sheet.read(data, settings)
    batch_id = create(bench, "suppliers", sheet, settings, Allowance(side_by_side=4, max_cost_usd=2))
    drive(bench, batch_id)                 # in this process; a server's workers do it by themselves
    text = csv_table(bench, batch_id)

Each row is an ordinary run. It holds no state; the store has everything, so any process may go on with a batch at any time.
Not `agent.batching`, which gathers the messages that `reply` answers.
"""

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

from agent import queueing, starting
from agent.errors import Overtaken, Unreadable, UsageError
from agent.export.sheets import written
from agent.question_sheet import FLOWS_OF_ROWS, Sheet
from agent.types import Allowance, Batch, BatchRow, RowState, Settings, Status, Usage
from agent.workbench import Workbench

MOST_AT_ONCE = 16
LOOK_S = 0.5
"""Seconds between two looks at a batch that is driven here."""
RESULTS = (
    "state", "answer", "verdict", "confidence", "statements", "backed", "sources", "conflicts", "why stopped", "remark", "pages", "calls",
    "tokens", "cost usd", "seconds", "run",
)  # fmt: skip
"""The columns that stand beside those of the file."""
STATES: dict[RowState, str] = {
    "waiting": "waiting", "running": "at work", "done": "done", "failed": "failed", "resting": "stopped", "refused": "cannot be asked",
    "binned": "its run is in the bin",
}  # fmt: skip


@dataclass(frozen=True)
class Standing:
    """How a batch stands: itself, its rows in the order of the file, what it has spent."""

    batch: Batch
    rows: list[BatchRow]
    spent: Usage

    @property
    def counts(self) -> Counter[RowState]:
        """How many rows stand how."""
        return Counter(row.state for row in self.rows)

    @property
    def over(self) -> str:
        """Which part of the budget is used up, as a sentence; "" for none."""
        return queueing.over(self.batch.allowance, self.spent).removeprefix(queueing.CUT)

    @property
    def can_go_on(self) -> bool:
        """Is there anything left that would be done when it goes on?"""
        return self.batch.state != "running" and bool(self.counts["waiting"] or self.counts["resting"])


def create(bench: Workbench, name: str, sheet: Sheet, settings: Settings, allowance: Allowance) -> str:
    """Begin a batch; returns its id. Raises UsageError, NotFound (no such world); nothing was written then."""
    check(allowance)
    if settings.flow not in FLOWS_OF_ROWS:
        raise UsageError(f"a batch cannot ask {settings.flow}; it can {', '.join(FLOWS_OF_ROWS)}")
    starting.check_engines(settings.engines, bench.worker.world(settings.world))
    batch_id = bench.store.batches.create(name.strip()[:120] or "Batch", settings, allowance, sheet.columns, sheet.rows)
    bench.worker.tend()
    return batch_id


def check(allowance: Allowance) -> None:
    """Raises UsageError when a budget cannot be."""
    if not 1 <= allowance.side_by_side <= MOST_AT_ONCE:
        raise UsageError(f"{allowance.side_by_side} runs side by side: at least 1, at most {MOST_AT_ONCE}")
    if not (isfinite(allowance.max_cost_usd) and isfinite(allowance.max_minutes)):
        raise UsageError("a budget without an end is none: give money and minutes as numbers")
    if min(allowance.max_calls, allowance.max_tokens, allowance.max_cost_usd) < 0 or allowance.max_minutes <= 0:
        raise UsageError("a budget below nothing: give numbers from 0 up, and some minutes")


def standing(bench: Workbench, batch_id: str) -> Standing:
    """How a batch stands. Raises NotFound."""
    store = bench.store.batches
    return Standing(store.get(batch_id), store.rows(batch_id), store.spent(batch_id))


def stop(bench: Workbench, batch_id: str) -> None:
    """Let the runs at work rest where they stand, and start no more. Raises NotFound."""
    bench.store.batches.get(batch_id)
    bench.store.batches.set(batch_id, state="stopped", among=("running", "spent"))
    for row in bench.store.batches.rows(batch_id):
        if row.state == "running" and not row.same_as:
            with suppress(Overtaken):  # it came to rest at this very moment
                bench.stop(row.run_id)


def go_on(bench: Workbench, batch_id: str, allowance: Allowance | None = None, *, failed: bool = False) -> None:
    """Go on where it stood, with another budget when one is given: then runs that the old one cut short look on. With `failed`, rows
    that failed are tried again, from where they did.

    Raises NotFound, UsageError when the budget is still used up.
    """
    now = standing(bench, batch_id)
    chosen = allowance or now.batch.allowance
    check(chosen)
    if over := queueing.over(chosen, now.spent):
        raise UsageError(f"{over.removeprefix(queueing.CUT)}: raise the budget of the batch to go on")
    cut = _cut(bench, now.rows) if now.batch.state == "spent" or allowance else []
    wanted: tuple[RowState, ...] = ("resting", "failed") if failed else ("resting",)
    again = [row.n for row in now.rows if not row.same_as and (row.state in wanted or (row.state == "running" and not _let_on(bench, row)))]
    bench.store.batches.mark_again(batch_id, [*again, *cut])
    bench.store.batches.set(batch_id, state="running", among=("running", "stopped", "spent", "done"), allowance=allowance)
    bench.worker.tend()


def _let_on(bench: Workbench, row: BatchRow) -> bool:
    """Take back the word by which a run at work is about to rest; False when it rests already."""
    if not bench.store.ledger.control(row.run_id):
        return True
    with suppress(Overtaken):
        bench.store.ledger.speak(row.run_id, "resume", {"control": "resumed"}, among=(Status.RUNNING,), control="")
        return True
    return bench.store.ledger.get(row.run_id).status not in (Status.STOPPED, Status.PAUSED)


def drive(bench: Workbench, batch_id: str, watch: Callable[[Standing], None], stopping: threading.Event) -> Standing:
    """Work on a batch in this process until nothing more happens; returns how it stands then. `watch` is called now and then.

    `stopping`, once set, stops the batch: its runs rest. Another process may work on the same batch.
    """
    at_work: dict[str, Future[Status]] = {}
    with ThreadPoolExecutor(MOST_AT_ONCE, thread_name_prefix=f"batch-{batch_id}") as pool:
        while True:
            now = _moved(bench, batch_id, stopping)
            for row in now.rows:
                if row.state == "running" and row.run_id not in at_work:
                    at_work[row.run_id] = pool.submit(bench.drive, row.run_id)
            watch(now)
            at_work = {run_id: work for run_id, work in at_work.items() if not _ended(work)}
            if not at_work and (now.batch.state != "running" or stopping.is_set()):
                return standing(bench, batch_id)
            if at_work:
                wait(at_work.values(), LOOK_S, FIRST_COMPLETED)
            else:
                stopping.wait(LOOK_S)


def _moved(bench: Workbench, batch_id: str, stopping: threading.Event) -> Standing:
    if stopping.is_set():
        stop(bench, batch_id)
    else:
        batch = bench.store.batches.get(batch_id)
        if batch.state == "running":
            queueing.tend_one(bench.store, batch)
    return standing(bench, batch_id)


def _ended(work: Future[Status]) -> bool:
    """Did it come to rest? What went wrong with it is raised here."""
    return work.done() and bool(work.result())


def _cut(bench: Workbench, rows: Sequence[BatchRow]) -> list[int]:
    """The rows whose answer was written because the batch's budget was used up, and that nobody has accepted yet."""
    short = [row for row in rows if row.status is Status.REVIEW and row.state == "done" and not row.same_as and row.verdict != "answered"]
    cut = []
    for row in short:
        with suppress(Unreadable):
            cut += [row.n] if bench.view(row.run_id).state.why_stopped.startswith(queueing.CUT) else []
    return cut


# --- the table ----------------------------------------------------------------------------------------------------------------


def results(bench: Workbench, rows: Collection[BatchRow]) -> list[dict[str, Any]]:
    """What became of each of these rows, by the names in RESULTS; numbers are numbers, what is not there is ""."""
    return [_result(bench, row) for row in rows]


def csv_table(bench: Workbench, batch_id: str) -> str:
    """The file's columns in their order, and beside each row what became of it; no cell is a formula to a spreadsheet."""
    now = standing(bench, batch_id)
    own = [name if name not in now.batch.columns else f"{name} (found)" for name in RESULTS]
    table = ([*_given(now.batch, row).values(), *map(_cell, result.values())] for row, result in _told(bench, now))
    return written([*now.batch.columns, *own], table)


def json_table(bench: Workbench, batch_id: str) -> str:
    """The same as JSON, with the budget and what was spent."""
    now = standing(bench, batch_id)
    told = {
        "batch": now.batch.model_dump(mode="json", exclude={"settings"}), "spent": now.spent.model_dump(),
        "rows": [{"row": row.n, "given": _given(now.batch, row), **result} for row, result in _told(bench, now)],
    }  # fmt: skip
    return json.dumps(told, ensure_ascii=False, indent=1)


def _told(bench: Workbench, now: Standing) -> list[tuple[BatchRow, dict[str, Any]]]:
    return list(zip(now.rows, results(bench, now.rows), strict=True))


def _given(batch: Batch, row: BatchRow) -> dict[str, str]:
    return {name: row.given.get(name, row.question) for name in batch.columns}


def _result(bench: Workbench, row: BatchRow) -> dict[str, Any]:
    told: dict[str, Any] = dict.fromkeys(RESULTS, "")
    told["state"] = STATES[row.state]
    same = f"the same as row {row.same_as}" if row.same_as else ""
    if not row.run_id:
        return told | {"why stopped": row.trouble, "remark": same}
    try:
        view = bench.view(row.run_id)
    except Unreadable as trouble:  # this row's run alone: the others have their answers
        return told | {"why stopped": str(trouble), "remark": same, "run": row.run_id}
    state, usage, answer = view.state, view.usage, view.state.answer
    told |= {
        "why stopped": row.error or (answer.why_stopped if answer else state.why_stopped), "remark": same, "pages": state.pages_read,
        "calls": usage.llm_calls, "tokens": usage.prompt_tokens + usage.completion_tokens,
        "cost usd": "unknown" if usage.cost_usd is None else usage.cost_usd, "seconds": usage.seconds, "run": row.run_id,
    }  # fmt: skip
    if answer:
        counted = answer.statements
        told |= {
            "answer": answer.text or answer.certainty or answer.missing, "verdict": answer.verdict, "confidence": round(answer.confidence, 3),
            "statements": counted.backed + counted.unsupported, "backed": counted.backed,
            "sources": [source.url for source in answer.sources if source.url], "conflicts": len(answer.conflicts),
            "remark": "; ".join(filter(None, (same, answer.remark))),
        }  # fmt: skip
    return told


def _cell(value: Any) -> object:
    return " ".join(value) if isinstance(value, list) else value
