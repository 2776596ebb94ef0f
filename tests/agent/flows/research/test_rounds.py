"""Rounds of a research run with a model: what is carried out together, cut, refused, asked, opened again, and
what happens when a round is interrupted."""

from __future__ import annotations

import json
import re

import pytest

from agent.actions.bundles import verify_bundle
from agent.actions.export import export_run
from agent.engine.run_state import RunState
from agent.flows.research import policy
from agent.flows.research.flow import RESEARCH
from agent.flows.research.state import ResearchState
from agent.types import (
    Action,
    Assessment,
    Confidence,
    Fact,
    Lead,
    PartConfidence,
    PlanPart,
    Proposal,
    Settings,
)
from tests.records import fill
from tests.web.ferry_rounds import ANNA, BUILDER, BUILT, LAUNCH, OTHER, QUESTION, bench_with, run, told
from tests.web.folders import Told
from tests.web.researching_model import ASK, crawl, together

pytestmark = pytest.mark.slow
MORE = {"next_action": "more", "query_or_url": OTHER, "reasoning": "Its end was not shown."}


def test_a_round_is_whole_in_every_export_and_in_a_branch(tmp_path):
    both = together(crawl(BUILDER), {**ASK, "query_or_url": "ferry Vinga yard"})
    with bench_with(tmp_path, both) as (bench, _, world):
        view = run(bench, world)
        run_id, act = view.run.id, [step for step in view.steps if step.name == "act"][1]
        assert verify_bundle(export_run(bench, run_id, "bundle")).is_valid
        row = json.loads(export_run(bench, run_id, "json"))["steps"][act.n]
        assert row["action"]["query_or_url"] == BUILDER
        assert [action["query_or_url"] for action in row["beside"]] == ["ferry Vinga yard"]
        report = export_run(bench, run_id, "evidence.md").decode()
        assert "| 2 | read a page" in report and "| 3 | search the folder world | ferry Vinga yard" in report
        assert "ferry Vinga yard" in export_run(bench, run_id, "graphml").decode()
        new = bench.snapshot(bench.act(run_id, "fork", step=act.n))
        assert told(new.state) == told(view.state)[:3] and new.next == "analyze"
        lines = [RESEARCH.describe(step) for step in view.steps]
        assert any("read a page" in line and "search ferry Vinga yard" in line for line in lines)


def test_a_part_with_one_source_earns_one_further_round_where_something_was_named():
    plan = [PlanPart(id="1", question="Who built it?"), PlanPart(id="2", question="When was it launched?")]
    facts = {
        part: Fact(id=part, statement=BUILT, quote=BUILT, part=part, verified=True) for part in ("1", "2")
    }
    two, one = (
        PartConfidence(part="1", sources=["a.example", "b.example"], weight=2.0, judgement=1.0),
        PartConfidence(part="2", sources=["a.example"], weight=1.0, judgement=1.0),
    )
    report = {"answered_parts": ["1", "2"], "extracted_info": {"leads": ["the yard's list"]}}
    lead = fill(Lead, id="q", kind="query", value="the yard's list", text="the yard's list")
    state = RunState(question=QUESTION, plan_parts=plan, facts=facts)
    state.own = ResearchState(report=report, reported_at=4, leads={"q": lead})
    state.assessments = [Assessment(step=2), Assessment(step=4, model=0.9)]
    state.confidence = [fill(Confidence, step=4, value=0.8, parts=[two, one])]
    found = policy.assess_coverage(state)
    assert (found.low, found.thin) == (["2"], ["2"])
    state.actions = [fill(Action, step=6, action="search_duckduckgo", query_or_url="the yard's list")]
    state.own.leads = {}
    assert policy.assess_coverage(state).thin == ["2"], "what the search found may be read"
    state.actions += [fill(Action, step=8, action="crawl_url", query_or_url=BUILDER)]
    found = policy.assess_coverage(state)
    assert (found.thin, found.reason) == (
        [],
        "“When was it launched?” rests on one source; a further round brought no second one.",
    )
    state.actions = []
    assert (
        policy.assess_coverage(state).reason
        == "“When was it launched?” rests on one source; nothing further was named."
    )
    state.confidence = [fill(Confidence, step=4, value=0.9, parts=[two, two.replace(part="2")])]
    found = policy.assess_coverage(state)
    assert (found.low, found.reason) == ([], "Every part is answered at or above 85%.")


def test_parts_are_named_by_their_words():
    plan = [PlanPart(id=str(n), question=f"Who built {'the northern quay ' * n}?") for n in range(1, 6)]
    state = RunState(question=QUESTION, plan_parts=plan)
    assert policy.name_parts(state, ["1"], "is", "are") == "“Who built the northern quay ?” is"
    two = policy.name_parts(state, ["1", "4"], "is", "are")
    assert two.endswith("?” and “Who built the northern quay the northern quay the northern…” are")
    assert policy.name_parts(state, list("12345"), "rests", "rest").endswith(
        "…” and 3 more rest".replace("…", " ?")
    )


def test_the_good_actions_of_a_round_are_kept_and_the_next_decision_hears_of_the_others(tmp_path):
    invented = "https://invented.example/"
    mixed = together(crawl(invented), crawl(BUILDER), crawl(BUILDER))
    with bench_with(tmp_path, mixed) as (bench, script, world):
        view = run(bench, world)
    assert told(view.state)[1:] == [("crawl_url", BUILDER)]
    assert [refusal.what for refusal in view.state.refusals] == [invented]
    asked = [prompt for role, prompt in script.prompts if role == "decision"]
    assert len(asked) == 2 and invented not in asked[0] and invented in asked[1]
    assert not any("Code refused this reply" in prompt for prompt in asked)


@pytest.mark.parametrize(("caps", "left"), [({"max_steps": 2}, 1), ({"max_pages": 1}, 2), ({}, 4)])
def test_a_round_is_cut_to_what_the_budgets_leave(caps, left):
    wanted = [Proposal(next_action="crawl_url", query_or_url=BUILDER)]
    wanted += [Proposal(next_action="crawl_url", query_or_url=LAUNCH)]
    wanted += [Proposal(next_action="search_duckduckgo", query_or_url=f"ferry {n}") for n in range(4)]
    done = [fill(Action, step=2, action="search_duckduckgo", query_or_url=QUESTION)]
    state = RunState(settings=Settings(**caps), actions=done, own=ResearchState())
    cut = policy.cut_round(state, wanted)
    assert len(cut) == left or (
        caps.get("max_pages") and [p.next_action for p in cut].count("crawl_url") == 1
    )


def test_the_rest_of_a_page_is_opened_without_a_fetch(tmp_path):
    with bench_with(tmp_path, crawl(OTHER), MORE) as (bench, script, world):
        seen = Told(bench.worker.world(world))
        bench.worker.world = lambda name: seen  # type: ignore[method-assign]
        view = run(bench, world)
    assert seen.asked.count(OTHER) == 1
    assert told(view.state)[-1] == ("more", OTHER) and view.state.actions[-1].new_facts >= 0
    ref = view.state.pages[OTHER]
    assert ref.length > sum(end - start for start, end in ref.shown) > 0
    first, second = (prompt for role, prompt in script.prompts if role == "analyzer")
    assert not set(re.findall(r"in year (\d+)", first)) & set(re.findall(r"in year (\d+)", second))
    assert view.state.own.count_pages(view.state.actions) == 1, "no page is counted twice"


def test_a_question_to_the_person_is_skipped_without_one_and_the_reading_is_told(tmp_path):
    with bench_with(tmp_path, together(ANNA, crawl(LAUNCH))) as (bench, script, world):
        view = run(bench, world)
    asked = next(action for action in view.state.actions if action.action == "ask")
    assert asked.detail == "No person was asked: it is read as “the one of 1931”."
    assert "the one of 1931" in script.prompts[-2][1] + script.prompts[-1][1]


def test_a_page_of_an_earlier_turn_may_be_read_again_for_the_further_question(tmp_path):
    with bench_with(tmp_path, crawl(LAUNCH)) as (bench, script, world):
        run_id = run(bench, world).run.id
        bench.act(run_id, "accept", bench.snapshot(run_id).head)
        script.decisions = [crawl(LAUNCH)]
        new = bench.follow_up(run_id, "How often does the ferry Vinga sail?")
        seen = Told(bench.worker.world(world))
        bench.worker.world = lambda name: seen  # type: ignore[method-assign]
        bench.drive(new)
        state = bench.snapshot(new).state
    assert ("more", LAUNCH) in told(state) and LAUNCH not in seen.asked
    assert "It sails each day." in [prompt for role, prompt in script.prompts if role == "analyzer"][-1]
