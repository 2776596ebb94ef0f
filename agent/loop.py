"""The one verb: take the next step of a run, record it, and go on until a person is needed, the run ends, or a Signal comes.

It knows steps, the ledger and the toolbox; it does not know what any step does. `advance` may be called by a local thread, the
command line or a task queue, any number of times and from any number of processes: the lease lets one through.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent.errors import BudgetSpent, FlowError, LeaseLost, ShuttingDown, Stopped, StoreError
from agent.state import Change, State, fold, jsonable, merge
from agent.store.database import Store
from agent.store.ledger import Behind, Lease, now
from agent.toolbox import Tools
from agent.types import Edge, Halt, Run, Status, Step

log = logging.getLogger(__name__)

FLAGS = {"stop": Status.STOPPED, "pause": Status.PAUSED}
StepFunction = Callable[[Any, Tools], tuple[Change, str]]


@dataclass(frozen=True)
class Flow:
    """A table of steps, frozen at import and shared by every thread.

    `rests` names where a person is needed or the run ends; `on_budget` is the step that writes up what was found when a cap is
    reached (or a person asks for it), `again` the one that a send-back leads to; `summary` gives the columns of the run's row
    that follow from its state. `edges` are all the ways from step to step: its picture is drawn from them, and a step that
    names another next is a FlowError. `decisions` gives the steps behind which a choice is drawn, with its words. A flow that runs
    `once` is never resumed: a run of it that its first driver left unfinished has failed. `fail_safe` is the rest that every step may
    end at when it can do nothing right; such ways are not drawn.
    `heed` makes a step's change obey what a person said while it was taken, and the state with their word. `asks` looks at the state
    before each step but the write-up, and may say why a person is asked first.
    """

    name: str
    first: str
    state: type[State]
    steps: Mapping[str, StepFunction]
    rests: Mapping[str, Status]
    on_budget: str
    again: str
    summary: Callable[[Any], dict[str, Any]]
    edges: tuple[Edge, ...]
    decisions: Mapping[str, str] = field(default_factory=dict)
    once: bool = False
    fail_safe: str = ""
    heed: Callable[[Any, Change, Sequence[Step]], Change] = lambda _state, change, _spoken: change
    asks: Callable[[Any], Halt | None] = lambda _state: None

    def take(self, name: str, state: Any, tools: Tools) -> tuple[Change, str]:
        """Take one step. Raises FlowError when it leads where no edge goes."""
        change, next = self.steps[name](state, tools)
        if next != self.fail_safe and not any(edge.start == name and next in (edge.rest or edge.end, edge.end) for edge in self.edges):
            raise FlowError(f"step {name} of the flow {self.name} led to {next}, where no edge goes")
        return change, next

    def begin(self, steps: Sequence[Step]) -> Any:
        """The state after these steps."""
        return fold(self.state(), steps)

    def since(self, steps: Sequence[Step]) -> int:
        """The step the round began after: the last that led to a review, or a fork; -1 in the first round."""
        return next((step.n for step in reversed(steps) if step.name == "fork" or self.rests.get(step.next) is Status.REVIEW), -1)


def advance(
    run_id: str, *, flows: Mapping[str, Flow], store: Store, owner: str, equip: Callable[[Run, Lease], Tools], watch: Callable[[], None] | None = None
) -> Status:
    """Drive a run until it rests; returns how it stands then. Does nothing when another worker holds it.

    `equip` gives the run its toolbox; `watch` is called after each recorded step. A Signal rests the run; an error in a step is
    kept on the run (status failed), never lost.
    """
    lease = store.ledger.claim(run_id, owner)
    run = store.ledger.get(run_id)
    if lease is None:
        return run.status
    try:
        if run.status is not Status.RUNNING:
            store.ledger.rest(lease)
            return run.status
        if lease.taken_over and flows[run.settings.flow].once:
            store.ledger.rest(lease, Status.FAILED, error=f"It was left unfinished, and a {run.settings.flow} run is never resumed: ask anew.")
            return Status.FAILED
        flag = _until_rest(_Walk(flows[run.settings.flow], store, lease, equip(run, lease)), watch)
        store.ledger.rest(lease, FLAGS.get(flag), flag=flag)
    except LeaseLost as lost:
        log.warning("%s", lost)
    except ShuttingDown:
        store.ledger.rest(lease)
    except StoreError:
        raise  # nothing can be written down now, so nothing is: the run stands where it stood, and is taken up when its lease runs out
    except Exception as trouble:  # the loop must not fall: the run says what happened and can be resumed
        log.exception("run %s failed", run_id)
        store.ledger.rest(lease, Status.FAILED, error=f"{type(trouble).__name__}: {trouble}"[:1000])
    return store.ledger.get(run_id).status


class _Walk:
    """A run in the hands of one worker: its state, and where it stands."""

    def __init__(self, flow: Flow, store: Store, lease: Lease, tools: Tools) -> None:
        self.flow, self.store, self.lease, self.tools = flow, store, lease, tools
        self.halted = False
        self._fold()

    def reload(self) -> None:
        """A person has spoken: fold the run's state anew, and work by the settings as they are now."""
        self.tools.settings = self.store.ledger.get(self.lease.run_id).settings
        self._fold()

    def _fold(self) -> None:
        steps = self.store.ledger.steps(self.lease.run_id)
        self.state, self.head, self.next = self.flow.begin(steps), steps[-1].n, steps[-1].next
        self.worked = next((step.n for step in reversed(steps) if step.by != "person" and step.name != "halt"), 0)
        self.tools.since = self.flow.since(steps)
        self.spent_s: float = sum(step.seconds for step in steps if step.n > self.tools.since)

    def take(self) -> None:
        """Take the next step and record it. A spent budget is a step too: it leads to the write-up, or to a person who is asked."""
        name, began = self.next, (time.monotonic(), time.thread_time())
        closing_up = name == self.flow.on_budget
        before = range(self.worked + 1, self.head + 1)
        self.tools.begin(self.head + 1, spent_s=self.spent_s, closing_up=closing_up, earlier=before)
        try:
            self.tools.checkpoint()
            if not closing_up and (halt := self.flow.asks(self.state)):
                return self.ask(halt, began)
            change, next = self.flow.take(name, self.state, self.tools)
        except BudgetSpent as spent:
            if spent.cap and self.tools.settings.at_cap == "ask" and not closing_up:
                return self.ask(Halt(kind=spent.cap, why=str(spent), used=spent.used, cap=spent.limit), began)  # type: ignore[arg-type]
            name, change, next = "budget", {"why_stopped": str(spent), "stop_reason": "budget"}, self.flow.on_budget
        return self.record(name, jsonable(change), next, began)

    def ask(self, halt: Halt, began: tuple[float, float]) -> None:
        """Rest where it stands, and say why. When a person spoke meanwhile nothing is recorded: it may not be so any more."""
        change = jsonable({"halt": halt.model_copy(update={"step": self.head + 1}), "met": halt.conflicts})
        step = self._step("halt", change, self.next, began)
        try:
            self.store.ledger.commit(self.lease, step, Status.PAUSED, self.flow.summary(self.state))
        except Behind:
            self.reload()
        else:
            self.head, self.halted = step.n, True

    def record(self, name: str, change: Change, next: str, began: tuple[float, float]) -> None:
        """Append a step. When a person spoke meanwhile it goes after theirs, and a turn they took is kept.

        A decision that a note overtook is not recorded: it is made anew, and obeys the note. So is an answer that an edit of the
        facts overtook: it would stand on what a person struck.
        """
        aimed, seen = self.next, self.head
        merge(self.state, change)
        while True:
            step = self._step(name, change, next, began)
            try:
                self.store.ledger.commit(self.lease, step, self.flow.rests.get(next, Status.RUNNING), self.flow.summary(self.state))
                break
            except Behind:
                self.reload()
                spoken = self.store.ledger.steps(self.lease.run_id, after=seen)
                if name == self.flow.again and any(step.name == "steer" for step in spoken):
                    return
                if name == self.flow.on_budget and any(step.change.get("edits") for step in spoken):
                    return
                change = jsonable(self.flow.heed(self.state, change, spoken))
                next = next if self.next == aimed else self.next
                merge(self.state, change)
        self.head, self.next, self.worked, self.spent_s = step.n, next, step.n, self.spent_s + step.seconds

    def _step(self, name: str, change: Change, next: str, began: tuple[float, float]) -> Step:
        return Step(
            n=self.head + 1, name=name, change=change, next=next, at=now(),
            seconds=round(time.monotonic() - began[0], 4), cpu_ms=round((time.thread_time() - began[1]) * 1000, 2),
        )  # fmt: skip


def _until_rest(walk: _Walk, watch: Callable[[], None] | None) -> str:
    """Take steps until the run rests; returns the flag ("pause", "stop") that made it rest, "" when it did so by itself."""
    while walk.next not in walk.flow.rests and not walk.halted:
        head, _, control = walk.store.ledger.position(walk.lease.run_id)
        if control:
            return control
        if head != walk.head:
            walk.reload()
            continue
        try:
            walk.take()
            if watch:
                watch()
            if walk.next not in walk.flow.rests and not walk.halted:
                walk.tools.rest()
        except Stopped:
            return "stop"
    return ""
