"""A person's edits of a plan."""

from __future__ import annotations

import pytest

from agent.actions.plan_edits import build_change, build_plan, describe_plan_edit, match_parts
from agent.engine.run_state import RunState
from agent.errors import ConcurrentChange, UsageError
from agent.flows.research.policy import has_unread_text
from agent.flows.research.state import ResearchState
from agent.types import Fact, PageRef, PlanPart, Status
from tests.records import fill
from tests.tables import by_table
from tests.web.demo_runs import reviewed

pytestmark = pytest.mark.usefixtures("on_both_databases")

FIRST = PlanPart(id="1", question="Which yard built it?", status="answered", confidence=0.8, by="model")
SECOND = PlanPart(id="2", question="Who owns the yard?", after=["1"], by="model")
FOUNDED = "In which year was Älvmora Mejeri founded?"


def test_kept_parts_keep_their_state_and_new_ones_are_open_and_the_persons():
    plan = build_plan([FIRST, SECOND], [("2", "Who owns the yard?"), ("", "When was it?")])
    assert plan[0] == SECOND.replace(after=[])
    assert (plan[1].id, plan[1].status, plan[1].by) == ("3", "open", "person")


def test_a_reworded_part_is_open_again_and_keeps_its_id():
    plan = build_plan([FIRST, SECOND], [("1", "Which yard repaired it?"), ("2", "Who owns the yard?")])
    assert (plan[0].id, plan[0].status, plan[0].confidence, plan[0].by) == ("1", "open", 0.0, "person")
    assert plan[1] == SECOND


@pytest.mark.parametrize(
    ("edits", "told"),
    [
        ([], "at least one part"),
        ([("", "When was it?"), ("", "when  was it")], "ask the same"),
        ([("", "What?" * 200)], "longer than"),
        ([("", f"Part {n}?") for n in range(9)], "at most 8"),
        ([("1", FIRST.question), ("2", SECOND.question)], "nothing was changed"),
    ],
)
def test_an_edit_that_makes_no_plan_is_refused_with_what_to_do(edits, told):
    with pytest.raises(UsageError, match=told):
        build_plan([FIRST, SECOND], edits)


@by_table
def test_lines_are_read_as_the_parts_they_were(text, read):
    assert match_parts([FIRST, SECOND], text.splitlines()) == [(id, line) for line, id in read]


def test_equal_lines_are_one_part_and_the_plan_as_it_is_shown_changes_nothing():
    when = "When was it?"
    assert match_parts([FIRST], [FIRST.question, when, "when  WAS it"]) == [("1", FIRST.question), ("", when)]
    twice = [FIRST, FIRST.replace(id="2"), SECOND.replace(id="3")]
    shown = [part.question for part in twice]
    assert [id for id, _ in match_parts(twice, shown)] == ["1", "3"]
    spaced = [FIRST.replace(question="which  yard built it"), SECOND]
    with pytest.raises(UsageError, match="nothing was changed"):
        build_plan(spaced, match_parts(spaced, ["Which yard built it?", SECOND.question]))


def test_an_edit_is_described_in_words():
    after = build_plan([FIRST, SECOND], [("2", "Who sold the yard?"), ("", "When was it?")])
    said = describe_plan_edit([FIRST, SECOND], after)
    assert said == (
        "changed the plan: added “When was it?”; dropped “Which yard built it?”; "
        "reworded “Who owns the yard?” to “Who sold the yard?”"
    )
    assert describe_plan_edit([FIRST, SECOND], [SECOND, FIRST]) == (
        "changed the plan: put the parts in another order"
    )


@pytest.mark.slow
def test_a_second_tab_cannot_edit_a_plan_that_moved(bench):
    run_id = reviewed(bench)
    seen = bench.snapshot(run_id)
    bench.act(run_id, "replan", seen.head, parts=[FOUNDED])
    with pytest.raises(ConcurrentChange):
        bench.act(run_id, "replan", seen.head, parts=["Who runs Älvmora Mejeri?"])


@pytest.mark.slow
def test_a_part_added_after_the_answer_is_researched_and_the_answer_has_both(bench):
    run_id = reviewed(bench)
    before = bench.snapshot(run_id)
    bench.act(run_id, "replan", before.head, parts=[before.state.plan[0].question, FOUNDED])
    assert bench.drive(run_id) is Status.REVIEW
    after = bench.snapshot(run_id).state
    assert [part.question for part in after.answer.parts] == [before.state.plan[0].question, FOUNDED]
    assert len(after.actions) > len(before.state.actions)
    assert any(sentence.part == "2" for sentence in after.answer.sentences)
    assert after.answer.because.startswith("after your edit: changed the plan: added")


def test_a_new_part_has_not_the_id_of_a_dropped_one_that_has_facts():
    fact = Fact(id="f", statement="Nils owns it.", quote="Nils owns it.", part="2")
    added = build_plan([FIRST], [("1", FIRST.question), ("", "When was it?")], [fact])
    assert [part.id for part in added] == ["1", "3"]


def test_what_is_asked_anew_is_not_answered_and_pages_may_be_read_again_for_it():
    read = fill(PageRef, url="https://a.example/", page_id="p", shown=[(0, 90)], length=90)
    own = ResearchState(report={"answered_parts": ["1", "2"]}, reported_at=4)
    state = RunState(own=own, plan_parts=[FIRST, SECOND], pages={read.url: read})
    assert not has_unread_text(read)
    change = build_change(state, 5, [FIRST, SECOND.replace(question="Who sold the yard?", by="person")])
    assert change["report"]["answered_parts"] == ["1"]
    [again] = change["pages"]
    assert has_unread_text(again) and again.shown_before == [(0, 90)]
    assert "pages" not in build_change(state, 5, [SECOND, FIRST])
