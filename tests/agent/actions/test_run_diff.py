"""Two runs side by side: what they share, what differs, what each took; two that began apart."""

from __future__ import annotations

import pytest

from agent.actions import run_diff
from agent.errors import NotFound
from agent.types import ModelCall, Settings, Status
from tests.web.notes import rule_out

pytestmark = pytest.mark.slow

FOUNDED = "In which year was Älvmora Mejeri founded?"
DEMO = Settings(world="demo", model="keyless")


@pytest.fixture
def pair(bench):
    """A run, and its fork without one of the sources."""
    one = bench.start(FOUNDED, DEMO)
    assert bench.drive(one) is Status.REVIEW
    call = ModelCall(
        key="a" * 64,
        run_id=one,
        step=2,
        role="decision",
        model="m",
        prompt_tokens=100,
        completion_tokens=10,
        cost_usd=None,
    )
    bench.store.calls.record(call)
    two = bench.act(
        one,
        "fork",
        step=4,
        note="Leave out everything from norrviddawiki.example.",
        settings={"max_steps": 6},
    )
    assert bench.drive(two) is Status.REVIEW
    rule_out(bench, two, "norrviddawiki.example")
    assert bench.drive(two) is Status.REVIEW
    return one, two


def test_a_fork_beside_its_original(bench, pair):
    found = run_diff.compare_runs(bench, *pair)
    assert found.shared == 5 and found.two.run.forked_from == pair[0]
    assert found.settings == {"max_steps": (12, 6)} and found.list_notes(found.two) == [
        "Leave out everything from norrviddawiki.example.",
        "Leave out norrviddawiki.example.",
    ]
    assert {said.kind for said in found.answer} <= {"added", "removed", "reworded", "same", "resourced"}
    assert any("1974" in said.old.text for said in found.answer if said.old)
    assert not any("1974" in said.new.text for said in found.answer if said.new)
    assert not any("norrviddawiki" in page.url for page in found.sources.two)
    assert any(a.disputed and not b.disputed for a, b in found.differing_facts), (
        "what only the wiki disputed is disputed no more"
    )
    assert len(found.conflicts.one) == 1 and found.conflicts.both == []
    figures = {figure.name: figure for figure in found.figures}
    assert figures["steps"].shared == 1 and figures["steps"].two < figures["steps"].one
    assert (figures["calls"].one, figures["calls"].two, figures["calls"].shared) == (1, 1, 1)
    assert figures["cost"].one is None and figures["cost"].shared is None, (
        "a price nobody knows is not nothing"
    )
    assert figures["tokens"].shared == 110


def test_turned_round_it_says_the_same_of_the_other_side(bench, pair):
    one, two = run_diff.compare_runs(bench, *pair), run_diff.compare_runs(bench, *reversed(pair))
    assert (
        one.facts.one == two.facts.two
        and one.sources.two == two.sources.one
        and len(one.facts.both) == len(two.facts.both)
    )
    assert [said.new.text for said in one.answer if said.new and said.kind == "added"] == [
        said.old.text for said in two.answer if said.old and said.kind == "removed"
    ]
    assert [figure.shared for figure in one.figures] == [figure.shared for figure in two.figures]


def test_two_runs_of_one_question_share_facts_but_no_step(bench, pair):
    other = bench.start(FOUNDED, DEMO)
    bench.drive(other)
    found = run_diff.compare_runs(bench, pair[0], other)
    assert found.shared == 0 and found.settings == {}
    assert found.facts.one == found.facts.two == [] and found.differing_facts == []
    assert {said.kind for said in found.answer} == {"same"} and all(
        figure.shared == 0 for figure in found.figures
    )


def test_runs_of_two_kinds_and_one_without_an_answer(bench, pair):
    site = bench.start(
        "How many people work there?",
        DEMO.model_copy(update={"flow": "site", "start_urls": ["https://www.alvmora-mejeri.example/"]}),
    )
    found = run_diff.compare_runs(bench, pair[0], site)
    assert found.settings["flow"] == ("research", "site") and found.two.state.answer is None
    assert {said.kind for said in found.answer} == {"removed"}
    with pytest.raises(NotFound):
        run_diff.compare_runs(bench, pair[0], "nobody")
