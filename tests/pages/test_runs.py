"""The list of runs: found, opened, deleted and taken back."""

from __future__ import annotations

import pytest

from agent.types import Settings, Step
from pages.widgets.run import run_list
from tests.pages.conftest import shown

pytestmark = pytest.mark.slow
FIRST = Step(n=0, name="ask", change={}, next="decide", by="person")


def test_an_empty_list_says_what_to_do(app):
    assert "Ask a question on the Research page" in shown(app("runs"))


def test_runs_are_listed_found_deleted_and_restored(app, demo, bench):
    first, second = demo(), demo("In which year was Älvmora Mejeri founded?")
    tester = app("runs")
    assert not tester.exception
    assert {button.key for button in tester.button} >= {f"runs-delete-{first}", f"runs-delete-{second}"}
    tester.text_input(key="runs-text").set_value("founded").run()
    assert f"runs-delete-{first}" not in {button.key for button in tester.button}
    tester.text_input(key="runs-text").set_value("no such words").run()
    assert "No run fits" in shown(tester)

    tester.text_input(key="runs-text").set_value("").run()
    tester.button(key=f"runs-delete-{first}").click().run()
    assert [run.id for run in bench.runs()] == [second]
    tester.button(key="runs-undo-do").click().run()
    assert {run.id for run in bench.runs()} == {first, second}
    assert "back in the list" in tester.success[0].value

    bench.delete(first)
    tester.toggle(key="runs-bin").set_value(True).run()
    tester.button(key=f"runs-restore-{first}").click().run()
    assert {run.id for run in bench.runs()} == {first, second}


def test_many_runs_come_in_pages(app, bench, monkeypatch):
    for number in range(30):
        bench.start(f"Question {number}?")
    tester = app("runs")
    assert sum(button.key.startswith("runs-delete-") for button in tester.button) == 25
    tester.button(key="runs-show-more").click().run()
    assert sum(button.key.startswith("runs-delete-") for button in tester.button) == 30


def test_a_run_beyond_the_first_five_hundred_is_reached(app, bench, monkeypatch):
    first = bench.store.ledger.create("The first one?", Settings(), FIRST)
    for number in range(520):
        bench.store.ledger.create(f"Question {number}?", Settings(), FIRST)
    tester = app("runs")
    tester.session_state[run_list.MORE_KEY] = 19
    tester.run()
    tester.button(key="runs-show-more").click().run()
    assert f"runs-delete-{first}" in {button.key for button in tester.button}
    assert "runs-show-more" not in {button.key for button in tester.button}
