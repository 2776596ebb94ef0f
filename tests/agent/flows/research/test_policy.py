"""What a decision may be: repeats and invented addresses refused, being stuck noticed, the ladder climbed
rung by rung."""

from __future__ import annotations

from itertools import pairwise

import pytest

from agent.answering import fact_view
from agent.engine.run_state import RunState
from agent.flows.research import policy
from agent.flows.research.state import ResearchState
from agent.retrieval.link_scoring import lead_id
from agent.types import Action, Answer, Lead, Note, PageRef, Proposal, Refusal, Settings, Stall
from tests.records import fill
from tests.tables import by_table

ALL = ["search_duckduckgo", "search_google", "crawl_url", "send_to_hitl"]


def searched(step: int, query: str = "cheese", **more) -> Action:
    return fill(
        Action, **{"step": step, "action": "search_duckduckgo", "query_or_url": query, "hits": 3, **more}
    )


def crawled(step: int, *, new_facts: int = 0, page_id: str = "p") -> Action:
    return fill(
        Action,
        step=step,
        action="crawl_url",
        query_or_url=f"http://a.example/{step}",
        new_facts=new_facts,
        page_id=page_id,
    )


def link(url: str, **more) -> Lead:
    known = {"id": lead_id("url", url), "kind": "url", "value": url, "text": "", "why": ""}
    return fill(Lead, **known | more)


def known(*urls: str, **more) -> RunState:
    return RunState(own=ResearchState(leads={lead_id("url", url): link(url) for url in urls}), **more)


def why(state: RunState, action: str, what: str, actions: list[str] = ALL) -> str:
    refusal = policy.check_proposal(state, Proposal(next_action=action, query_or_url=what), actions)
    return refusal.why if refusal else ""


@pytest.mark.parametrize("again", ["solar roof dairy", "Solar  ROOF, dairy?", "dairy solar roof"])
def test_a_query_of_the_same_words_is_refused(again):
    state = RunState(actions=[searched(2, "solar roof dairy")])
    assert "same words" in why(state, "search_duckduckgo", again)
    assert why(state, "search_google", again) == "", "another engine may know more"
    assert why(state, "search_duckduckgo", "solar roof school") == ""


@by_table
def test_a_visited_address_is_refused_in_any_spelling(again):
    state = known(
        "http://a.example/x",
        pages={"http://a.example/x": fill(PageRef, url="http://a.example/x", final_url="http://b.example/y")},
    )
    assert "visited" in why(state, "crawl_url", again)
    assert "visited" in why(state, "crawl_url", "http://b.example/y"), "where a redirect led counts, too"


def test_only_addresses_that_were_found_or_given_are_read():
    given = Settings(start_urls=["http://start.example/"])
    state = known(
        "http://a.example/x",
        question="See https://q.example/page.",
        settings=given,
        notes=[fill(Note, step=1, text="try http://n.example/1")],
    )
    for url in (
        "http://a.example/x",
        "https://q.example/page",
        "http://start.example/",
        "http://n.example/1",
    ):
        assert why(state, "crawl_url", url) == "", url
    for url in (
        "http://a.example/y",
        "http://a.example/x?q=1",
        "https://a.example/x",
        "http://evil.example/",
    ):
        assert "does not occur on any page" in why(state, "crawl_url", url), url
    assert "not a web address" in why(state, "crawl_url", "javascript:alert(1)")


@by_table
def test_the_allowed_domains_hold(allowed, open_):
    state = known("http://a.example/x", settings=Settings(allowed_domains=allowed))
    assert (why(state, "crawl_url", "http://a.example/x") == "") is open_


def test_what_a_person_skipped_is_not_proposed_again():
    state = known(
        "http://a.example/x", refusals=[Refusal(what="http://a.example/x", why="skipped by a person")]
    )
    assert "skipped" in why(state, "crawl_url", "http://a.example/x")
    assert policy.open_leads(state) == []


def test_an_engine_is_left_out_while_it_cools_down():
    state = RunState(cooling={"duckduckgo": "2026-11-21T10:00:00.000Z"})
    engines = {"duckduckgo": "DuckDuckGo", "google": "Google"}
    assert policy.available_actions(state, engines, "2026-11-21T09:59:59.999Z") == [
        "search_google",
        "crawl_url",
        "send_to_hitl",
    ]
    assert policy.available_actions(state, engines, "2026-11-21T10:00:00.000Z") == ALL
    assert policy.available_actions(RunState(), {}, "") == ["crawl_url", "send_to_hitl"]


def test_the_caps_count_anew_after_a_send_back():
    state = RunState(settings=Settings(max_steps=2, max_pages=2), actions=[searched(2), crawled(5)])
    assert "limit of 2 steps" in str(policy.find_reached_budget(state))
    state.answers.append(Answer(n=1, verdict="partial", step=7))
    assert policy.find_reached_budget(state) is None
    state.actions += [crawled(10), crawled(12, page_id="")]
    assert "limit of 2 steps" in str(policy.find_reached_budget(state))
    state = RunState(settings=Settings(max_pages=1), actions=[crawled(2, page_id=""), crawled(5)])
    assert "limit of 1 page" in str(policy.find_reached_budget(state)), (
        "a page that could not be read is no page"
    )


def stale(**more) -> RunState:
    return RunState(actions=[searched(2), *(crawled(step, page_id="") for step in (5, 8, 11, 14))], **more)


def test_actions_without_a_new_fact_are_being_stuck():
    assert policy.find_stall(stale()) == Stall(
        rung="reframe", reason="5 actions in a row brought no new fact"
    )
    state = stale()
    state.actions[-2] = crawled(11, new_facts=1)
    assert policy.find_stall(state) is None


def test_the_ladder_is_climbed_rung_by_rung_with_time_between():
    state, rungs = stale(), []
    for step in range(15, 60, 3):
        stuck = policy.find_stall(state)
        if stuck:
            rungs.append(stuck.rung)
            state.blockages.append(stuck.model_copy(update={"step": step}))
        state.actions.append(crawled(step + 1, page_id=""))
    assert rungs[:4] == ["reframe", "narrow", "lead", "hand_over"]
    steps = [block.step for block in state.blockages]
    assert all(later - earlier >= 3 * policy.STALL_ROUNDS for earlier, later in pairwise(steps))


def test_a_new_answer_and_a_persons_note_make_a_fresh_start():
    climbed = [
        Stall(step=step, rung=rung, reason="r")
        for step, rung in ((15, "reframe"), (21, "narrow"), (27, "lead"))
    ]
    state = stale(blockages=climbed)
    state.actions += [crawled(30), crawled(33)]
    assert policy.find_stall(state).rung == "hand_over"
    assert (
        policy.find_stall(state.model_copy(update={"answers": [Answer(n=1, verdict="partial", step=35)]}))
        is None
    )
    assert (
        policy.find_stall(state.model_copy(update={"notes": [fill(Note, step=35, text="try the registry")]}))
        is None
    )


def test_until_the_budget_is_used_no_confidence_is_enough_and_handing_over_is_refused():
    state = RunState(settings=Settings(until="budget"))
    assert (
        fact_view.confidence_goal(state) > 1 and fact_view.confidence_goal(RunState()) == Settings().threshold
    )
    stop = fill(Proposal, next_action="send_to_hitl")
    assert "until its budget" in policy.check_proposal(state, stop, []).why
    assert policy.check_proposal(RunState(), stop, []) is None
