"""The list of runs: found, opened, deleted and taken back."""

from __future__ import annotations

import pytest

from agent.batch import jobs
from agent.batch.csv_input import read_sheet
from agent.types import BatchBudget, Settings
from pages.widgets.run import run_list
from tests.pages.conftest import shown

pytestmark = pytest.mark.slow


def test_an_empty_list_says_what_to_do(app):
    assert "Ask a question on the Research page" in shown(app("runs"))


def test_many_runs_come_in_pages(app, bench, monkeypatch):
    for number in range(30):
        bench.start(f"Question {number}?")
    tester = app("runs")
    assert len(tester.checkbox) == 25
    tester.button(key="runs-older").click().run()
    assert len(tester.checkbox) == 5
    tester.checkbox[0].set_value(True).run()
    tester.button(key="runs-newer").click().run()
    tester.checkbox[0].set_value(True).run()
    tester.button(key="runs-delete").click().run()
    assert not tester.exception and len(bench.runs()) == 28
    tester.button(key="runs-undo-do").click().run()
    assert not tester.exception and len(bench.runs()) == 30


def test_a_box_that_changes_after_its_row_went_is_no_error(monkeypatch):
    """A busy browser sends the tick of a row late."""
    gone = {}
    monkeypatch.setattr(run_list.st, "session_state", gone)
    run_list._tick("gone")
    assert gone[run_list.TICKED_KEY] == []


def test_runs_are_found_by_their_answers_and_notes(demo, bench):
    run_id = demo()
    bench.act(run_id, "send_back", note="Leave out the zyxkestrel.", private=True)
    other = bench.start("Something else?")
    lead = bench.snapshot(run_id).state.answers[0].main_sentences[0].text
    for words in (lead[5:40], "ZYXKESTREL"):
        assert [run.id for run in bench.runs(text=words)] == [run_id]
    assert [run.id for run in bench.runs(text="something")] == [other]


def test_what_is_ticked_is_not_carried_into_the_bin(app, bench):
    for number in range(2):
        bench.start(f"Question {number}?")
    tester = app("runs")
    tester.checkbox[0].set_value(True).run()
    tester.toggle(key="runs-bin").set_value(True).run()
    assert not tester.exception and "runs-restore" not in {button.key for button in tester.button}


def test_a_deleted_batch_is_found_and_restored(app, bench):
    sheet = read_sheet(b"question\nWho runs it?", Settings(world="demo", model="keyless"))
    batch_id = jobs.create(bench, "Suppliers", sheet, Settings(world="demo", model="keyless"), BatchBudget())
    tester = app("runs")
    tester.selectbox(key="runs-kind").set_value("batch").run()
    tester.button(key=f"runs-delete-{batch_id}").click().run()
    assert "No batches yet" in shown(tester) and jobs.get_status(bench, batch_id).batch.state == "deleted"
    tester.toggle(key="runs-bin").set_value(True).run()
    tester.button(key=f"runs-restore-{batch_id}").click().run()
    assert "No deleted batches" in shown(tester) and "1 entry back in the list" in shown(tester)
    assert jobs.get_status(bench, batch_id).batch.state != "deleted"
