"""Runs as they stand, folded from their steps and kept: what every look at a run asks for. It knows the store and no person's word.

A look at a run that rests costs one small query; at one that moved, the steps since the last look. A run nobody has looked at is folded
from its first step; `foresee` begins that when a look is on its way.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass

from pydantic import ValidationError

from agent.errors import NotFound, StoreError, Unreadable
from agent.flows import DOING, FLOWS
from agent.flows.site_state import Site
from agent.flows.state import Research
from agent.state import fold, fork
from agent.store.database import Store
from agent.types import Run, Status, Step, Usage

CACHED = 64
TURNS = 16
"""Locks that keep two threads from folding one run at the same time."""


@dataclass(frozen=True)
class View:
    """A run as it stands: its row, its state, its steps (oldest first) and what it has spent. To be read, not changed."""

    run: Run
    state: Research
    steps: list[Step]
    usage: Usage
    head: int
    next: str

    @property
    def activity(self) -> str:
        """What the run is doing right now, in words; "" at rest."""
        if self.run.status is not Status.RUNNING:
            return ""
        pending = self.state.pending
        about = pending.query_or_url if pending and self.next in ("search", "crawl") else ""
        if isinstance(self.state, Site) and self.next == "crawl":
            about = ", ".join(self.state.all_discovered_urls[i] for i in self.state.urls_to_process[:5])
        return f"{DOING.get(self.next, self.next)}{': ' + about if about else ''}"


class Views:
    """The views of one store, the latest CACHED of them."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._known: OrderedDict[str, View] = OrderedDict()
        self._lock = threading.Lock()
        self._turns = [threading.Lock() for _ in range(TURNS)]
        self._ahead = ThreadPoolExecutor(1, thread_name_prefix="views")

    def get(self, run_id: str) -> View:
        """The run as it stands. Raises NotFound, Unreadable."""
        with self._turns[hash(run_id) % TURNS]:
            run = self.store.ledger.get(run_id)
            with self._lock:
                known = self._known.get(run_id)
            if known and known.head == run.steps and known.run.status is run.status and run.status is not Status.RUNNING:
                return known
            view = self._folded(run, known)
            with self._lock:
                self._known[run_id] = view
                self._known.move_to_end(run_id)
                while len(self._known) > CACHED:
                    self._known.popitem(last=False)
            return view

    def foresee(self, run_id: str) -> None:
        """Somebody is about to look at this run: begin to fold it, in a thread of its own."""
        with suppress(RuntimeError):  # this process is ending
            self._ahead.submit(self._glance, run_id)

    def close(self) -> None:
        """Look ahead no more."""
        self._ahead.shutdown(wait=False, cancel_futures=True)

    def _glance(self, run_id: str) -> None:
        with suppress(NotFound, StoreError):  # whoever looks is told
            self.get(run_id)

    def _folded(self, run: Run, known: View | None) -> View:
        head = known.head if known else -1
        new = self.store.ledger.steps(run.id, after=head) if head < run.steps else []
        old_steps, old_state = (known.steps, known.state) if known else ([], FLOWS[run.settings.flow].state())
        try:
            state = fold(fork(old_state), new) if new else old_state
        except ValidationError as trouble:
            raise Unreadable(f"the run {run.id} cannot be opened: one of its steps in the store is not as it should be") from trouble
        steps = [*old_steps, *new] if new else old_steps
        worked = known.usage if known and not new else _worked(steps)
        usage = self.store.calls.spent(run.id).model_copy(update=worked.model_dump(include={"seconds", "cpu_seconds"}))
        return View(run, state, steps, usage, steps[-1].n, steps[-1].next)  # type: ignore[arg-type]


def _worked(steps: list[Step]) -> Usage:
    return Usage(seconds=round(sum(s.seconds for s in steps), 2), cpu_seconds=round(sum(s.cpu_ms for s in steps) / 1000, 3))
