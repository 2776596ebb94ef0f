"""Rounds of a research run with a model: what is carried out together, cut, refused, asked, opened again, and
what happens when a round is interrupted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from agent import config
from agent.actions.bundle_verify import verify_bundle
from agent.actions.export import export_run
from agent.actions.forks import fork_run
from agent.actions.plan_edits import PartEdit, edit_plan
from agent.engine.run_state import RunState
from agent.errors import ConcurrentChange, StopRequested, StoreError, UsageError
from agent.flows.research import opened_pages, policy
from agent.flows.research.flow import RESEARCH
from agent.flows.research.state import Observation, ResearchState
from agent.llm.scripted import ScriptedModel
from agent.retrieval.link_scoring import lead_id
from agent.text.urls import host
from agent.types import (
    Action,
    Fact,
    Note,
    Outcome,
    Page,
    PageRef,
    PlanPart,
    Proposal,
    Publication,
    Settings,
    Status,
    Step,
)
from agent.web.unpaywall import OpenCopy
from agent.workbench import RunSnapshot, Workbench
from tests.web.folders import Told, limited, page, write_world
from tests.web.researching_model import ASK, Script, crawl, together

pytestmark = pytest.mark.slow

QUESTION = "Who built the ferry Vinga, and when was the ferry Vinga launched?"
BUILDER, LAUNCH, OTHER = (f"https://{name}.example/vinga" for name in ("yard", "archive", "museum"))
BUILT = "The ferry Vinga was built by Aldo Brinck."
LAUNCHED = "The ferry Vinga was launched in 1931."
FILLER = "\n".join(
    f"Of the harbour in year {n} the chronicle tells little that is new. " * 6 for n in range(40)
)
DOCS = [
    page(BUILDER, "Ferry Vinga, the yard", f"{BUILT}\nIt has two decks."),
    page(LAUNCH, "Ferry Vinga, the archive", f"{LAUNCHED}\nIt sails each day."),
    page(OTHER, "Ferry Vinga, the museum", f"The ferry Vinga has a museum.\n{FILLER}\n{LAUNCHED}"),
]
PLAN = {"parts": [{"question": "Who built the ferry Vinga?"}, {"question": "When was it launched?"}]}
MORE = {"next_action": "more", "query_or_url": OTHER, "reasoning": "Its end was not shown."}


def analyze(prompt: str, sure: float = 0.4) -> dict[str, Any]:
    """Facts from every passage that holds one, each with the id of its passage."""
    shown = re.split(r"Passage (p\d+)[^\n]*:\n", prompt.split("Pages of this round")[-1])
    facts = [
        {"quote": quote, "statement": quote, "passage_id": name, "part": part}
        for name, text in zip(shown[1::2], shown[2::2], strict=True)
        for quote, part in ((BUILT, "1"), (LAUNCHED, "2"))
        if quote in text
    ]
    return {"facts": facts, "confidence_score": sure, "assessment": "Read."}


@contextmanager
def bench_with(tmp_path, *decisions: Any, **more: Any) -> Iterator[tuple[Workbench, Script, str]]:
    given = {"analyzer": analyze, "sentences": [(LAUNCHED, None)], "plan": PLAN, **more}
    script = Script(*decisions, **given)
    bench = Workbench(config.read_config())
    bench.worker.model_client = lambda name, fast="": (ScriptedModel(script.scripted), "")  # type: ignore[method-assign]
    try:
        yield bench, script, write_world(tmp_path / "world", DOCS)
    finally:
        bench.shutdown()


def run(
    bench: Workbench, world: str, question: str = QUESTION, rests: Status = Status.REVIEW, **settings: Any
) -> RunSnapshot:
    run_id = bench.start(question, Settings(world=world, **settings))
    assert bench.drive(run_id) is rests, bench.snapshot(run_id).run.error
    return bench.snapshot(run_id)


def told(state: RunState) -> list[tuple[str, str]]:
    return [(action.action, action.query_or_url) for action in state.actions]


def test_a_round_is_one_step_with_an_action_for_each(tmp_path):
    both = together({**crawl(BUILDER), "part": "1"}, {**crawl(LAUNCH), "part": "2"})
    with bench_with(tmp_path, both) as (bench, script, world):
        view = run(bench, world)
    acts = [step for step in view.steps if step.name == "act"]
    assert [len(step.change["actions"]) for step in acts] == [1, 2]
    assert [(a.query_or_url, a.part, a.new_facts) for a in view.state.actions[1:]] == [
        (BUILDER, "1", 1),
        (LAUNCH, "2", 1),
    ]
    assert {action.step for action in view.state.actions[1:]} == {acts[1].n}
    assert [role for role, _ in script.prompts].count("analyzer") == 1, "both pages are read in one call"


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
        assert (
            report.count("| 2 | ") == 2
            and "ferry Vinga yard" in export_run(bench, run_id, "graphml").decode()
        )
        new = bench.snapshot(fork_run(bench, run_id, act.n))
        assert told(new.state) == told(view.state)[:3] and new.next == "analyze"
        lines = [RESEARCH.describe(step) for step in view.steps]
        assert any("read a page" in line and "search ferry Vinga yard" in line for line in lines)


def test_each_fact_is_that_of_the_page_whose_passage_it_quotes(tmp_path):
    with bench_with(tmp_path, together(crawl(BUILDER), crawl(LAUNCH))) as (bench, _, world):
        facts = run(bench, world).state.facts.values()
    assert {(fact.quote, fact.url, fact.verified) for fact in facts} == {
        (BUILT, BUILDER, True),
        (LAUNCHED, LAUNCH, True),
    }


def test_pages_that_are_too_much_for_one_call_are_read_in_several(tmp_path, monkeypatch):
    monkeypatch.setattr(opened_pages, "READING_TOKENS", opened_pages.PAGE_TOKENS)
    with bench_with(tmp_path, together(crawl(BUILDER), crawl(LAUNCH))) as (bench, script, world):
        view = run(bench, world)
    assert [role for role, _ in script.prompts].count("analyzer") == 2
    assert {fact.url for fact in view.state.facts.values()} == {BUILDER, LAUNCH}
    assert view.state.own.report["assessment"] == "Read. Read."


def test_a_fact_with_the_id_of_another_page_is_told_of_the_page_that_says_it(tmp_path):
    def confuse(prompt: str) -> dict[str, Any]:
        return {"facts": [{"quote": LAUNCHED, "statement": LAUNCHED, "passage_id": "p1"}]}

    with bench_with(tmp_path, together(crawl(BUILDER), crawl(LAUNCH)), analyzer=confuse) as (bench, _, world):
        [fact] = run(bench, world).state.facts.values()
    assert (fact.url, fact.verified) == (LAUNCH, True)


def test_the_question_is_searched_for_without_a_call_and_results_cost_none(tmp_path):
    with bench_with(tmp_path) as (bench, script, world):
        view = run(bench, world)
        assert told(view.state) == [("search_duckduckgo", QUESTION)]
        assert [role for role, _ in script.prompts] == ["plan", "decision"]
        prompt = script.prompts[1][1]
    listed = re.findall(r"^(u\d+) (\S+) \|", prompt.split("Results of the last searches")[1], re.MULTILINE)
    assert {url for _, url in listed} == {BUILDER, LAUNCH, OTHER}
    assert [name for name, _ in listed] == ["u1", "u2", "u3"]


def test_results_that_were_read_are_marked(tmp_path):
    again = together(crawl(LAUNCH), {**ASK, "query_or_url": "ferry Vinga builder"})
    with bench_with(tmp_path, again) as (bench, script, world):
        run(bench, world)
        last = [prompt for role, prompt in script.prompts if role == "decision"][-1]
    lines = [line for line in last.splitlines() if re.match(r"u\d+ http", line)]
    assert [line.endswith("(read)") for line in lines if LAUNCH in line] == [True]
    assert not any(line.endswith("(read)") for line in lines if BUILDER in line)


def test_when_the_analyzer_calls_all_answered_no_decision_is_asked_for(tmp_path):
    def answered(prompt: str) -> dict[str, Any]:
        return {**analyze(prompt), "answered_parts": ["1", "2"]}

    with bench_with(tmp_path, together(crawl(BUILDER), crawl(LAUNCH)), analyzer=answered) as (
        bench,
        script,
        world,
    ):
        view = run(bench, world)
    roles = [role for role, _ in script.prompts]
    assert roles[:4] == ["plan", "decision", "analyzer", "report"] and view.state.stop_reason != "blocked"


def test_a_part_without_a_fact_is_not_answered_by_the_analyzers_word():
    plan = [PlanPart(id="1", question="Who built it?"), PlanPart(id="2", question="When was it launched?")]
    fact = Fact(id="f", statement=BUILT, quote=BUILT, part="1", verified=True, relevance=0.9)
    own = ResearchState(report={"answered_parts": ["1", "2"]}, reported_at=4)
    state = RunState(question=QUESTION, plan_parts=plan, own=own, facts={"f": fact})
    assert not policy.is_answered(state)
    other = fact.replace(id="g", statement=LAUNCHED, quote=LAUNCHED, part="2")
    state = RunState(question=QUESTION, plan_parts=plan, own=own, facts={"f": fact, "g": other})
    assert policy.is_answered(state)
    state.settings = Settings(until="budget")
    assert not policy.is_answered(state)


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


def test_a_hand_over_beside_other_actions_waits_for_them(tmp_path):
    end = {"next_action": "send_to_hitl", "query_or_url": "", "reasoning": "Enough."}
    with bench_with(tmp_path, together(end, crawl(LAUNCH))) as (bench, _, world):
        assert ("crawl_url", LAUNCH) in told(run(bench, world).state)


@pytest.mark.parametrize(("caps", "left"), [({"max_steps": 2}, 1), ({"max_pages": 1}, 2), ({}, 4)])
def test_a_round_is_cut_to_what_the_budgets_leave(caps, left):
    wanted = [Proposal(next_action="crawl_url", query_or_url=BUILDER)]
    wanted += [Proposal(next_action="crawl_url", query_or_url=LAUNCH)]
    wanted += [Proposal(next_action="search_duckduckgo", query_or_url=f"ferry {n}") for n in range(4)]
    done = [Action(step=2, action="search_duckduckgo", query_or_url=QUESTION)]
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


def test_a_page_that_was_shown_whole_has_no_more(tmp_path):
    with bench_with(tmp_path, crawl(LAUNCH), {**MORE, "query_or_url": LAUNCH}) as (bench, _, world):
        view = run(bench, world)
    assert not any(action.action == "more" for action in view.state.actions)


def test_an_unread_passage_that_fits_an_open_part_is_offered_with_its_reason(tmp_path):
    with bench_with(tmp_path, crawl(OTHER)) as (bench, _, world):
        view = run(bench, world)
        ref = view.state.pages[OTHER]
        stored = bench.page(ref.page_id)
        tools = type("Tools", (), {"page": lambda self, page_id: stored})()
        state = view.state.model_copy(
            update={"plan_parts": [], "pages": {OTHER: ref.replace(shown=[(0, 500)])}}
        )
        [lead] = opened_pages.find_unread_pages(state, tools)
        note = Note(step=9, text=f"without {host(OTHER)}")
        assert not opened_pages.find_unread_pages(state.model_copy(update={"notes": [note]}), tools)
    assert lead.value == OTHER and lead.why.startswith("part ") and "1931" in lead.why


ANNA = {
    "next_action": "ask",
    "query_or_url": "Which ferry Vinga is meant?",
    "choices": ["the one of 1931", "the one of 1960"],
    "reasoning": "Two ferries have the name.",
}


def test_a_question_to_the_person_is_skipped_without_one_and_the_reading_is_told(tmp_path):
    with bench_with(tmp_path, together(ANNA, crawl(LAUNCH))) as (bench, script, world):
        view = run(bench, world)
    asked = next(action for action in view.state.actions if action.action == "ask")
    assert asked.detail == "No person was asked: it is read as “the one of 1931”."
    assert "the one of 1931" in script.prompts[-2][1] + script.prompts[-1][1]


def stepwise(bench: Workbench, world: str) -> RunSnapshot:
    """A run that waits with the round of the script."""
    view = run(bench, world, rests=Status.WAITING, mode="step")
    for _ in range(2):  # the plan, then the first search
        bench.approve(view.run.id, bench.snapshot(view.run.id).head)
        assert bench.drive(view.run.id) is Status.WAITING
    return bench.snapshot(view.run.id)


def test_step_by_step_each_action_is_decided_on_its_own(tmp_path):
    three = together(crawl(BUILDER), crawl(LAUNCH), crawl(OTHER))
    with bench_with(tmp_path, three) as (bench, _, world):
        view = stepwise(bench, world)
        run_id = view.run.id
        bench.approve(run_id, view.head, 0)
        view = bench.snapshot(run_id)
        assert view.run.status is Status.WAITING
        assert [a.approved for a in view.state.pending.actions] == [True, False, False]
        bench.skip(run_id, view.head, 2)
        view = bench.snapshot(run_id)
        assert view.run.status is Status.WAITING and len(view.state.pending.actions) == 2
        bench.edit(run_id, view.head, "search_duckduckgo", "ferry Vinga museum", 1)
        assert bench.snapshot(run_id).run.status is Status.RUNNING
        bench.drive(run_id)
        state = bench.snapshot(run_id).state
    assert told(state)[1:3] == [("crawl_url", BUILDER), ("search_duckduckgo", "ferry Vinga museum")]
    assert state.actions[2].by == "person" and OTHER in state.skipped


def test_all_of_a_round_are_approved_or_skipped_at_once(tmp_path):
    pair = together(crawl(BUILDER), crawl(LAUNCH))
    with bench_with(tmp_path, pair, together(crawl(OTHER))) as (bench, _, world):
        view = stepwise(bench, world)
        bench.skip(view.run.id, view.head)
        assert bench.drive(view.run.id) is Status.WAITING
        view = bench.snapshot(view.run.id)
        assert view.state.skipped >= {BUILDER, LAUNCH} and view.state.pending.query_or_url == OTHER
        bench.approve(view.run.id, view.head)
        bench.drive(view.run.id)
        assert ("crawl_url", OTHER) in told(bench.snapshot(view.run.id).state)


def test_a_decision_on_an_action_that_is_not_there_or_was_seen_before_is_refused(tmp_path):
    with bench_with(tmp_path, together(crawl(BUILDER), crawl(LAUNCH))) as (bench, _, world):
        view = stepwise(bench, world)
        with pytest.raises(UsageError, match="has no action 3"):
            bench.approve(view.run.id, view.head, 2)
        with pytest.raises(UsageError, match="choose a reading"):
            bench.answer(view.run.id, view.head, 0, "yes")
        bench.approve(view.run.id, view.head, 0)
        with pytest.raises(ConcurrentChange):
            bench.approve(view.run.id, view.head, 1)


def test_the_answer_to_a_question_is_a_note_and_the_round_goes_on(tmp_path):
    with bench_with(tmp_path, together(ANNA, crawl(LAUNCH))) as (bench, script, world):
        view = stepwise(bench, world)
        bench.answer(view.run.id, view.head, 0, "the one of 1960")
        view = bench.snapshot(view.run.id)
        assert view.state.notes[-1].text == "Which ferry Vinga is meant? the one of 1960"
        assert view.state.pending.query_or_url == LAUNCH and view.run.status is Status.WAITING
        bench.approve(view.run.id, view.head)
        bench.drive(view.run.id)
        assert "the one of 1960" in script.prompts[-1][1]


def test_nothing_is_fetched_ahead_where_a_person_approves():
    name = lead_id("url", BUILDER)
    leads = {name: {"id": name, "kind": "url", "value": BUILDER}}
    own = ResearchState.model_validate({"leads": leads})
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

        def find_open_copy(_doi: str) -> OpenCopy:
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


def test_a_run_of_an_older_version_rests_before_a_step_that_has_another_name_now(tmp_path):
    with bench_with(tmp_path) as (bench, _, world):
        settings = Settings(world=world, model="keyless")
        ask = Step(
            n=0,
            name="ask",
            change={
                "question": QUESTION,
                "settings": settings.model_dump(mode="json"),
                "pending": {"next_action": "crawl_url", "query_or_url": LAUNCH},
            },
            next="crawl",
            by="person",
        )
        run_id = bench.store.ledger.create(QUESTION, settings, ask)
        assert bench.drive(run_id) is Status.REVIEW
        assert told(bench.snapshot(run_id).state)[0] == ("crawl_url", LAUNCH)


def test_what_an_older_version_left_to_be_analyzed_is_analyzed():
    own = ResearchState(looking=Observation(source=LAUNCH, page_id="p"))
    assert [item.source for item in own.unanalyzed] == [LAUNCH]
    state = RunState(own=own, pages={LAUNCH: PageRef(url=LAUNCH, outcome=Outcome.OK)})
    assert state.own.unanalyzed and not ResearchState(brought=own.unanalyzed, is_analyzed=True).unanalyzed


def test_to_read_a_page_again_that_was_read_in_part_is_to_read_its_rest(tmp_path):
    with bench_with(tmp_path, crawl(OTHER), crawl(OTHER)) as (bench, _, world):
        state = run(bench, world).state
    assert told(state)[-2:] == [("crawl_url", OTHER), ("more", OTHER)]


def test_a_search_that_takes_over_can_be_skipped(tmp_path):
    with bench_with(tmp_path, crawl(BUILDER)) as (bench, _, world):
        engines = {"duckduckgo": "", "wikipedia": ""}

        def search(engine: str, query: str) -> Any:
            return limited(engine, query) if engine == "duckduckgo" else None

        seen = Told(bench.worker.world(world), search=search, engines=engines)
        bench.worker.world = lambda name: seen  # type: ignore[method-assign]
        view = run(bench, world, rests=Status.WAITING, mode="step")
        for _ in range(2):
            bench.approve(view.run.id, bench.snapshot(view.run.id).head)
            assert bench.drive(view.run.id) is Status.WAITING
        view = bench.snapshot(view.run.id)
        assert "takes over" in view.state.pending.reasoning
        bench.skip(view.run.id, view.head)
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
        edit_plan(bench, run_id, [PartEdit("Who painted the ferry Vinga?")])
        bench.drive(run_id)
        state = bench.snapshot(run_id).state
    assert [part.question for part in state.plan] == ["Who painted the ferry Vinga?"]


def test_a_page_of_an_earlier_turn_may_be_read_again_for_the_further_question(tmp_path):
    with bench_with(tmp_path, crawl(LAUNCH)) as (bench, script, world):
        run_id = run(bench, world).run.id
        bench.accept(run_id, bench.snapshot(run_id).head)
        script.decisions = [crawl(LAUNCH)]
        new = bench.follow_up(run_id, "How often does the ferry Vinga sail?")
        seen = Told(bench.worker.world(world))
        bench.worker.world = lambda name: seen  # type: ignore[method-assign]
        bench.drive(new)
        state = bench.snapshot(new).state
    assert ("more", LAUNCH) in told(state) and LAUNCH not in seen.asked
    assert "It sails each day." in [prompt for role, prompt in script.prompts if role == "analyzer"][-1]
