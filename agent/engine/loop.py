"""The loop: take the next step of a run, record it, and go on until a person is needed, the run ends, or a
Signal comes.

It knows steps, the ledger and the context, not what a step does. `drive` may be called by a thread, the
command line or a task queue, any number of times and from any number of processes: the lease admits one."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Any

from agent import counters, logs
from agent.engine.context import RunContext
from agent.engine.run_state import FlowState, RunState
from agent.engine.state import Change, fold, to_jsonable
from agent.errors import (
    BudgetSpent,
    FlowError,
    LeaseLost,
    ModelDown,
    NotRecorded,
    ShutdownRequested,
    StopRequested,
    StoreError,
)
from agent.store.database import Store
from agent.store.ledger import Lease, StaleHead, utc_timestamp
from agent.types import Edge, PauseRequest, Proposal, Run, Status, Step

log = logging.getLogger(__name__)

OTHER_MODEL = PauseRequest(
    kind="model",
    why="Another model or server is set up than this run had. Choose at the run to go on with it, or without "
    "a model; or set the address back and resume.",
)
STATUS_BY_FLAG = {"stop": Status.STOPPED, "pause": Status.PAUSED}
StepFunction = Callable[[Any, RunContext], tuple[Change, str]]


@dataclass(frozen=True)
class Flow:
    """A table of steps, frozen at import and shared by all threads.

    `rest_statuses` are the places where a person is needed or the run ends; `write_up_step` writes the
    answer when a cap is reached or a person asks for it; `reentry_step` is where a run goes on after a
    send-back. `edges` are all ways from step to step: diagrams are drawn from them, and a step that leads
    elsewhere is a FlowError, except to `fail_safe`, the rest of a step that can do nothing right.
    `write_up_tail` are the steps in which the write-up may go on. A run of an `is_one_shot` flow is never
    resumed. `find_pause_request` may pause the run before a step, with a reason. `describe_step` puts a
    step's change into a line."""

    name: str
    first_step: str
    own_state: type[FlowState]
    steps: Mapping[str, StepFunction]
    rest_statuses: Mapping[str, Status]
    write_up_step: str
    reentry_step: str
    edges: tuple[Edge, ...]
    write_up_tail: tuple[str, ...] = ()
    is_one_shot: bool = False
    fail_safe: str = ""
    find_pause_request: Callable[[Any], PauseRequest | None] = lambda _state: None
    describe_step: Callable[[str, Change], str] = lambda _name, _change: ""

    def describe(self, step: Step) -> str:
        """A step in a line for a person, "" when it has nothing worth reporting."""
        if step.name == "budget":
            return str(step.change.get("why_stopped", ""))
        return self.describe_step(step.name, step.change)

    def fold_steps(self, steps: Sequence[Step]) -> RunState:
        """The state after these steps; without any that before the first."""
        return fold(RunState(own=self.own_state()), steps)

    def find_approved_step(self, proposal: Proposal) -> str:
        """The step that carries out a proposal that a person approved."""
        if proposal.next_action == "send_to_hitl":
            return self.write_up_step
        waiting = (edge.end for edge in self.edges if edge.rest and edge.end != self.write_up_step)
        return next(waiting, self.write_up_step)

    def is_ending(self, step: str) -> bool:
        """Is this the write-up or a rest: was the last decision about searching made before it?"""
        return self.is_write_up(step) or step in self.rest_statuses

    def is_write_up(self, step: str) -> bool:
        """Does the step write the answer, with what is reserved of the budget for it?"""
        return step == self.write_up_step or step in self.write_up_tail

    def reenter(self, change: Change) -> tuple[Change, str]:
        """The change with which a run decides again what to do next, and the step it goes on with."""
        return {**change, "pending": None, "why_stopped": "", "stop_reason": ""}, self.reentry_step

    def find_round_start(self, steps: Sequence[Step]) -> int:
        """The step before the round: the last one that led to a review, or a fork; -1 in the first round."""
        return next(
            (
                step.n
                for step in reversed(steps)
                if step.name == "fork" or self.rest_statuses.get(step.next) is Status.REVIEW
            ),
            -1,
        )


def drive(
    run_id: str,
    *,
    flows: Mapping[str, Flow],
    store: Store,
    owner: str,
    equip: Callable[[Run, Lease], RunContext],
    watch: Callable[[], None] | None = None,
    slice_s: float = math.inf,
) -> Status:
    """Drive a run until it rests, or for a slice of so many seconds; returns its status. Does nothing when
    another worker holds it.

    `equip` builds the run's context; `watch` is called after each recorded step. A Signal makes the run
    rest; an error in a step is stored with the run (status failed)."""
    with closing(take_steps(run_id, flows=flows, store=store, owner=owner, equip=equip)) as steps:
        began = time.monotonic()
        for _ in steps:
            if watch:
                watch()
            if time.monotonic() - began > slice_s:
                break
    return store.ledger.get(run_id).status


def take_steps(
    run_id: str,
    *,
    flows: Mapping[str, Flow],
    store: Store,
    owner: str,
    equip: Callable[[Run, Lease], RunContext],
) -> Generator[None, None, None]:
    """Drive a run as `drive` does, and hand over after each recorded step; closing it lets go of the run,
    which any worker may then go on with."""
    lease = store.ledger.claim(run_id, owner)
    run = store.ledger.get(run_id)
    if lease is None:
        return
    try:
        if run.status is not Status.RUNNING:
            store.ledger.release(lease)
            return
        if lease.is_takeover and flows[run.settings.flow].is_one_shot:
            store.ledger.release(
                lease,
                Status.FAILED,
                error=f"It was interrupted, and a {run.settings.flow} run is never resumed: ask again.",
            )
            return
        driver, flag = _RunDriver(flows[run.settings.flow], store, lease, equip(run, lease)), ""
        driver.reload()
        while not (flag or driver.is_at_rest):
            head, _, flag = store.ledger.position(run_id)
            if not flag and head != driver.head:
                driver.reload()
            elif not flag:
                try:
                    with logs.bind(step=head + 1):
                        driver.take_step()
                    yield
                    if driver.tools.step_gap_s and not driver.is_at_rest:
                        driver.tools.wait_step_gap()
                except StopRequested:
                    flag = "stop"
        store.ledger.release(lease, STATUS_BY_FLAG.get(flag), flag=flag)
        if flag in STATUS_BY_FLAG:
            counters.count("runs", run.settings.flow, STATUS_BY_FLAG[flag].value)
    except LeaseLost as lost:
        log.warning("%s", lost)
    except (ShutdownRequested, ModelDown, GeneratorExit):
        with suppress(LeaseLost):
            store.ledger.release(lease)
    except StoreError:
        raise  # nothing can be written now: the run goes on when its lease expires
    except Exception as error:  # the run keeps the error and can be resumed
        log.exception("run %s failed", run_id)
        counters.count("runs", run.settings.flow, Status.FAILED.value)
        store.ledger.release(lease, Status.FAILED, error=f"{type(error).__name__}: {error}"[:1000])


@dataclass
class _RunDriver:
    """A run that one worker drives: its state and position, once it was loaded."""

    flow: Flow
    store: Store
    lease: Lease
    tools: RunContext
    is_paused: bool = False

    @property
    def is_at_rest(self) -> bool:
        """Whether a person is needed or the run has ended."""
        return self.is_paused or self.next in self.flow.rest_statuses

    def reload(self) -> None:
        """Fold the state, with a person's steps, and use the settings as they are now."""
        self.tools.settings = self.store.ledger.get(self.lease.run_id).settings
        steps = self.store.ledger.steps(self.lease.run_id)
        self.state, self.head = self.flow.fold_steps(steps), steps[-1].n
        self.next = steps[-1].next
        self.last_worked_step = next(
            (step.n for step in reversed(steps) if step.by != "person" and step.name != "halt"), 0
        )
        self.tools.round_start, self.tools.recorded_at = self.flow.find_round_start(steps), steps[-1].at
        self.spent_s: float = sum(step.seconds for step in steps if step.n > self.tools.round_start)

    def take_step(self) -> None:
        """Take the next step and record it. A spent budget is a step too: it leads to the write-up, or pauses
        the run to ask a person."""
        name, began = self.next, (time.monotonic(), time.thread_time())
        closing_up = self.flow.is_write_up(name)
        before = range(self.last_worked_step + 1, self.head + 1)
        try:
            self.tools.begin_step(self.head + 1, spent_s=self.spent_s, closing_up=closing_up, earlier=before)
            self.tools.checkpoint()
            if self.tools.has_other_model:
                return self.pause_for_person(OTHER_MODEL, began)
            if not closing_up and (halt := self.flow.find_pause_request(self.state)):
                return self.pause_for_person(halt, began)
            change, next = self.flow.steps[name](self.state, self.tools)
            ways = {end for edge in self.flow.edges if edge.start == name for end in (edge.rest, edge.end)}
            if next not in (*ways, self.flow.fail_safe) or not next:
                raise FlowError(
                    f"step {name} of the flow {self.flow.name} led to {next}, and no edge goes there"
                )
        except ModelDown as down:
            if down.messages:
                steps = (*before, self.tools.step)
                self.store.calls.spend(self.lease.run_id, steps, down.role, down.messages)
            if self.tools.on_model_down is None:
                return self.pause_for_person(PauseRequest(kind="model", why=str(down)), began)
            self.tools.on_model_down(str(down))
            raise
        except NotRecorded as miss:
            return self.pause_for_person(PauseRequest(kind="recorded", why=str(miss)), began)
        except BudgetSpent as spent:
            if spent.cap and self.tools.settings.at_cap == "ask" and not closing_up:
                halt = PauseRequest(kind=spent.cap, why=str(spent), used=spent.used, cap=spent.limit)  # type: ignore[arg-type]
                return self.pause_for_person(halt, began)
            name, next = "budget", self.flow.write_up_step
            change = {"why_stopped": str(spent), "stop_reason": "budget"}
        return self.record_step(name, to_jsonable(change), next, began)

    def pause_for_person(self, halt: PauseRequest, began: tuple[float, float]) -> None:
        """Pause with a reason; when a person acted meanwhile, decide again instead."""
        change = to_jsonable({"halt": halt.replace(step=self.head + 1), "met": halt.conflicts})
        step = self._build_step("halt", change, self.next, began)
        try:
            self.store.ledger.commit(self.lease, step, Status.PAUSED, self.state.summary())
        except StaleHead:
            self.reload()
        else:
            self.head, self.is_paused = step.n, True

    def record_step(self, name: str, change: Change, next: str, began: tuple[float, float]) -> None:
        """Append a step; after a person's steps when they acted meanwhile, and their next step and plan are
        kept. A decision made without a person's new note, and an answer written without their new edits, are
        dropped and made again."""
        aimed, seen = self.next, self.head
        while True:
            step = self._build_step(name, change, next, began)
            fold(self.state, [step])
            try:
                self.store.ledger.commit(
                    self.lease, step, self.flow.rest_statuses.get(next, Status.RUNNING), self.state.summary()
                )
                break
            except StaleHead:
                self.reload()
                person_steps = self.store.ledger.steps(self.lease.run_id, after=seen)
                # After these steps of a person, a decision that was made without them is made again.
                is_guided = any(step.name in ("steer", "replan", "undo", "redo") for step in person_steps)
                is_edited = any(step.change.get("edits") for step in person_steps)
                if (name == self.flow.reentry_step and is_guided) or (
                    self.flow.is_write_up(name) and is_edited
                ):
                    return
                if any("plan_parts" in step.change for step in person_steps):
                    change.pop("plan_parts", None)
                next = next if self.next == aimed else self.next
        counters.count("steps", self.flow.name, name)
        if next in self.flow.rest_statuses:
            counters.count("runs", self.flow.name, self.flow.rest_statuses[next].value)
        self.tools.recorded_at = step.at
        self.head, self.next, self.last_worked_step = step.n, next, step.n
        self.spent_s += step.seconds

    def _build_step(self, name: str, change: Change, next: str, began: tuple[float, float]) -> Step:
        return Step(
            n=self.head + 1,
            name=name,
            change=change,
            next=next,
            by="code",
            at=utc_timestamp(),
            seconds=round(time.monotonic() - began[0], 4),
            cpu_ms=round((time.thread_time() - began[1]) * 1000, 2),
        )
