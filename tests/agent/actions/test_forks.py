"""Going on from a step of a run: what is shared, what is not, where it stands, what it costs, and that it can
be carried away."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.actions.bundles import import_bundle, verify_bundle
from agent.actions.export import export_run
from agent.errors import NotFound, UsageError
from agent.export import bundle
from agent.types import ModelCall, Status
from tests.records import fill
from tests.web import demo_runs
from tests.web.demo_runs import DEMO, SOLAR

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("on_both_databases")]


@pytest.fixture
def reviewed(bench):
    return demo_runs.reviewed(bench)


def pay(bench, run_id, step=1, key="a"):
    """Record a model call of a run."""
    used = {"prompt_tokens": 100, "completion_tokens": 10, "cost_usd": 0.5}
    bench.store.calls.record(fill(ModelCall, key=key * 64, run_id=run_id, step=step, model="m", **used))


def test_a_fork_shares_the_first_steps_and_leaves_the_run_alone(bench, reviewed):
    before = bench.snapshot(reviewed)
    new = bench.act(reviewed, "fork", step=3)
    assert bench.drive(new) is Status.REVIEW
    view = bench.snapshot(new)
    assert (
        view.steps[:4] == before.steps[:4] and view.steps[4].name == "fork" and view.steps[4].by == "person"
    )
    assert (view.run.forked_from, view.run.forked_at, view.state.forked_at) == (reviewed, 3, 4)
    assert bench.snapshot(reviewed).steps == before.steps and bench.snapshot(reviewed).run == before.run
    assert view.state.answer.text == before.state.answer.text, (
        "the same prefix and no other word: the same answer"
    )
    assert bench.thread(new) == [new] and bench.thread(reviewed) == [reviewed]


def test_a_note_is_heeded_by_the_next_decision(bench, reviewed):
    page = "https://www.alvmora-mejeri.example/news/2026-05-solar-roof"
    at = next(
        step.n for step in bench.snapshot(reviewed).steps if step.next == "act"
    )  # decided, not done yet
    new = bench.act(reviewed, "fork", step=at, note=f"Look at {page} first.")
    assert bench.snapshot(new).next == "decide" and bench.snapshot(new).state.pending is None
    assert bench.drive(new) is Status.REVIEW
    first = next(action for action in bench.snapshot(new).state.actions if action.step > at)
    assert first.query_or_url == page


def test_at_a_rest_it_rests_and_a_note_or_other_settings_make_it_go_on(bench, reviewed):
    waiting = bench.start(SOLAR, DEMO.model_copy(update={"mode": "step"}))
    bench.drive(waiting)
    head = bench.snapshot(waiting).head
    still = bench.snapshot(bench.act(waiting, "fork", step=head))
    assert still.run.status is Status.WAITING and still.state.pending == bench.snapshot(waiting).state.pending
    assert bench.drive(bench.act(waiting, "fork", step=head, settings={"mode": "auto"})) is Status.REVIEW
    bench.act(reviewed, "accept", bench.snapshot(reviewed).head)
    head = bench.snapshot(reviewed).head
    assert bench.snapshot(bench.act(reviewed, "fork", step=head)).run.status is Status.REVIEW, (
        "an accepted answer can be looked at again"
    )
    back = bench.act(
        reviewed, "fork", step=head, note="Also say how much electricity the roof gives in a year."
    )
    assert bench.snapshot(back).state.notes[0].kind == "send_back"
    assert bench.drive(back) is Status.REVIEW and len(bench.snapshot(back).state.answers) == 2


def test_what_the_prefix_cost_is_shown_but_is_no_part_of_the_new_budget(bench, reviewed):
    pay(bench, reviewed)
    pay(bench, reviewed, 90, "b")
    new = bench.act(reviewed, "fork", step=3)
    view = bench.snapshot(new)
    assert [(call.run_id, call.step, call.cost_usd) for call in bench.calls(new)] == [(new, 1, 0.5)]
    assert view.usage.llm_calls == 1 and bench.store.calls.sum_usage(new, view.state.forked_at).llm_calls == 0
    assert (view.usage.cost_usd, view.usage.prompt_tokens) == (0.5, 100)
    assert len(bench.calls(reviewed)) == 2


def test_a_bundle_of_a_fork_verifies_and_opens(bench, reviewed):
    pay(bench, reviewed)
    new = bench.act(reviewed, "fork", step=3, settings={"max_steps": 9})
    bench.drive(new)
    data = export_run(bench, new, "bundle")
    assert verify_bundle(data).is_valid, verify_bundle(data).problems
    came = bench.snapshot(import_bundle(bench, data).run_id)
    assert (came.run.forked_from, came.run.forked_at) == (reviewed, 3) and came.run.imported
    again = bench.act(came.run.id, "fork", step=came.head - 3)
    assert bench.drive(again) is Status.REVIEW and bench.snapshot(again).run.imported
    assert verify_bundle(export_run(bench, again, "bundle")).is_valid


def test_a_beginning_that_was_made_up_is_told(bench, reviewed):
    new = bench.act(reviewed, "fork", step=3)
    bench.drive(new)
    for run_id, lie in (
        (new, {"forked_at": 5}),
        (new, {"forked_from": ""}),
        (reviewed, {"forked_from": new, "forked_at": 2}),
    ):
        contents = bundle.read_bundle(export_run(bench, run_id, "bundle"))
        forged = bundle.write_bundle(replace(contents, run=contents.run.model_copy(update=lie)))
        assert any("another branching point" in trouble for trouble in verify_bundle(forged).problems), lie


def test_a_fork_of_an_imported_run_keeps_to_what_can_be_set_here(bench):
    run_id = bench.start(SOLAR, DEMO.model_copy(update={"max_tokens": 9_000_000}))
    bench.drive(run_id)
    came = import_bundle(bench, export_run(bench, run_id, "bundle")).run_id
    new = bench.snapshot(bench.act(came, "fork", step=2))
    assert new.run.settings.max_tokens == new.state.settings.max_tokens == 400_000


def test_what_cannot_be_is_said(bench, reviewed):
    runs = len(bench.runs())
    with pytest.raises(UsageError, match="has no step 99"):
        bench.act(reviewed, "fork", step=99)
    with pytest.raises(UsageError, match="cannot change world"):
        bench.act(reviewed, "fork", step=2, settings={"world": "live"})
    with pytest.raises(UsageError, match="max_steps"):
        bench.act(reviewed, "fork", step=2, settings={"max_steps": "many"})
    with pytest.raises(UsageError, match="at least one step"):
        bench.act(reviewed, "fork", step=2, settings={"max_steps": 0})
    with pytest.raises(NotFound):
        bench.act("nobody", "fork", step=2)
    chat = bench.start(
        "How many people does Älvmora Mejeri employ?", DEMO.model_copy(update={"flow": "chat"})
    )
    with pytest.raises(UsageError, match="ask a new question instead"):
        bench.act(chat, "fork", step=0)
    assert len(bench.runs()) == runs + 1
