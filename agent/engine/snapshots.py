"""Runs as they are now: their states, folded from their steps and cached.

Reading a run at rest costs one small query; reading one that moved, the steps since the last reading. A run
that nobody has read, or of which a note was erased or a step undone since, is folded from its first step."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass

from pydantic import ValidationError

from agent.engine.loop import Flow
from agent.engine.run_state import RunState
from agent.engine.state import find_undone, fold, shallow_copy
from agent.errors import CorruptRow, NotFound, StoreError
from agent.store.database import Store
from agent.store.ledger import ERASE_STEP
from agent.types import Run, Status, Step, Usage

CACHE_SIZE = 64
LOCK_COUNT = 16
"""Locks that keep two threads from folding one run at the same time."""


@dataclass(frozen=True)
class RunSnapshot:
    """A run as it is now: its row, its state, its steps (oldest first) and its usage. Read-only."""

    run: Run
    state: RunState
    steps: list[Step]
    usage: Usage
    head: int
    next: str
    activity: str = ""
    """What the run is doing, in words; "" at rest."""


class SnapshotCache:
    """The newest CACHE_SIZE snapshots of runs. `store_of` gives the store of a run, `step_labels` are the
    steps of all flows in words."""

    def __init__(
        self, store_of: Callable[[str], Store], flows: Mapping[str, Flow], step_labels: Mapping[str, str]
    ) -> None:
        self.store_of, self.flows, self.step_labels = store_of, flows, step_labels
        self._cache: OrderedDict[str, RunSnapshot] = OrderedDict()
        self._lock = threading.Lock()
        self._fold_locks = [threading.Lock() for _ in range(LOCK_COUNT)]
        self._prefetch_pool = ThreadPoolExecutor(1, thread_name_prefix="snapshots")

    def get(self, run_id: str) -> RunSnapshot:
        """The run as it is now. Raises NotFound, CorruptRow."""
        with self._fold_locks[hash(run_id) % LOCK_COUNT]:
            run = self.store_of(run_id).ledger.get(run_id)
            with self._lock:
                known = self._cache.get(run_id)
            rests = run.status is not Status.RUNNING
            if known and rests and (known.head, known.run.status) == (run.steps, run.status):
                return known
            view = self._fold_run(run, known)
            with self._lock:
                self._cache[run_id] = view
                self._cache.move_to_end(run_id)
                while len(self._cache) > CACHE_SIZE:
                    self._cache.popitem(last=False)
            return view

    def prefetch(self, run_id: str) -> None:
        """Start folding this run in another thread, because it will be read soon."""

        def read() -> None:
            with suppress(NotFound, StoreError):  # the reader gets the error
                self.get(run_id)

        with suppress(RuntimeError):  # this process is ending
            self._prefetch_pool.submit(read)

    def forget(self, run_ids: Iterable[str]) -> None:
        """Drop the snapshots of these runs."""
        with self._lock:
            for run_id in run_ids:
                self._cache.pop(run_id, None)

    def close(self) -> None:
        """Stop prefetching."""
        self._prefetch_pool.shutdown(wait=False, cancel_futures=True)

    def _fold_run(self, run: Run, known: RunSnapshot | None) -> RunSnapshot:
        head = known.head if known else -1
        store = self.store_of(run.id)
        new = store.ledger.steps(run.id, after=head) if head < run.steps else []
        if known and (find_undone(new) or any(step.name == ERASE_STEP for step in new)):
            return self._fold_run(run, None)
        state = known.state if known else self.flows[run.settings.flow].fold_steps([])
        steps = known.steps if known else []
        try:
            state = fold(shallow_copy(state), new) if new else state
        except (ValidationError, KeyError) as error:
            raise CorruptRow(
                f"the run {run.id} cannot be opened: one of its stored steps is damaged"
            ) from error
        steps = [*steps, *new] if new else steps
        usage = store.calls.sum_usage(run.id).replace(
            seconds=round(sum(step.seconds for step in steps), 2),
            cpu_seconds=round(sum(step.cpu_ms for step in steps) / 1000, 3),
        )
        next, activity = steps[-1].next, ""
        if run.status is Status.RUNNING:
            target = state.own.describe_target(state, next)
            activity = f"{self.step_labels.get(next, next)}{': ' + target if target else ''}"
        return RunSnapshot(run, state, steps, usage, steps[-1].n, next, activity)
