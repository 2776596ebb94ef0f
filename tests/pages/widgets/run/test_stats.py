"""The strip of figures: what a person's own word and an answer written anew change of it, and what they do
not."""

from __future__ import annotations

from agent.actions import fact_edits
from agent.actions.budget import read_meters
from pages.widgets.run import stats


def test_own_knowledge_is_told_beside_the_facts_and_a_rewriting_is_no_round(demo, bench):
    run_id = demo()
    before = bench.snapshot(run_id)
    steps = stats.count_round_steps(before)
    assert steps and "of yours" not in stats.render(before)
    fact_edits.add(bench, run_id, "I have been there.")
    bench.drive(run_id)
    after = bench.snapshot(run_id)
    assert after.state.answer.because and "and 1 of yours" in stats.render(after)
    assert stats.count_round_steps(after) == steps
    named = {meter.name: meter.used for meter in read_meters(bench, after)}
    assert (
        named["steps"] == steps
        and named["pages"] == {meter.name: meter.used for meter in read_meters(bench, before)}["pages"]
    )
