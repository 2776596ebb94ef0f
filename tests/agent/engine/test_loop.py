"""The loop with a flow of its own: one transaction a step, signals, a person in between, failures kept,
rivals shut out."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Annotated, Any

import pytest
from pydantic import Field

from agent.engine.context import RunContext
from agent.engine.loop import Flow, drive
from agent.engine.run_state import FlowState, RunState
from agent.engine.state import append
from agent.errors import LeaseLost, StoreError
from agent.store.database import Store
from agent.types import Edge, Note, Page, PauseRequest, SearchResult, Settings, Status, Step


class Counting(FlowState):
    count: int = 0
    seen: Annotated[list[int], append] = Field(default_factory=list)


class Nowhere:
    """A world in which nothing is asked for."""

    live = False
    engines: dict[str, str] = {}
    absent: dict[str, str] = {}

    def search(self, *_: Any, **__: Any) -> SearchResult:
        raise AssertionError

    def fetch(self, *_: Any, **__: Any) -> Page:
        raise AssertionError


class Bench:
    """A store and one run of a flow that counts to `until`, calling `during` in each step."""

    def __init__(
        self, tmp_path, *, until: int = 5, during=lambda state, tools: None, **settings: Any
    ) -> None:
        self.store, self.until, self.during = Store(f"sqlite:///{tmp_path}/t.db"), until, during
        self.flow = Flow(
            name="counting",
            first_step="count",
            own_state=Counting,
            steps={"count": self.count, "close": lambda s, t: ({}, "review")},
            rest_statuses={"review": Status.REVIEW, "done": Status.DONE},
            write_up_step="close",
            reentry_step="count",
            edges=(
                Edge(start="count", end="count"),
                Edge(start="count", end="review"),
                Edge(start="close", end="review"),
            ),
        )
        first = Step(n=0, name="ask", change={"question": "?"}, next="count", by="person")
        self.run_id = self.store.ledger.create("?", Settings(flow="counting", **settings), first)

    def count(self, state: RunState[Counting], tools: RunContext) -> tuple[dict[str, Any], str]:
        self.during(state, tools)
        change = {"count": state.own.count + 1, "seen": [state.own.count + 1]}
        return change, "review" if state.own.count + 1 >= self.until else "count"

    def drive(self, owner: str = "me") -> Status:
        equip = lambda run, lease: RunContext(run.settings, Nowhere(), self.store, lease)  # noqa: E731
        return drive(self.run_id, flows={"counting": self.flow}, store=self.store, owner=owner, equip=equip)

    @property
    def state(self) -> RunState[Counting]:
        return self.flow.fold_steps(self.store.ledger.steps(self.run_id))


def test_a_run_goes_on_until_a_person_is_needed(tmp_path):
    bench = Bench(tmp_path)
    assert bench.drive() is Status.REVIEW
    steps = bench.store.ledger.steps(bench.run_id)
    assert [step.n for step in steps] == list(range(6))
    assert bench.state.own.seen == [1, 2, 3, 4, 5]
    assert bench.store.ledger.list()[0].status is Status.REVIEW


def test_a_note_between_two_looks_is_kept_and_nothing_is_done_twice(tmp_path):
    def during(state: RunState[Counting], tools: RunContext) -> None:
        if state.own.count == 2 and not state.notes:
            bench.store.ledger.append_person_step(
                bench.run_id, "steer", {"notes": [Note(step=3, text="look left", kind="steer").model_dump()]}
            )

    bench = Bench(tmp_path, during=during)
    bench.drive()
    assert bench.state.own.seen == [1, 2, 3, 4, 5]
    assert [note.text for note in bench.state.notes] == ["look left"]
    assert [s.name for s in bench.store.ledger.steps(bench.run_id)].count("steer") == 1


def test_a_decision_that_a_note_overtook_is_made_anew(tmp_path):
    heard: list[int] = []

    def during(state: RunState[Counting], tools: RunContext) -> None:
        heard.append(len(state.notes))
        if state.own.count == 2 and not state.notes:
            bench.store.ledger.append_person_step(
                bench.run_id, "steer", {"notes": [Note(step=3, text="look left", kind="steer").model_dump()]}
            )

    bench = Bench(tmp_path, during=during, until=3)
    assert bench.drive() is Status.REVIEW
    assert heard == [0, 0, 0, 1], "the last step of all was taken with the note, not in spite of it"
    assert [s.name for s in bench.store.ledger.steps(bench.run_id)] == [
        "ask",
        "count",
        "count",
        "steer",
        "count",
    ]


def test_finish_turns_the_run_even_in_the_middle_of_a_step(tmp_path):
    def during(state: RunState[Counting], tools: RunContext) -> None:
        if state.own.count == 1:
            bench.store.ledger.append_person_step(
                bench.run_id, "finish", {"why_stopped": "asked"}, next="close"
            )

    bench = Bench(tmp_path, during=during, until=50)
    assert bench.drive() is Status.REVIEW
    assert bench.state.own.count == 2 and bench.state.why_stopped == "asked"


def test_pause_lets_the_step_end_and_resume_goes_on(tmp_path):
    def during(state: RunState[Counting], tools: RunContext) -> None:
        if state.own.count == 1:
            bench.store.ledger.append_person_step(
                bench.run_id, "pause", {"control": "paused"}, control="pause"
            )

    bench = Bench(tmp_path, during=during)
    assert bench.drive() is Status.PAUSED
    assert bench.state.own.seen == [1, 2]
    bench.during = lambda state, tools: None
    bench.store.ledger.append_person_step(
        bench.run_id, "resume", {"control": "resumed"}, status=Status.RUNNING, control=""
    )
    assert bench.drive() is Status.REVIEW
    assert bench.state.own.seen == [1, 2, 3, 4, 5]


def test_stop_throws_away_the_step_at_work(tmp_path):
    def during(state: RunState[Counting], tools: RunContext) -> None:
        if state.own.count == 2:
            bench.store.ledger.append_person_step(
                bench.run_id, "stop", {"control": "stopped"}, control="stop"
            )
            tools.checkpoint()

    bench = Bench(tmp_path, during=during)
    assert bench.drive() is Status.STOPPED
    assert bench.state.own.seen == [1, 2]


def test_a_spent_budget_leads_to_the_write_up(tmp_path):
    bench = Bench(tmp_path, max_seconds=-1.0)
    assert bench.drive() is Status.REVIEW
    assert [step.name for step in bench.store.ledger.steps(bench.run_id)] == ["ask", "budget", "close"]
    assert bench.state.stop_reason == "budget" and "working time" in bench.state.why_stopped


def test_a_failure_is_kept_on_the_run_and_can_be_resumed(tmp_path):
    def during(state: RunState[Counting], tools: RunContext) -> None:
        if state.own.count == 2:
            raise ValueError("the disk is on fire")

    bench = Bench(tmp_path, during=during)
    assert bench.drive() is Status.FAILED
    run = bench.store.ledger.get(bench.run_id)
    assert run.error == "ValueError: the disk is on fire"
    bench.during = lambda state, tools: None
    bench.store.ledger.append_person_step(
        bench.run_id, "resume", {}, status=Status.RUNNING, control="", error=""
    )
    assert bench.drive() is Status.REVIEW
    assert bench.state.own.seen == [1, 2, 3, 4, 5]


def test_a_shutdown_lets_the_next_process_go_on(tmp_path):
    def during(state: RunState[Counting], tools: RunContext) -> None:
        if state.own.count == 2:
            tools.shutdown_event.set()
            tools.checkpoint()

    bench = Bench(tmp_path, during=during)
    assert bench.drive() is Status.RUNNING
    assert bench.store.ledger.list_claimable() == [bench.run_id]
    bench.during = lambda state, tools: None
    assert bench.drive("another") is Status.REVIEW
    assert bench.state.own.seen == [1, 2, 3, 4, 5]


def test_four_rivals_do_each_step_once(tmp_path):
    bench = Bench(tmp_path, until=30)
    threads = [threading.Thread(target=bench.drive, args=(f"w{i}",)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert bench.state.own.seen == list(range(1, 31))


def test_a_holder_that_lost_its_lease_records_nothing(tmp_path):
    def during(state: RunState[Counting], tools: RunContext) -> None:
        if state.own.count == 2 and tools.lease.owner == "slow":
            bench.store.ledger.update_run(bench.run_id, lease_until=0.0)
            assert bench.drive("fast") is Status.REVIEW

    bench = Bench(tmp_path, during=during)
    assert bench.drive("slow") is Status.REVIEW
    assert bench.state.own.seen == [1, 2, 3, 4, 5]


def test_a_store_that_cannot_be_written_fails_no_run(tmp_path):
    def during(state: RunState[Counting], tools: RunContext) -> None:
        if state.own.count == 2:
            raise StoreError("the disk is full")

    bench = Bench(tmp_path, during=during)
    with pytest.raises(StoreError, match="full"):
        bench.drive()
    assert bench.store.ledger.get(bench.run_id).status is Status.RUNNING
    bench.during = lambda state, tools: None
    assert bench.drive() is Status.REVIEW
    assert bench.state.own.seen == [1, 2, 3, 4, 5]


def test_a_failure_without_the_lease_says_nothing_about_the_run(tmp_path):
    def during(state: RunState[Counting], tools: RunContext) -> None:
        if tools.lease.owner == "slow":
            bench.store.ledger.update_run(bench.run_id, lease_until=0.0)
            assert bench.drive("fast") is Status.REVIEW
            raise ValueError("too late")

    bench = Bench(tmp_path, during=during)
    with pytest.raises(LeaseLost):
        bench.drive("slow")
    run = bench.store.ledger.get(bench.run_id)
    assert (run.status, run.error) == (Status.REVIEW, "")


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
    assert (bench.state.halt.kind, bench.state.halt.cap, bench.state.halt.step) == (
        "seconds",
        -1,
        1,
    ) and bench.state.stop_reason == ""
    raised = Settings(flow="counting", at_cap="ask")
    bench.store.ledger.append_person_step(
        bench.run_id, "raise", {"halt": None}, status=Status.RUNNING, settings=raised.model_dump_json()
    )
    assert bench.drive() is Status.REVIEW and bench.state.own.seen == [1, 2, 3, 4, 5]


def test_what_a_flow_asks_about_rests_the_run_unless_a_person_spoke_meanwhile(tmp_path):
    bench = Bench(tmp_path)
    spoken = []

    def asks(state: RunState[Counting]) -> PauseRequest | None:
        if state.own.count == 2 and not state.met:
            if not spoken:
                spoken.append(
                    bench.store.ledger.append_person_step(
                        bench.run_id,
                        "steer",
                        {"notes": [Note(step=3, text="look left", kind="steer").model_dump()]},
                    )
                )
            return PauseRequest(kind="conflict", why="two and two", conflicts=["c"])
        return None

    bench.flow = replace(bench.flow, find_pause_request=asks)
    assert bench.drive() is Status.PAUSED
    names = [step.name for step in bench.store.ledger.steps(bench.run_id)]
    assert names == ["ask", "count", "count", "steer", "halt"] and bench.state.met == ["c"]
    bench.store.ledger.append_person_step(bench.run_id, "resume", {"halt": None}, status=Status.RUNNING)
    assert bench.drive() is Status.REVIEW and bench.state.own.seen == [1, 2, 3, 4, 5]


def test_settings_a_person_changes_hold_from_the_next_step_on(tmp_path):
    seen: list[float] = []

    def during(state: RunState[Counting], tools: RunContext) -> None:
        seen.append(tools.settings.max_seconds)
        if state.own.count == 1:
            bench.store.ledger.append_person_step(
                bench.run_id,
                "raise",
                {},
                settings=Settings(flow="counting", max_seconds=77).model_dump_json(),
            )

    bench = Bench(tmp_path, during=during)
    assert bench.drive() is Status.REVIEW
    assert seen == [1800, 1800, 77, 77, 77]
