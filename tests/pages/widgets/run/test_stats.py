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


def _words(drawn: str) -> str:
    """What is read, without the words of a bar for who points at it."""
    return re.sub(r"<[^>]*>", " ", drawn)
