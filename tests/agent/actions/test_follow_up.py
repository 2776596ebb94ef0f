"""A further question in the thread of a research run knows what the run found."""

from __future__ import annotations

import pytest

from agent.actions.bundles import verify_bundle
from agent.actions.export import export_run
from agent.actions.follow_up import complete_question
from agent.types import Settings, Status
from agent.workbench import Workbench
from tests.web.folders import write_world
from tests.web.notes import rule_out

BRIDGE, HALL = "https://road.example/varn", "https://arkitekt.example/varn"
PAGES = [
    {
        "url": BRIDGE,
        "title": "Varn bridge",
        "text": "The Varn bridge opened to traffic on 3 May 1931. The Varn bridge was designed by Tora Lind.",
    },
    {"url": HALL, "title": "Tora Lind", "text": "Tora Lind was an engineer from Brunnby."},
]
OPENED = "When was the Varn bridge opened?"


@pytest.fixture
def answered(bench: Workbench, tmp_path) -> str:
    settings = Settings(world=write_world(tmp_path / "w", PAGES), model="keyless")
    run_id = bench.start(OPENED, settings)
    assert bench.drive(run_id) is Status.REVIEW
    return run_id


def test_it_has_the_facts_with_their_quotes_and_does_not_fetch_their_pages_again(bench, answered):
    bench.act(answered, "accept", bench.snapshot(answered).head)
    known = {fact.id for fact in bench.snapshot(answered).state.facts.values() if fact.verified}
    new = bench.follow_up(answered, "And who designed the Varn bridge?")
    start = bench.snapshot(new).state
    assert known and set(start.facts) == known
    assert all(fact.origin == "prior_turn" and fact.verified for fact in start.facts.values())
    assert [turn.user for turn in start.history] == [OPENED]
    assert bench.drive(new) is Status.REVIEW
    state = bench.snapshot(new).state
    assert not any(action.query_or_url == BRIDGE for action in state.actions)
    assert any("Tora Lind" in sentence.text for sentence in state.answer.sentences)
    cited = {i for sentence in state.answer.sentences for i in sentence.fact_ids}
    assert cited & known
    assert verify_bundle(export_run(bench, new, "bundle")).is_valid
    assert bench.thread(new) == [answered, new]


def test_what_a_note_ruled_out_stays_out_of_the_thread(bench, answered):
    rule_out(bench, answered, "road.example")
    assert bench.drive(answered) is Status.REVIEW
    new = bench.follow_up(answered, "Who designed the Varn bridge?")
    assert not any(fact.url == BRIDGE for fact in bench.snapshot(new).state.facts.values())
    bench.drive(new)
    state = bench.snapshot(new).state
    assert not any(action.query_or_url == BRIDGE for action in state.actions)


def test_a_question_without_a_name_takes_that_of_the_one_before():
    assert complete_question(OPENED, "And who designed it?") == "And who designed it? Varn"
    assert complete_question(OPENED, "Who was Tora Lind?") == "Who was Tora Lind?"


def test_a_source_is_excluded_whatever_was_marked_in_the_turn_before(bench, answered):
    view = bench.snapshot(answered)
    [fact] = [fact.id for fact in view.state.facts.values() if fact.url == BRIDGE and "1931" in fact.quote][
        :1
    ]
    bench.act(answered, "mark", view.head, facts=[fact], decision="pinned")
    assert bench.drive(answered) is Status.REVIEW
    new = bench.follow_up(answered, "And who designed the Varn bridge?")
    bench.act(new, "strike_source", source="road.example")
    facts = bench.snapshot(new).state.facts.values()
    assert {fact.decision for fact in facts if fact.url == BRIDGE} == {"struck"}
