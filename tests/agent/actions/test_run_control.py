"""A note that rules a source out takes its conflicts, its share of the confidence and the wording of the answer
along at once."""

from __future__ import annotations

import pytest

from agent.actions.conflict_rulings import active_conflicts
from agent.types import Settings, Status
from agent.workbench import Workbench
from tests.web.notes import rule_out

pytestmark = pytest.mark.slow
FOUNDED = "In which year was Älvmora Mejeri founded?"
WIKI = "norrviddawiki.example"


def reviewed(bench: Workbench, **settings) -> str:
    run_id = bench.start(FOUNDED, Settings(world="demo", model="keyless", **settings))
    assert bench.drive(run_id) is Status.REVIEW, bench.snapshot(run_id).run.error
    return run_id


def test_an_answer_without_a_source_that_a_note_rules_out_loses_its_conflict_at_once(bench):
    run_id = reviewed(bench)
    before = bench.snapshot(run_id).state
    assert before.answer.verdict == "passages_found" and len(active_conflicts(before)) == 1
    rule_out(bench, run_id, WIKI)
    view = bench.snapshot(run_id)
    at_once = view.state
    assert active_conflicts(at_once) == [] and not any(fact.disputed for fact in at_once.facts.values())

    assert bench.drive(run_id) is Status.REVIEW
    state = bench.snapshot(run_id).state
    answer = state.answer
    assert answer.n == 2 and answer.conflicts == [] and active_conflicts(state) == []
    assert "1979" in answer.text and "1974" not in answer.text
    assert "sources differ" not in f"{answer.text} {answer.certainty} {answer.missing}"
    assert not any(WIKI in source.url for source in answer.sources)
    assert not any(action.about for action in state.actions if action.step > before.answer.step)


def test_a_note_that_rules_nothing_out_changes_nothing_known(bench):
    run_id = reviewed(bench)
    before = bench.snapshot(run_id).state
    bench.act(run_id, "send_back", bench.snapshot(run_id).head, note="Say it in one sentence.")
    after = bench.snapshot(run_id).state
    assert (after.facts, after.conflicts, after.confidence) == (
        before.facts,
        before.conflicts,
        before.confidence,
    )
