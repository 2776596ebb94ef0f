"""The research flow with a model behind a real server: what it says is used, checked, counted and paid for
once."""

from __future__ import annotations

import re

import pytest

from agent.text.urls import canonicalize
from agent.types import Status
from tests.web.folders import Told, page, write_world
from tests.web.model_server import ModelServer, html, says, status
from tests.web.researching_model import (
    ASK,
    INVENTED,
    QUOTE,
    ROOF,
    SOLAR,
    Script,
    crawl,
    driven,
    failing,
    run,
    workbench,
)

pytestmark = pytest.mark.slow


def test_an_address_the_decision_invents_is_never_asked_for_and_the_model_hears_why_once():
    with ModelServer(Script(crawl(INVENTED), crawl(ROOF)).served) as server, workbench(server) as bench:
        world = Told(bench.worker.world("demo"))
        bench.worker.world = lambda name: world  # type: ignore[method-assign]
        view = run(bench)
    assert INVENTED not in world.asked
    refusal = next(refusal for refusal in view.state.refusals if refusal.what == INVENTED)
    assert "does not occur on any page" in refusal.why and refusal.step
    assert (view.state.actions[1].by, view.state.actions[1].query_or_url) == ("model", ROOF)
    again = next(r for r in server.requests if "Code refused this reply" in r.prompt).body["messages"]
    assert [message["role"] for message in again] == ["system", "user", "assistant", "user"]
    assert "does not occur on any page" in again[-1]["content"] and INVENTED in again[-2]["content"]
    assert sum(r.body["messages"][:2] == again[:2] for r in server.requests) == 2, "the prefix is the same"


def test_an_invented_quote_is_no_fact_and_supports_nothing():
    fake = "Since Monday there are 999 solar panels on the roof of Älvmora Mejeri."
    view, _, _ = driven(
        Script(ASK, crawl(ROOF), quotes=[fake, "A sentence that stands nowhere at all on that page."])
    )
    state = view.state
    assert [fact.verified for fact in state.facts.values()] == [False, False]
    assert state.answer.verdict == "no_evidence" and state.answer.sources == []
    assert all(action.new_facts == 0 for action in state.actions)


def test_an_address_the_analyzer_invents_is_refused_and_counted():
    state = driven(Script(crawl(ROOF), urls=[INVENTED, "not an address"]))[0].state
    assert [refusal.what for refusal in state.refusals].count(INVENTED) == 1
    assert canonicalize(INVENTED) not in {canonicalize(lead.value) for lead in state.own.leads.values()}


def test_a_link_the_analyzer_picked_from_the_page_can_be_followed(tmp_path):
    names = [f"https://h.example/{n}" for n in range(25)]
    pages = [
        page(url, f"Brass heron {n}", f"Sheet {n} speaks of the brass heron of Port Ember at length.")
        for n, url in enumerate(names)
    ]
    hub = page("https://hub.example/", "Hub", "A hub.", links=names)
    picked = names[22]
    script = Script(crawl("https://hub.example/"), crawl(picked), quotes=[], urls=[picked])
    state = driven(
        script, "Who made it, see https://hub.example/ ?", world=write_world(tmp_path, [hub, *pages])
    )[0].state
    assert picked in [action.query_or_url for action in state.actions if action.by == "model"], state.refusals


def test_proposals_refused_twice_end_the_round_and_say_so():
    state = driven(Script(crawl(INVENTED), crawl(INVENTED)))[0].state
    assert [action.by for action in state.actions] == ["code"] and state.answer.verdict == "no_evidence"
    assert "Nothing that the model proposed was possible" in state.answer.why_stopped
    assert [refusal.what for refusal in state.refusals].count(INVENTED) == 1


@pytest.mark.parametrize("role", ["decision", "analyzer", "report"])
@pytest.mark.parametrize("reply", ["no JSON", "[]", says(""), html(), status(401, "no such key")])
def test_a_run_whose_decision_analyzer_or_writer_fails_for_good_rests_and_says_why(reply, role):
    with ModelServer(failing(role, Script(ASK, crawl(ROOF)), reply)) as server, workbench(server) as bench:
        view = run(bench, rests=Status.PAUSED)
    assert f"The model's call “{role}” failed" in view.state.halt.why and not view.state.answers


def test_a_plan_that_fails_is_skipped_and_told():
    state = driven(failing("plan", Script(ASK, crawl(ROOF))))[0].state
    assert [part.question for part in state.plan] == [SOLAR] and state.own.plan_trouble
    assert state.answer.by == "model"


def test_a_conflict_that_a_model_reports_has_its_sides_and_closes_with_one_of_them():
    other = "The sun pays for the cold"
    script = Script(
        ASK, crawl(ROOF), quotes=[QUOTE, other], inconsistencies="They differ.", sides=["n1", "n2"]
    )
    with ModelServer(script.served) as server, workbench(server) as bench:
        view = run(bench)
        [conflict] = view.state.conflicts.values()
        assert conflict.found_by == "model" and [v.text for v in conflict.values] == [QUOTE, other]
        facts = [i for value in conflict.values for i in value.fact_ids]
        bench.act(view.run.id, "mark", facts=facts[1:], decision="struck")
        assert not bench.snapshot(view.run.id).state.conflicts


def test_a_run_that_is_stuck_is_told_each_rung_and_hands_over_at_the_last(monkeypatch):
    monkeypatch.setattr("agent.flows.research.policy.STALL_ACTIONS", 1)
    monkeypatch.setattr("agent.flows.research.policy.STALL_ROUNDS", 1)
    words = ["glass", "boats", "snow", "bread", "looms", "ink", "cork"]
    searches = [{**ASK, "query_or_url": f"{word} zzz{n}"} for n, word in enumerate(words)]
    script = Script(*searches)
    state = driven(script)[0].state
    told = [prompt for role, prompt in script.prompts if role == "decision" and "Blockage: " in prompt]
    rungs = [re.search(r"Its level now: (\w+)", prompt)[1] for prompt in told]
    assert list(dict.fromkeys(rungs)) == ["reframe", "narrow", "lead"]
    assert state.stop_reason == "blocked" and state.answer.why_stopped == state.blockages[-1].reason
