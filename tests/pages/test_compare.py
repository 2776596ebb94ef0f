"""The screen of two runs side by side, by its address; and a step's form in a run, whole."""

from __future__ import annotations

import pytest

from agent.types import Status
from tests.pages.conftest import shown

pytestmark = pytest.mark.slow


def test_two_runs_by_their_address_and_none_when_one_is_missing(app, demo, bench):
    one = demo()
    two = bench.act(one, "fork", step=3)
    bench.drive(two)
    tester = app("compare", run=one, **{"with": two})
    assert not tester.exception and "The answers, sentence by sentence" in shown(tester)
    assert "Two runs are needed" in shown(app("compare"))
    assert "there is no run nobody" in shown(app("compare", run=one, **{"with": "nobody"}))


def test_a_run_at_its_cap_asks_and_its_answer_holds(app, demo, bench):
    run_id = demo(at_cap="ask", max_steps=2)
    assert bench.snapshot(run_id).run.status is Status.PAUSED
    tester = app(run=run_id)
    assert "Budget used up: searches and pages" in shown(tester) and not any(
        b.label == "Resume" for b in tester.button
    )
    field = next(box for box in tester.number_input if box.key.startswith("research-halt-"))
    assert (field.value, field.min) == (3, 3)
    field.set_value(9)
    next(b for b in tester.button if b.key == "research-halt-raise").click().run()
    assert (
        bench.snapshot(run_id).run.settings.max_steps == 9
        and bench.snapshot(run_id).run.status is Status.RUNNING
    )


def test_a_new_run_from_the_form_of_a_card(app, demo, bench):
    run_id = demo()
    tester = app(run=run_id)
    next(
        b for b in tester.button if b.key and b.key.startswith("research-fork-") and b.key.endswith("-action")
    ).click().run()
    next(area for area in tester.text_area if area.key.startswith("fork:")).set_value("Hurry.").run()
    next(b for b in tester.button if b.label == "Start branch").click().run()
    new = bench.runs()[0]
    assert (
        new.forked_from == run_id
        and bench.snapshot(new.id).state.notes[0].text == "Hurry."
        and new.settings.at_cap == "ask"
    )
    assert new.id in tester.query_params["run"]


def test_a_run_that_rests_at_a_conflict_shows_both_sides_and_goes_on(app, demo, bench):
    run_id = demo("In which year was Älvmora Mejeri founded?", until="conflict")
    assert bench.snapshot(run_id).state.halt.kind == "conflict"
    tester = app(run=run_id)
    assert (
        not tester.exception
        and "Sources disagree" in shown(tester)
        and "norrviddawiki.example" in shown(tester)
    )
    next(b for b in tester.button if b.key == "research-halt-on").click().run()
    assert bench.snapshot(run_id).run.status is Status.RUNNING and not tester.exception
