"""A person's word on a conflict, on a real run over the demo world: it is a step, it holds, the answer states
it; and a step can be asked for."""

from __future__ import annotations

import pytest

from agent.actions.bundles import verify_bundle
from agent.actions.conflict_rulings import active_conflicts, summarize_sides
from agent.errors import NotFound, UsageError
from agent.types import Status
from tests.web.demo_runs import Reviewed
from tests.web.notes import rule_out

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("on_both_databases")]

FOUNDED = "In which year was Älvmora Mejeri founded?"
WIKI = "norrviddawiki.example"
REASON = "The register of 1979 is the first source."


SAYING = [
    "https://norrviddawiki.example/wiki/Dairies_of_Norrvidda",
    "https://bolagsrullen.example/company/556719-4402",
    "https://granvattnet-courier.example/2019/05/12/dairy-forty",
]


def asked_about(state):
    return next(conflict for conflict in active_conflicts(state) if conflict.asks)


def test_a_value_is_taken_with_a_reason_and_the_answer_states_it(bench):
    run = Reviewed(bench, FOUNDED, start_urls=SAYING)
    state = run.state
    conflict = asked_about(state)
    assert state.answer.text.startswith("The sources differ on")
    assert "1979" in state.answer.text
    assert "1974" in state.answer.text
    assert [
        (side.value, side.source_count_text, side.independent_sites)
        for side in summarize_sides(conflict, state.facts)
    ] == [
        ("1974", "1 independent source", ["norrviddawiki.example"]),
        ("1979", "2 independent sources", ["bolagsrullen.example", "granvattnet-courier.example"]),
    ]
    with pytest.raises(UsageError, match="give a reason"):
        run.act("settle", conflict=conflict.id, ruling="take", value="1979", because="  ")
    with pytest.raises(UsageError, match="none of its values"):
        run.act("settle", conflict=conflict.id, ruling="take", value="1981", because=REASON)
    with pytest.raises(NotFound):
        run.act("settle", conflict="c00", ruling="both", because=REASON)

    run.act("settle", conflict=conflict.id[:6], ruling="take", value="in 1979", because=REASON)
    state = run.rewrite()
    now = state.conflicts[conflict.id]
    assert (now.status, now.chosen, now.reason, now.settled_by) == ("settled", "1979", REASON, "person")
    assert state.answer.text.startswith(
        "A person settled this: Älvmora Mejeri (founded): “1979”, because “The register of 1979"
    )
    assert state.answer.sentences[0].backed
    assert not state.answer.conflicts
    assert "sources differ" not in state.answer.text
    assert state.answer.because.startswith("after your edit: resolved Älvmora Mejeri (founded) for “1979”")
    overruled = [fact for fact in state.facts.values() if fact.disputed]
    assert overruled and all("1974" in fact.statement for fact in overruled)
    report = run.export("evidence.md").decode()
    assert "settled by a person for “1979”" in report and REASON in report
    assert verify_bundle(run.export("bundle")).is_valid


def test_a_ruling_is_undone_and_opened_again(bench):
    run = Reviewed(bench, FOUNDED)
    conflict = asked_about(run.state)
    run.act("settle", conflict=conflict.id, ruling="both", because="two companies of one name")
    state = run.rewrite()
    assert not any(fact.disputed for fact in state.facts.values())
    assert "both hold, because “two companies" in state.answer.text
    run.act(
        "settle", conflict=conflict.id, ruling="neither", because="the wiki and the roll copy an old error"
    )
    state = run.rewrite()
    assert "neither is correct" in state.answer.text
    assert {i for value in conflict.values for i in value.fact_ids} == {
        fact.id for fact in state.facts.values() if fact.disputed
    }
    run.act("undo")
    assert asked_about(run.rewrite()).ruling == "both"
    run.act("settle", conflict=conflict.id, ruling="open")
    state = run.rewrite()
    assert asked_about(state).status == "open" and state.answer.text.startswith("The sources differ on")
    with pytest.raises(UsageError, match="open already"):
        run.act("settle", conflict=conflict.id, ruling="open")


def test_a_ruling_holds_when_more_is_read_and_the_step_that_was_asked_for_comes_next(bench):
    run = Reviewed(bench, FOUNDED)
    before = run.state
    conflict = asked_about(before)
    run.act("settle", conflict=conflict.id, ruling="take", value="1974", because="my grandmother was there")
    run.rewrite()
    with pytest.raises(UsageError, match="what to search for"):
        run.act("look", conflict=conflict.id, words=" ")
    run.act("look", conflict=conflict.id, words="Sixten Tjäder brewery Lövnäs")
    state = run.rewrite()
    asked = state.actions[len(before.actions)]
    assert (asked.query_or_url, asked.by, asked.action) == (
        "Sixten Tjäder brewery Lövnäs",
        "person",
        "search_duckduckgo",
    )
    assert len(state.actions) > len(before.actions) + 1, "what it brought is looked into"
    assert state.conflicts[conflict.id].chosen == "1974" and "my grandmother was there" in state.answer.text
    assert not [
        action
        for action in state.actions[len(before.actions) + 1 :]
        if action.query_or_url == asked.query_or_url
    ]


def test_an_answer_without_a_source_that_a_note_rules_out_loses_its_conflict_at_once(bench):
    run = Reviewed(bench, FOUNDED)
    before = run.state
    assert before.answer.verdict == "passages_found" and len(active_conflicts(before)) == 1
    rule_out(bench, run.id, WIKI)
    view = run.view
    at_once = view.state
    assert active_conflicts(at_once) == [] and not any(fact.disputed for fact in at_once.facts.values())

    assert bench.drive(run.id) is Status.REVIEW
    state = run.state
    answer = state.answer
    assert answer.n == 2 and answer.conflicts == [] and active_conflicts(state) == []
    assert "1979" in answer.text and "1974" not in answer.text
    assert "sources differ" not in f"{answer.text} {answer.certainty} {answer.missing}"
    assert not any(WIKI in source.url for source in answer.sources)
    assert not any(action.about for action in state.actions if action.step > before.answer.step)


def test_a_note_that_rules_nothing_out_changes_nothing_known(bench):
    run = Reviewed(bench, FOUNDED)
    before = run.state
    run.act("send_back", run.view.head, note="Say it in one sentence.")
    after = run.state
    assert (after.facts, after.conflicts, after.confidence) == (
        before.facts,
        before.conflicts,
        before.confidence,
    )
