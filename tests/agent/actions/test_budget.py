"""Budgets: a cap that asks, a cap that is raised, a run until the next conflict, and what a run is likely to
need."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from agent.actions import budget
from agent.actions.budget import find_last_round_actions
from agent.engine.context import RunContext
from agent.engine.run_state import RunState
from agent.errors import BudgetSpent, ConcurrentChange, UsageError
from agent.types import Action, Answer, ModelCall, PauseRequest, Settings, Status
from tests.records import fill
from tests.web.collecting_model import install_walker
from tests.web.researching_model import ASK, ROOF, Script, crawl
from tests.web.scripted import ScriptedModel

pytestmark = pytest.mark.slow

SOLAR = "How many solar panels are there on the roof of Älvmora Mejeri?"
DEPTH = "What is the maximum depth of lake Granvattnet?"
FOUNDED = "In which year was Älvmora Mejeri founded?"
DEMO = Settings(world="demo", model="keyless", at_cap="ask")


def rested(bench, question=SOLAR, *, at: Status = Status.PAUSED, **settings) -> str:
    run_id = bench.start(question, DEMO.model_copy(update=settings))
    assert bench.drive(run_id) is at, bench.snapshot(run_id).run.error
    return run_id


def test_at_a_cap_it_asks_and_a_raise_goes_on_where_it_stood(bench):
    run_id = rested(bench, DEPTH, max_steps=2)
    view = bench.snapshot(run_id)
    assert (view.state.halt.kind, view.state.halt.used, view.state.halt.cap, view.next) == (
        "steps",
        2,
        2,
        "decide",
    )
    assert not view.state.answers and view.state.stop_reason == ""
    bench.act(run_id, "raise", view.head, caps={"steps": budget.suggest_cap(view.state.halt)})
    after = bench.snapshot(run_id)
    assert after.run.status is Status.RUNNING and after.state.halt is None
    assert after.run.settings.max_steps == after.state.settings.max_steps == 3
    assert bench.drive(run_id) is Status.PAUSED and len(bench.snapshot(run_id).state.actions) == 3
    bench.act(run_id, "raise", caps={"steps": 30, "pages": 30})
    assert bench.drive(run_id) is Status.REVIEW
    assert [step.name for step in bench.snapshot(run_id).steps].count("halt") == 2
    first = bench.snapshot(run_id).steps[: view.head + 1]
    assert first == view.steps


@pytest.mark.parametrize("kind", ["calls", "tokens", "cost"])
def test_a_cap_met_in_the_middle_of_a_step_takes_that_step_again(bench, monkeypatch, kind):
    plain, asked = RunContext.judge, []

    def judge(tools, role, **blanks):
        asked.append((role.name, tools.settings.max_calls))
        if role.name == "analyzer" and tools.settings.max_calls == 10:
            raise BudgetSpent("9 of 10 are used", cap=kind, used=9, limit=10)
        return plain(tools, role, **blanks)

    monkeypatch.setattr(RunContext, "judge", judge)
    model = ScriptedModel(Script(ASK, crawl(ROOF)).scripted)
    bench.worker.model_client = lambda name, fast="": (model, "")
    run_id = rested(bench, max_calls=10, model="auto")
    assert bench.snapshot(run_id).next == "analyze" and bench.snapshot(run_id).state.halt.kind == kind
    bench.act(run_id, "raise", caps={kind: 300_000 if kind == "tokens" else 20, "calls": 20})
    assert bench.drive(run_id) is Status.REVIEW
    assert asked.count(("analyzer", 10)) == asked.count(("analyzer", 20)) == 1
    view = bench.snapshot(run_id)
    assert view.state.answer.by == "model"
    assert [step.name for step in view.steps][:5] == ["ask", "decide", "plan", "act", "analyze"]


def test_a_cap_that_would_be_met_at_once_is_refused(bench):
    run_id = rested(bench, DEPTH, max_steps=2)
    head = bench.snapshot(run_id).head
    with pytest.raises(UsageError, match="at least 3 steps"):
        bench.act(run_id, "raise", caps={"steps": 2})
    for endless in (float("nan"), float("inf")):
        with pytest.raises(UsageError, match="finite number"):
            bench.act(run_id, "raise", caps={"steps": endless})
    with pytest.raises(UsageError, match="cannot be set: a budget is from 0 to 200 steps"):
        bench.act(run_id, "raise", caps={"steps": 1000})
    with pytest.raises(ConcurrentChange):
        bench.act(run_id, "raise", head - 1, caps={"steps": 5})
    assert bench.snapshot(run_id).head == head
    assert budget.find_minimum_cap(PauseRequest(kind="calls", why="", used=54, cap=60)) == 61, (
        "with 61 calls 55 may be used before the answer"
    )
    assert budget.suggest_cap(PauseRequest(kind="cost", why="", used=1.81, cap=2.0)) == 3.0


def test_until_the_next_conflict_it_rests_says_which_and_goes_on(bench):
    run_id = rested(bench, FOUNDED, until="conflict", at_cap="report")
    view = bench.snapshot(run_id)
    assert view.state.halt.kind == "conflict" and view.state.halt.conflicts == view.state.met
    assert set(view.state.met) <= set(view.state.conflicts) and "disagree" in view.state.halt.why
    bench.act(run_id, "resume")
    while bench.drive(run_id) is Status.PAUSED:
        assert bench.snapshot(run_id).state.halt.kind == "conflict"
        bench.act(run_id, "resume")
    view = bench.snapshot(run_id)
    assert view.run.status is Status.REVIEW and view.state.halt is None
    assert len(view.state.met) == len(set(view.state.met)), "no conflict stops it twice"


def test_how_far_it_goes_can_be_changed_while_it_works_or_rests(bench, monkeypatch):
    run_id, plain, seen = bench.start(SOLAR, DEMO), RunContext.look_up, []

    def look_up(tools, requests):
        if not seen:
            bench.act(run_id, "until", until="step")
        seen.extend(requests)
        return plain(tools, requests)

    monkeypatch.setattr(RunContext, "look_up", look_up)
    assert bench.drive(run_id) is Status.WAITING, "the change holds from the next decision on"
    view = bench.snapshot(run_id)
    assert view.run.settings.stop_point == view.state.settings.stop_point == "step"
    assert [step.name for step in view.steps].count("until") == 1
    bench.act(run_id, "until", until="review")
    bench.act(run_id, "approve", bench.snapshot(run_id).head)
    assert bench.drive(run_id) is Status.REVIEW


def test_meters_tell_what_the_round_has_used(bench):
    run_id = rested(bench, DEPTH, max_steps=3)
    found = {meter.name: meter for meter in budget.read_meters(bench, bench.snapshot(run_id))}
    assert list(found) == ["steps", "pages", "calls", "tokens", "cost", "seconds"]
    assert (found["steps"].used, found["steps"].cap, found["steps"].share) == (3, 3, 1.0)
    assert found["cost"].used == 0 and found["seconds"].used > 0
    call = fill(ModelCall, key="a" * 64, run_id=run_id, step=1, role="decision", model="m", prompt_tokens=100)
    bench.store.calls.record(call)
    assert {m.name: m.used for m in budget.read_meters(bench, bench.snapshot(run_id))}["cost"] is None
    told = bench.as_json(run_id)["budget"]
    assert told[0] == {"name": "steps", "used": 3, "cap": 3.0}
    bench.act(run_id, "finish")
    bench.drive(run_id)
    over = {meter.name: meter.used for meter in budget.read_meters(bench, bench.snapshot(run_id))}
    assert over["steps"] == 3
    bench.act(run_id, "send_back", bench.snapshot(run_id).head, note="Which year?")
    assert {meter.name: meter.used for meter in budget.read_meters(bench, bench.snapshot(run_id))}[
        "steps"
    ] == 0


def test_the_budgets_are_told_with_what_runs_of_the_kind_needed(bench, monkeypatch):
    told = budget.describe_budgets(bench, DEMO)
    assert told.startswith("Stops after 12 steps, 12 pages") and "model call" not in told
    for _ in range(3):
        rested(bench, at=Status.REVIEW)
    told = budget.describe_budgets(bench, DEMO)
    assert told.startswith("About ") and "s, like the last 3 of this kind. Stops after 12" in told
    for other in ({"until": "budget"}, {"world": "live"}):
        assert budget.describe_budgets(bench, DEMO.model_copy(update=other)).startswith("Stops after 12")
    monkeypatch.setattr(bench.worker, "model_client", lambda name, fast="": (SimpleNamespace(), ""))
    assert "model calls" in budget.describe_budgets(bench, DEMO)


def test_collect_asks_at_its_own_cap_on_pages(bench):
    install_walker(bench, topic="Kallsteg", section="forum")
    limits = DEMO.collect.model_copy(update={"max_pages": 3})
    start = ["https://borskvart.example/stock/KALL"]
    run_id = rested(
        bench,
        "What do members say about Kallsteg?",
        flow="collect",
        start_urls=start,
        collect=limits,
        model="auto",
    )
    assert bench.snapshot(run_id).state.halt.kind == "pages"
    assert [meter.name for meter in budget.read_meters(bench, bench.snapshot(run_id))] == [
        "pages",
        "calls",
        "tokens",
        "cost",
        "seconds",
    ]
    bench.act(run_id, "raise", caps={"pages": 60})
    assert bench.snapshot(run_id).run.settings.collect.max_pages == 60
    assert bench.drive(run_id) is Status.REVIEW


def test_the_threshold_can_be_moved_while_a_run_can_go_on(bench):
    run_id = bench.start(FOUNDED, DEMO)
    bench.act(run_id, "threshold", threshold=0.7)
    head = bench.snapshot(run_id).head
    bench.act(run_id, "threshold", threshold=0.7)
    view = bench.snapshot(run_id)
    assert view.run.settings.threshold == view.state.settings.threshold == 0.7
    assert view.head == head, "nothing changed: no step"
    assert (view.steps[-1].name, view.steps[-1].by) == ("threshold", "person")
    with pytest.raises(UsageError, match="threshold: Input should be less than or equal to 1"):
        bench.act(run_id, "threshold", threshold=70)
    with pytest.raises(UsageError, match="between 0 and 1"):
        bench.start(FOUNDED, DEMO.model_copy(update={"threshold": 1.5}))


def state_of(answers: dict[int, str], actions: list[int]) -> RunState:
    """Answers by step with what they came after, "" for a round; actions by step."""
    return RunState(
        answers=[
            Answer(n=n, verdict="partial", step=step, because=why)
            for n, (step, why) in enumerate(answers.items(), 1)
        ],
        actions=[
            fill(Action, step=step, action="crawl_url", query_or_url=f"https://a.example/{step}")
            for step in actions
        ],
    )


@pytest.mark.parametrize(
    ("answers", "counted"),
    [
        ({5: ""}, [1, 2]),
        ({5: "", 9: ""}, [7, 8]),
        ({5: "", 9: "after your edit: changed the plan"}, [7, 8]),
        ({5: "", 9: "", 11: "after your edit: struck a fact"}, [7, 8]),
        ({5: "", 6: "after your edit: struck a fact"}, [1, 2]),
    ],
    ids=["first", "second", "after a change of the plan", "rewritten", "only rewritten"],
)
def test_a_round_counts_the_actions_that_led_to_its_answer(
    answers: dict[int, str], counted: list[int]
) -> None:
    last = max(answers)
    actions = [step for step in (1, 2, 7, 8) if step < last]
    assert [action.step for action in find_last_round_actions(state_of(answers, actions))] == counted
