"""The list of runs: found, opened, deleted and taken back."""

from __future__ import annotations

import pytest

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


def test_runs_are_found_by_their_answers_and_notes(demo, bench):
    run_id = demo()
    bench.act(run_id, "send_back", note="Leave out the zyxkestrel.", private=True)
    other = bench.start("Something else?")
    lead = bench.snapshot(run_id).state.answers[0].main_sentences[0].text
    for words in (lead[5:40], "ZYXKESTREL"):
        assert [run.id for run in bench.runs(text=words)] == [run_id]
    assert [run.id for run in bench.runs(text="something")] == [other]
