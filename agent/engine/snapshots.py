"""Runs as they stand, folded from their steps and kept: what every look at a run asks for. It knows the store
and no person's word.

A look at a run that rests costs one small query; at one that moved, the steps since the last look. A run
nobody has looked at is folded from its first step; `foresee` begins that when a look is on its way."""

from __future__ import annotations

import threading
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass

from pydantic import ValidationError

from agent.engine.run_state import RunState
from agent.engine.state import fold, shallow_copy
from agent.errors import CorruptRow, NotFound, StoreError
from agent.flows import FLOWS, STEP_LABELS
from agent.store.database import Store
from agent.types import Run, Status, Step, Usage

CACHE_SIZE = 64
LOCK_COUNT = 16
"""Locks that keep two threads from folding one run at the same time."""


@dataclass(frozen=True)
class RunSnapshot:
    """A run as it stands: its row, its state, its steps (oldest first) and what it has spent. To be read, not
    changed."""

    run: Run
    state: RunState
    steps: list[Step]
    usage: Usage
    head: int
    next: str

    @property
    def activity(self) -> str:
        """What the run is doing right now, in words; "" at rest."""
        if self.run.status is not Status.RUNNING:
            return ""
        about = self.state.own.describe_target(self.state, self.next)
        return f"{STEP_LABELS.get(self.next, self.next)}{': ' + about if about else ''}"


class SnapshotCache:
    """The views of one store, the latest CACHED of them."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._cache: OrderedDict[str, RunSnapshot] = OrderedDict()
        self._lock = threading.Lock()
        self._fold_locks = [threading.Lock() for _ in range(LOCK_COUNT)]
        self._prefetch_pool = ThreadPoolExecutor(1, thread_name_prefix="views")

    def get(self, run_id: str) -> RunSnapshot:
        """The run as it stands. Raises NotFound, Unreadable."""
        with self._fold_locks[hash(run_id) % LOCK_COUNT]:
            run = self.store.ledger.get(run_id)
            with self._lock:
                known = self._cache.get(run_id)
            if (
                known
                and known.head == run.steps
                and known.run.status is run.status
                and run.status is not Status.RUNNING
            ):
                return known
            view = self._fold_run(run, known)
            with self._lock:
                self._cache[run_id] = view
                self._cache.move_to_end(run_id)
                while len(self._cache) > CACHE_SIZE:
                    self._cache.popitem(last=False)
            return view

    def prefetch(self, run_id: str) -> None:
        """Somebody is about to look at this run: begin to fold it, in a thread of its own."""
        with suppress(RuntimeError):  # this process is ending
            self._prefetch_pool.submit(self._prefetch, run_id)

    def close(self) -> None:
        """Look ahead no more."""
        self._prefetch_pool.shutdown(wait=False, cancel_futures=True)

    def _prefetch(self, run_id: str) -> None:
        with suppress(NotFound, StoreError):  # whoever looks is told
            self.get(run_id)

    def _fold_run(self, run: Run, known: RunSnapshot | None) -> RunSnapshot:
        head = known.head if known else -1
        new = self.store.ledger.steps(run.id, after=head) if head < run.steps else []
        old_steps, old_state = (
            (known.steps, known.state) if known else ([], FLOWS[run.settings.flow].new_state())
        )
        try:
            state = fold(shallow_copy(old_state), new) if new else old_state
        except ValidationError as trouble:
            raise CorruptRow(
                f"the run {run.id} cannot be opened: one of its steps in the store is not as it should be"
            ) from trouble
        steps = [*old_steps, *new] if new else old_steps
        worked = known.usage if known and not new else _sum_step_times(steps)
        usage = self.store.calls.sum_usage(run.id).model_copy(
            update=worked.model_dump(include={"seconds", "cpu_seconds"})
        )
        return RunSnapshot(run, state, steps, usage, steps[-1].n, steps[-1].next)  # type: ignore[arg-type]


def _sum_step_times(steps: list[Step]) -> Usage:
    return Usage(
        seconds=round(sum(s.seconds for s in steps), 2),
        cpu_seconds=round(sum(s.cpu_ms for s in steps) / 1000, 3),
    )
