"""A person's correction is one step, made on the state it was worked out from; an answer that stands is
written anew by itself."""

from __future__ import annotations

import pytest

from agent.actions import commit, fact_edits
from agent.errors import ConcurrentChange, UsageError
from agent.flows import FLOWS
from agent.types import Settings, Status
from tests.web.demo_runs import Reviewed

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("on_both_databases")]


def strike(run: Reviewed, *ids: str, head: int | None = None) -> int | str:
    """Strike these facts."""
    return run.bench.act(run.id, "mark", head, facts=list(ids), decision="struck")


@pytest.mark.parametrize("accepted", [False, True])
def test_an_answer_is_written_anew_without_what_was_struck(bench, accepted):
    run = Reviewed(bench)
    if accepted:
        run.act("accept", run.view.head)
    gone = run.cited[0]
    head = run.view.head
    assert strike(run, gone, head=head) == head + 1
    assert run.view.run.status is Status.RUNNING
    assert bench.drive(run.id) is Status.REVIEW
    view = run.view
    assert view.state.answer.n == 2 and gone not in run.cited
    assert view.state.answer.because.startswith("after your edit: excluded 1 fact")
    assert [step.by for step in view.steps if step.name == "strike"] == ["person"]
    assert view.run.verdict == view.state.answer.verdict


def test_of_two_tabs_the_first_is_heard_and_without_a_head_both_are(bench):
    run = Reviewed(bench)
    one, two = run.cited[0], list(run.state.facts)[-1]
    head = run.view.head
    strike(run, one, head=head)
    with pytest.raises(ConcurrentChange):
        strike(run, two, head=head)
    moved = []

    def make(view):
        if not moved:
            moved.append(bench.store.ledger.append_person_step(run.id, "steer", {"notes": []}))
        return fact_edits.mark(view, [two], "struck")

    assert commit.commit(bench, run.id, "strike", make) == moved[0] + 1
    assert {run.state.facts[name].decision for name in (one, two)} == {"struck"}


def test_an_edit_while_the_answer_is_written_is_not_lost(bench, monkeypatch):
    run = Reviewed(bench)
    one, *rest = run.cited
    other = rest[0] if rest else list(run.state.facts)[-1]
    writing, spoken = FLOWS["research"].steps["report"], []

    def interrupted(state, tools):
        made = writing(state, tools)
        if not spoken:
            spoken.append(strike(run, other))
        return made

    monkeypatch.setitem(FLOWS["research"].steps, "report", interrupted)
    strike(run, one)
    assert bench.drive(run.id) is Status.REVIEW
    view = run.view
    assert [step.name for step in view.steps[-3:]] == ["strike", "strike", "report"]
    assert view.state.answer.n == 2
    assert not {one, other} & set(run.cited)
    assert view.state.answer.because.count("excluded 1 fact") == 2


def test_a_struck_fact_does_not_come_back_with_its_page(bench):
    run = Reviewed(bench)
    gone = run.cited
    strike(run, *gone)
    bench.drive(run.id)
    run.act("send_back", run.view.head, note="Look again for the number of solar panels.")
    assert bench.drive(run.id) is Status.REVIEW
    state = run.state
    assert {state.facts[name].decision for name in gone} == {"struck"}
    assert not set(gone) & set(run.cited)


def test_a_flow_that_answers_from_passages_has_no_facts_to_edit(bench):
    run_id = bench.start("What does the library say of milk?", Settings(flow="chat", model="keyless"))
    bench.drive(run_id)
    with pytest.raises(UsageError, match="is for research, site runs"):
        bench.act(run_id, "mark", facts=["f"], decision="struck")
