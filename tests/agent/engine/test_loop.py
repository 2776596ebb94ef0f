"""The loop with a flow of its own: one transaction a step, signals, a person in between, failures kept,
rivals shut out."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any

import pytest
from pydantic import Field

from agent.engine.context import RunContext
from agent.engine.loop import Flow, drive
from agent.engine.run_state import FlowState, RunState
from agent.engine.state import append
from agent.errors import LeaseLost, StoreError
from agent.store.database import Store
from agent.types import Edge, Note, PauseRequest, Settings, Status, Step
from tests.agent.engine.equipment import equip

pytestmark = pytest.mark.usefixtures("on_both_databases")

NOWHERE: Any = SimpleNamespace(live=False, engines={}, absent={})
NOTE = {"notes": [Note(step=3, text="look left", kind="steer").model_dump()]}


class Counting(FlowState):
    count: int = 0
    seen: Annotated[list[int], append] = Field(default_factory=list)


class Bench:
    """A store and one run of a flow that counts to `until`; when it has counted to `at`, `do` is called with
    what the step may use, once."""

    def __init__(
        self,
        path: Path,
        do: Callable[[RunContext], object] = lambda tools: None,
        *,
        at: int = 2,
        until: int = 5,
        **settings: Any,
    ) -> None:
        address = os.environ.get("DATABASE_URL") or f"sqlite:///{path}/t.db"
        self.store, self.until, self.do, self.at = Store(address), until, do, at
        self.heard: list[int] = []
        edges = (("count", "count"), ("count", "review"), ("close", "review"))
        self.flow = Flow(
            name="counting",
            first_step="count",
            own_state=Counting,
            steps={"count": self.count, "close": lambda state, tools: ({}, "review")},
            rest_statuses={"review": Status.REVIEW, "done": Status.DONE},
            write_up_step="close",
            reentry_step="count",
            edges=tuple(Edge(start=start, end=end) for start, end in edges),
        )
        first = Step(n=0, name="ask", change={"question": "?"}, next="count", by="person")
        self.run_id = self.store.ledger.create("?", Settings(flow="counting", **settings), first)

    def count(self, state: RunState[Counting], tools: RunContext) -> tuple[dict[str, Any], str]:
        self.heard.append(len(state.notes))
        if state.own.count == self.at:
            self.at = -1
            self.do(tools)
        change = {"count": state.own.count + 1, "seen": [state.own.count + 1]}
        return change, "review" if state.own.count + 1 >= self.until else "count"

    def say(self, name: str, change: dict[str, Any] | None = None, **more: Any) -> None:
        """Record a person's step."""
        self.store.ledger.append_person_step(self.run_id, name, change or {}, **more)

    def drive(self, owner: str = "me") -> Status:
        def tools(run: Any, lease: Any) -> RunContext:
            return equip(run.settings, NOWHERE, self.store, lease)

        return drive(self.run_id, flows={"counting": self.flow}, store=self.store, owner=owner, equip=tools)

    def drive_on(self, owner: str = "me") -> None:
        """Drive to the end: it has counted each number once."""
        assert self.drive(owner) is Status.REVIEW
        assert self.state.own.seen == list(range(1, self.until + 1))

    @property
    def names(self) -> list[str]:
        """The steps as they were recorded."""
        return [step.name for step in self.store.ledger.steps(self.run_id)]

    @property
    def state(self) -> RunState[Counting]:
        return self.flow.fold_steps(self.store.ledger.steps(self.run_id))


def test_a_run_goes_on_until_a_person_is_needed(tmp_path):
    bench = Bench(tmp_path)
    bench.drive_on()
    assert [step.n for step in bench.store.ledger.steps(bench.run_id)] == list(range(6))
    assert bench.store.ledger.list()[0].status is Status.REVIEW


def test_a_note_in_the_middle_is_kept_and_what_it_overtook_is_decided_anew(tmp_path):
    bench = Bench(tmp_path, lambda tools: bench.say("steer", NOTE), until=3)
    bench.drive_on()
    assert [note.text for note in bench.state.notes] == ["look left"]
    assert bench.heard == [0, 0, 0, 1], "the last step of all was taken with the note, not in spite of it"
    assert bench.names == ["ask", "count", "count", "steer", "count"]


def test_finish_turns_the_run_even_in_the_middle_of_a_step(tmp_path):
    asked = {"why_stopped": "asked"}
    bench = Bench(tmp_path, lambda tools: bench.say("finish", asked, next="close"), at=1, until=50)
    assert bench.drive() is Status.REVIEW
    assert bench.state.own.count == 2 and bench.state.why_stopped == "asked"


def test_pause_lets_the_step_end_and_resume_goes_on(tmp_path):
    bench = Bench(tmp_path, lambda tools: bench.say("pause", control="pause"), at=1)
    assert bench.drive() is Status.PAUSED and bench.state.own.seen == [1, 2]
    bench.say("resume", status=Status.RUNNING, control="")
    bench.drive_on()


def test_stop_throws_away_the_step_at_work(tmp_path):
    def stop(tools: RunContext) -> None:
        bench.say("stop", control="stop")
        tools.checkpoint()

    bench = Bench(tmp_path, stop)
    assert bench.drive() is Status.STOPPED and bench.state.own.seen == [1, 2]


def test_a_spent_budget_leads_to_the_write_up(tmp_path):
    bench = Bench(tmp_path, max_seconds=-1.0)
    assert bench.drive() is Status.REVIEW and bench.names == ["ask", "budget", "close"]
    assert bench.state.stop_reason == "budget" and "working time" in bench.state.why_stopped


def fail(error: Exception) -> Callable[[RunContext], None]:
    """A step that ends with this error."""

    def work(tools: RunContext) -> None:
        raise error

    return work


def test_a_failure_is_kept_on_the_run_and_can_be_resumed(tmp_path):
    bench = Bench(tmp_path, fail(ValueError("the disk is on fire")))
    assert bench.drive() is Status.FAILED
    assert bench.store.ledger.get(bench.run_id).error == "ValueError: the disk is on fire"
    bench.say("resume", status=Status.RUNNING, control="", error="")
    bench.drive_on()


def test_a_store_that_cannot_be_written_fails_no_run(tmp_path):
    bench = Bench(tmp_path, fail(StoreError("the disk is full")))
    with pytest.raises(StoreError, match="full"):
        bench.drive()
    assert bench.store.ledger.get(bench.run_id).status is Status.RUNNING
    bench.drive_on()


def test_a_shutdown_lets_the_next_process_go_on(tmp_path):
    def end(tools: RunContext) -> None:
        tools.shutdown_event.set()
        tools.checkpoint()

    bench = Bench(tmp_path, end)
    assert bench.drive() is Status.RUNNING
    assert bench.store.ledger.list_claimable() == [bench.run_id]
    bench.drive_on("another")


def test_four_rivals_do_each_step_once(tmp_path):
    bench = Bench(tmp_path, until=30)
    threads = [threading.Thread(target=bench.drive, args=(f"w{i}",)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    bench.drive_on()


@pytest.mark.parametrize("then", [None, ValueError("too late")], ids=["works on", "fails"])
def test_a_holder_that_lost_its_lease_says_nothing_about_the_run(tmp_path, then):
    def lose(tools: RunContext) -> None:
        bench.store.ledger.update_run(bench.run_id, lease_until=0.0)
        bench.drive_on("fast")
        if then:
            raise then

    bench = Bench(tmp_path, lose)
    if then:
        with pytest.raises(LeaseLost):
            bench.drive("slow")
    else:
        assert bench.drive("slow") is Status.REVIEW
    run = bench.store.ledger.get(bench.run_id)
    assert (run.status, run.error, bench.state.own.seen) == (Status.REVIEW, "", [1, 2, 3, 4, 5])


def test_a_step_that_leads_where_no_edge_goes_fails_the_run_and_says_so(tmp_path):
    bench = Bench(tmp_path)
    bench.flow = replace(bench.flow, steps={"count": lambda state, tools: ({}, "nowhere")})
    assert bench.drive() is Status.FAILED
    assert "led to nowhere" in bench.store.ledger.get(bench.run_id).error


def test_a_spent_budget_that_is_asked_about_rests_before_the_step_and_takes_it_after(tmp_path):
    bench = Bench(tmp_path, max_seconds=-1.0, at_cap="ask")
    assert bench.drive() is Status.PAUSED
    steps = bench.store.ledger.steps(bench.run_id)
    assert [(step.name, step.next) for step in steps] == [("ask", "count"), ("halt", "count")]
    halt = bench.state.halt
    assert (halt.kind, halt.cap, halt.step, bench.state.stop_reason) == ("seconds", -1, 1, "")
    raised = Settings(flow="counting", at_cap="ask").model_dump_json()
    bench.say("raise", {"halt": None}, status=Status.RUNNING, settings=raised)
    bench.drive_on()


def test_what_a_flow_asks_about_rests_the_run_unless_a_person_spoke_meanwhile(tmp_path):
    bench = Bench(tmp_path)

    def asks(state: RunState[Counting]) -> PauseRequest | None:
        if state.own.count != 2 or state.met:
            return None
        if "steer" not in bench.names:
            bench.say("steer", NOTE)
        return PauseRequest(kind="conflict", why="two and two", conflicts=["c"])

    bench.flow = replace(bench.flow, find_pause_request=asks)
    assert bench.drive() is Status.PAUSED
    assert bench.names == ["ask", "count", "count", "steer", "halt"] and bench.state.met == ["c"]
    bench.say("resume", {"halt": None}, status=Status.RUNNING)
    bench.drive_on()


def test_settings_a_person_changes_hold_from_the_next_step_on(tmp_path):
    other = Settings(flow="counting", max_seconds=77).model_dump_json()
    bench = Bench(tmp_path, lambda tools: bench.say("raise", settings=other), at=1)
    plain, seen = bench.count, list[float]()

    def count(state: RunState[Counting], tools: RunContext) -> tuple[dict[str, Any], str]:
        seen.append(tools.settings.max_seconds)
        return plain(state, tools)

    bench.flow = replace(bench.flow, steps={"count": count})
    bench.drive_on()
    assert seen == [1800, 1800, 77, 77, 77]
