"""The strip of figures: what a person's own word and an answer written anew change of it, and what they do
not; and which of it counts the round."""

from __future__ import annotations

import re

from agent.actions.budget import read_meters
from agent.workbench import RunSnapshot, Workbench
from pages.widgets.run import stats


def used(bench: Workbench, view: RunSnapshot) -> dict[str, float | None]:
    return {meter.name: meter.used for meter in read_meters(bench, view)}


def test_own_knowledge_is_told_beside_the_facts_and_a_rewriting_is_no_round(demo, bench):
    run_id = demo()
    before = bench.snapshot(run_id)
    first = used(bench, before)
    assert first["steps"] and "of yours" not in stats.render(before, read_meters(bench, before))
    bench.act(run_id, "add", statement="I have been there.")
    bench.drive(run_id)
    after = bench.snapshot(run_id)
    drawn = stats.render(after, read_meters(bench, after))
    assert after.state.answer.because and "and 1 of yours" in drawn and "this round" not in _words(drawn)
    assert {name: used(bench, after)[name] for name in ("steps", "pages")} == {
        name: first[name] for name in ("steps", "pages")
    }


def test_after_a_send_back_all_figures_count_the_round_and_the_whole_run_is_told_in_words(demo, bench):
    run_id = demo("When was Älvmora Mejeri founded and how many people does it employ?", max_steps=3)
    first = bench.snapshot(run_id)
    assert "in all" not in stats.render(first, read_meters(bench, first))
    bench.act(run_id, "send_back", first.head, note="Look once more.")
    fresh = bench.snapshot(run_id)
    drawn = stats.render(fresh, read_meters(bench, fresh))
    assert "<dd>0 <small>of 3</small>" in drawn and "this round; 3 in all" in drawn
    bench.drive(run_id)
    view = bench.snapshot(run_id)
    steps, pages = (used(bench, view)[name] for name in ("steps", "pages"))
    drawn = stats.render(view, read_meters(bench, view))
    assert steps <= 3 and pages <= 3 < view.state.pages_read_count
    assert f"this round; {len(view.state.actions)} in all" in drawn
    assert f"this round; {view.state.pages_read_count} in all" in drawn


def _words(drawn: str) -> str:
    """What is read, without the words of a bar for who points at it."""
    return re.sub(r"<[^>]*>", " ", drawn)
