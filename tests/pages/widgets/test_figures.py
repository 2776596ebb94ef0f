"""The strip of figures: what a person's own word and an answer written anew change of it, and what they do not."""

from __future__ import annotations

from agent import editing
from agent.budgeting import used
from pages.widgets import figures


def test_own_knowledge_is_told_beside_the_facts_and_a_rewriting_is_no_round(demo, bench):
    run_id = demo()
    before = bench.view(run_id)
    steps = figures.this_round(before)
    assert steps and "of yours" not in figures.strip(before)
    editing.add(bench, run_id, "I have been there.")
    bench.drive(run_id)
    after = bench.view(run_id)
    assert after.state.answer.because and "and 1 of yours" in figures.strip(after)
    assert figures.this_round(after) == steps
    named = {meter.name: meter.used for meter in used(bench, after)}
    assert named["steps"] == steps and named["pages"] == {meter.name: meter.used for meter in used(bench, before)}["pages"]
