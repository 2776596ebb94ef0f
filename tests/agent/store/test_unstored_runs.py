"""Runs in memory: shared by threads, held for a while, forgotten."""

from __future__ import annotations

import pytest

from agent.store import database
from agent.store.database import HELD_S, UnstoredRuns
from agent.types import Settings, Step
from tests.records import fill

pytestmark = pytest.mark.slow


def begin(runs: UnstoredRuns, question: str = "q") -> str:
    first = fill(Step, name="ask", change={"question": question}, next="gate")
    return runs.create(question, Settings(flow="reply"), first)


def test_a_run_that_ends_is_held_or_forgotten() -> None:
    runs = UnstoredRuns()
    held, dropped = begin(runs), begin(runs)
    assert runs.ended_runs() == [] and runs.get(held) is not None
    assert runs.end(held, hold=True) == [] and runs.end(dropped, hold=False) == [dropped]
    assert [run.id for run in runs.ended_runs()] == [held] and runs.get(dropped) is None


def test_only_the_newest_ended_runs_are_held_and_those_at_work_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "MAX_HELD", 5)
    runs = UnstoredRuns()
    working, first = begin(runs), begin(runs)
    assert runs.end(first, hold=True) == []
    for _ in range(4):
        assert runs.end(begin(runs), hold=True) == []
    assert runs.end(begin(runs), hold=True) == [first]
    assert runs.get(working) is not None and len(runs.ended_runs()) == 5


def test_an_ended_run_is_forgotten_when_its_time_is_over() -> None:
    now = [100.0]
    runs = UnstoredRuns(clock=lambda: now[0])
    old = begin(runs)
    runs.end(old, hold=True)
    now[0] += HELD_S
    assert runs.end(begin(runs), hold=True) == [old] and len(runs.ended_runs()) == 1
    runs.close()
    assert runs.stores() == []
