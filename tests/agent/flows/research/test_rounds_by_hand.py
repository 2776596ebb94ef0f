"""Rounds whose actions a person decides, and rounds that are stopped, killed or of an older version."""

from __future__ import annotations

from typing import Any

import pytest

from agent.engine.run_state import RunState
from agent.errors import ConcurrentChange, StopRequested, StoreError, UsageError
from agent.flows.research import policy
from agent.flows.research.state import ResearchState
from agent.retrieval.link_scoring import lead_id
from agent.types import Lead, Outcome, Page, Publication, Settings, Status
from agent.web.unpaywall import OpenCopy
from agent.workbench import RunSnapshot, Workbench
from tests.web.ferry_rounds import (
    ANNA,
    BUILDER,
    BUILT,
    LAUNCH,
    LAUNCHED,
    OTHER,
    QUESTION,
    bench_with,
    run,
    told,
)
from tests.web.folders import Told, limited
from tests.web.researching_model import ASK, crawl, together

pytestmark = pytest.mark.slow


def stepwise(bench: Workbench, world: str) -> RunSnapshot:
    """A run that waits with the round of the script."""
    view = run(bench, world, rests=Status.WAITING, mode="step")
    for _ in range(2):  # the plan, then the first search
        bench.act(view.run.id, "approve", bench.snapshot(view.run.id).head)
        assert bench.drive(view.run.id) is Status.WAITING
    return bench.snapshot(view.run.id)


def test_step_by_step_each_action_is_decided_on_its_own(tmp_path):
    three = together(crawl(BUILDER), crawl(LAUNCH), crawl(OTHER))
    with bench_with(tmp_path, three) as (bench, _, world):
        view = stepwise(bench, world)
        run_id = view.run.id
        bench.act(run_id, "approve", view.head, index=0)
        view = bench.snapshot(run_id)
        assert view.run.status is Status.WAITING
        assert [a.approved for a in view.state.pending.actions] == [True, False, False]
        bench.act(run_id, "skip", view.head, index=2)
        view = bench.snapshot(run_id)
        assert view.run.status is Status.WAITING and len(view.state.pending.actions) == 2
        bench.act(
            run_id,
            "edit",
            view.head,
            next_action="search_duckduckgo",
            query_or_url="ferry Vinga museum",
            index=1,
        )
        assert bench.snapshot(run_id).run.status is Status.RUNNING
        bench.drive(run_id)
        state = bench.snapshot(run_id).state
    assert told(state)[1:3] == [("crawl_url", BUILDER), ("search_duckduckgo", "ferry Vinga museum")]
    assert state.actions[2].by == "person" and OTHER in state.skipped


def test_a_decision_on_an_action_that_is_not_there_or_was_seen_before_is_refused(tmp_path):
    with bench_with(tmp_path, together(crawl(BUILDER), crawl(LAUNCH))) as (bench, _, world):
        view = stepwise(bench, world)
        with pytest.raises(UsageError, match="has no action 3"):
            bench.act(view.run.id, "approve", view.head, index=2)
        with pytest.raises(UsageError, match="choose a reading"):
            bench.act(view.run.id, "answer", view.head, index=0, text="yes")
        bench.act(view.run.id, "approve", view.head, index=0)
        with pytest.raises(ConcurrentChange):
            bench.act(view.run.id, "approve", view.head, index=1)


def test_the_answer_to_a_question_is_a_note_and_the_round_goes_on(tmp_path):
    with bench_with(tmp_path, together(ANNA, crawl(LAUNCH))) as (bench, script, world):
        view = stepwise(bench, world)
        bench.act(view.run.id, "answer", view.head, index=0, text="the one of 1960")
        view = bench.snapshot(view.run.id)
        assert view.state.notes[-1].text == "Which ferry Vinga is meant? the one of 1960"
        assert view.state.pending.query_or_url == LAUNCH and view.run.status is Status.WAITING
        bench.act(view.run.id, "approve", view.head)
        bench.drive(view.run.id)
        assert "the one of 1960" in script.prompts[-1][1]


def test_nothing_is_fetched_ahead_where_a_person_approves():
    name = lead_id("url", BUILDER)
    known = {"text": "", "why": "", "found_on": "", "score": 0.0, "prior": 0.0, "step": 0}
    own = ResearchState(leads={name: Lead(id=name, kind="url", value=BUILDER, **known)})
    state = RunState(question=QUESTION, own=own)
    assert list(policy.choose_pages_ahead(state)) == [BUILDER]
    state.settings = Settings(mode="step")
    assert list(policy.choose_pages_ahead(state)) == []
    state.settings = Settings(allowed_domains=["other.example"])
    assert list(policy.choose_pages_ahead(state)) == []


def test_a_stop_in_the_middle_of_a_round_loses_nothing_that_was_read(tmp_path):
    with bench_with(tmp_path, together(crawl(BUILDER), crawl(LAUNCH), crawl(OTHER))) as (bench, _, world):
        stopping: list[str] = []

        def fetch(url: str) -> None:
            if url == LAUNCH and not stopping:
                stopping.append(url)
                raise StopRequested("a person stopped the run")

        seen = Told(bench.worker.world(world), fetch=fetch)
        bench.worker.world = lambda name: seen  # type: ignore[method-assign]
        run_id = bench.start(QUESTION, Settings(world=world))
        bench.drive(run_id)
        view = bench.snapshot(run_id)
        [last] = [step for step in view.steps if step.name == "act" and step.next == "act"]
        assert [action["query_or_url"] for action in last.change["actions"]] == [BUILDER]
        assert [seen.asked.count(url) for url in (BUILDER, LAUNCH, OTHER)] == [1, 2, 1]
        assert {fact.quote for fact in view.state.facts.values()} >= {BUILT, LAUNCHED}
        found = {action.query_or_url: action.new_facts for action in view.state.actions}
        assert found[BUILDER] == 1, "a page that was fetched before the stop counts its facts, too"


def test_a_stop_while_an_open_copy_is_looked_for_loses_nothing_of_the_round(tmp_path):
    asked = {**ASK, "query_or_url": "ferry Vinga yard"}
    with bench_with(tmp_path, together(asked, crawl(BUILDER), crawl(OTHER))) as (bench, _, world):
        closed = Page(
            url=OTHER,
            final_url=OTHER,
            outcome=Outcome.BLOCKED,
            title="",
            text="",
            publication=Publication(doi="10.1000/vinga"),
            fetched_at="2026-11-21T09:00:00Z",
        )
        seen = Told(bench.worker.world(world), fetch=lambda url: closed if url == OTHER else None)
        stopping = ["once"]

        def find_open_copy(_doi: str, _checkpoint: object) -> OpenCopy:
            if stopping:
                stopping.pop()
                raise StopRequested("a person stopped the run")
            return OpenCopy(detail="None is known.")

        seen.find_open_copy = find_open_copy  # type: ignore[attr-defined]
        bench.worker.world = lambda name: seen  # type: ignore[method-assign]
        run_id = bench.start(QUESTION, Settings(world=world))
        bench.drive(run_id)
        state = bench.snapshot(run_id).state
    assert [sum(asked["query_or_url"] in one for one in seen.asked), seen.asked.count(BUILDER)] == [1, 1]
    assert state.pages[OTHER].detail.endswith("None is known.")


def test_a_search_that_takes_over_can_be_skipped(tmp_path):
    with bench_with(tmp_path, crawl(BUILDER)) as (bench, _, world):
        engines = {"duckduckgo": "", "wikipedia": ""}

        def search(engine: str, query: str) -> Any:
            return limited(engine, query) if engine == "duckduckgo" else None

        seen = Told(bench.worker.world(world), search=search, engines=engines)
        bench.worker.world = lambda name: seen  # type: ignore[method-assign]
        view = run(bench, world, rests=Status.WAITING, mode="step")
        for _ in range(2):
            bench.act(view.run.id, "approve", bench.snapshot(view.run.id).head)
            assert bench.drive(view.run.id) is Status.WAITING
        view = bench.snapshot(view.run.id)
        assert "takes over" in view.state.pending.reasoning
        bench.act(view.run.id, "skip", view.head)
        bench.drive(view.run.id)
        pending = bench.snapshot(view.run.id).state.pending
    assert pending is None or "takes over" not in pending.reasoning


def test_a_plan_that_a_person_wrote_after_the_process_died_stays(tmp_path, monkeypatch):
    with bench_with(tmp_path) as (bench, _, world):
        run_id = bench.start(QUESTION, Settings(world=world))
        commit = bench.store.ledger.commit

        def die(lease: Any, step: Any, *rest: Any) -> None:
            if step.name == "plan":
                raise StoreError("the process died")
            commit(lease, step, *rest)

        with monkeypatch.context() as dying, pytest.raises(StoreError):
            dying.setattr(bench.store.ledger, "commit", die)
            bench.drive(run_id)
        assert bench.snapshot(run_id).next == "plan"
        bench.act(run_id, "replan", parts=["Who painted the ferry Vinga?"])
        bench.drive(run_id)
        state = bench.snapshot(run_id).state
    assert [part.question for part in state.plan] == ["Who painted the ferry Vinga?"]
