"""A person's correction is one step, made on the state it was worked out from; an answer that stands is
written anew by itself."""

from __future__ import annotations

import pytest

from agent.actions import commit, fact_edits
from agent.errors import ConcurrentChange, UsageError
from agent.flows import FLOWS
from agent.types import Settings, Status
from agent.workbench import Workbench
from tests.web.demo_runs import cited, reviewed


def strike(bench: Workbench, run_id: str, *ids: str, head: int | None = None) -> int:
    """Strike these facts."""
    return bench.act(run_id, "mark", head, facts=list(ids), decision="struck")


@pytest.mark.parametrize("accepted", [False, True])
def test_an_answer_is_written_anew_without_what_was_struck(bench, accepted):
    run_id = reviewed(bench)
    if accepted:
        bench.act(run_id, "accept", bench.snapshot(run_id).head)
    gone = cited(bench.snapshot(run_id).state)[0]
    head = bench.snapshot(run_id).head
    assert strike(bench, run_id, gone, head=head) == head + 1
    assert bench.snapshot(run_id).run.status is Status.RUNNING
    assert bench.drive(run_id) is Status.REVIEW
    view = bench.snapshot(run_id)
    assert view.state.answer.n == 2 and gone not in cited(bench.snapshot(run_id).state)
    assert view.state.answer.because.startswith("after your edit: excluded 1 fact")
    assert [step.by for step in view.steps if step.name == "strike"] == ["person"]
    assert view.run.verdict == view.state.answer.verdict


def test_of_two_tabs_the_first_is_heard_and_without_a_head_both_are(bench):
    run_id = reviewed(bench)
    one, two = cited(bench.snapshot(run_id).state)[0], list(bench.snapshot(run_id).state.facts)[-1]
    head = bench.snapshot(run_id).head
    strike(bench, run_id, one, head=head)
    with pytest.raises(ConcurrentChange):
        strike(bench, run_id, two, head=head)
    moved = []

    def make(view):
        if not moved:
            moved.append(bench.store.ledger.append_person_step(run_id, "steer", {"notes": []}))
        return fact_edits.mark(view, [two], "struck")

    assert commit.commit(bench, run_id, "strike", make) == moved[0] + 1
    assert {bench.snapshot(run_id).state.facts[name].decision for name in (one, two)} == {"struck"}


def test_an_edit_while_the_answer_is_written_is_not_lost(bench, monkeypatch):
    run_id = reviewed(bench)
    one, *rest = cited(bench.snapshot(run_id).state)
    other = rest[0] if rest else list(bench.snapshot(run_id).state.facts)[-1]
    writing, spoken = FLOWS["research"].steps["report"], []

    def interrupted(state, tools):
        made = writing(state, tools)
        if not spoken:
            spoken.append(strike(bench, run_id, other))
        return made

    monkeypatch.setitem(FLOWS["research"].steps, "report", interrupted)
    strike(bench, run_id, one)
    assert bench.drive(run_id) is Status.REVIEW
    view = bench.snapshot(run_id)
    assert [step.name for step in view.steps[-3:]] == [
        "strike",
        "strike",
        "report",
    ]
    assert view.state.answer.n == 2
    assert not {one, other} & set(cited(bench.snapshot(run_id).state))
    assert view.state.answer.because.count("excluded 1 fact") == 2


def test_a_struck_fact_does_not_come_back_with_its_page(bench):
    run_id = reviewed(bench)
    gone = cited(bench.snapshot(run_id).state)
    strike(bench, run_id, *gone)
    bench.drive(run_id)
    bench.act(
        run_id, "send_back", bench.snapshot(run_id).head, note="Look again for the number of solar panels."
    )
    assert bench.drive(run_id) is Status.REVIEW
    state = bench.snapshot(run_id).state
    assert {state.facts[name].decision for name in gone} == {"struck"}
    assert not set(gone) & set(cited(bench.snapshot(run_id).state))


def test_a_flow_that_answers_from_passages_has_no_facts_to_edit(bench):
    run_id = bench.start("What does the library say of milk?", Settings(flow="chat", model="keyless"))
    bench.drive(run_id)
    with pytest.raises(UsageError, match="is for research, site runs"):
        bench.act(run_id, "mark", facts=["f"], decision="struck")
