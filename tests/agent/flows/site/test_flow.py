"""The site flow, keyless and with a scripted model: crawling in batches, limits, forced answers, follow-ups,
refusals, sitemaps, robots."""

from __future__ import annotations

import pytest

from agent.actions import budget
from agent.flows.site.flow import SITE
from agent.flows.site.links import shorten_url
from agent.flows.site.state import BY_PERSON
from agent.types import Settings, SiteLimits, Status
from tests.agent.flows.site.cases import QUESTION, RETURNS, SEED_WAVES, START, garden

pytestmark = pytest.mark.slow


def test_an_answer_in_two_batches_with_the_names_of_the_shared_store(ask):
    view = ask(site=SEED_WAVES)
    state, answer = view.state, view.state.answer
    assert [step.name for step in view.steps] == [
        "ask",
        "recall",
        "survey",
        "crawl",
        "decide",
        "crawl",
        "decide",
        "draft",
    ]
    assert (
        answer.verdict == "passages_found"
        and "within 30 days" in answer.text
        and answer.statements.unsupported == 0
    )
    shared = state.own.export_extra(state)["site"]
    assert (
        shared["user_question"] == QUESTION
        and shared["current_iteration"] == 1
        and "30 days" in shared["final_answer"]
    )
    assert [state.own.all_discovered_urls[i] for i in state.own.visited_urls] == [START, RETURNS]
    assert state.own.visited_urls[1] in state.own.useful_visited_indices and state.own.decision_reasoning
    assert state.own.url_graph[0] and set(state.own.url_content(state)) == {0, state.own.visited_urls[1]}
    for source in answer.sources:
        assert all(
            quote in ask.__closure__[0].cell_contents.page(source.page_id).text for quote in source.quotes
        )
    assert SITE.fold_steps(view.steps) == state, "the state is the fold of the steps"


def test_the_limits_have_the_defaults_of_the_seed():
    assert SiteLimits().model_dump() == {
        "max_iterations": 5,
        "max_pages": 100,
        "content_max_chars": 10_000,
        "links_max_chars": 500,
        "url_truncation_buffer": 10,
        "max_links_per_page": 300,
        "max_urls_per_iteration": 5,
        "crawl_ahead": 20,
        "fresh_days": 1,
    }


def test_long_addresses_are_shortened_for_a_prompt_only():
    limits = SiteLimits(links_max_chars=40, url_truncation_buffer=10)
    url = "https://a.example/" + "x" * 60
    assert (
        shorten_url(url, limits) == url[:30] + "..."
        and shorten_url("https://a.example/", limits) == "https://a.example/"
    )


def test_at_the_limit_of_explorations_the_answer_is_forced_and_says_so(ask, tmp_path):
    view = ask(
        "When does the gate open?",
        "https://garden.example/",
        world=garden(tmp_path),
        site=SiteLimits(max_iterations=2, max_urls_per_iteration=3, crawl_ahead=0),
    )
    choices, answer = view.state.own.choices, view.state.answer
    assert [choice.decision for choice in choices] == ["explore", "explore", "answer"] and [
        len(c.selected) for c in choices
    ] == [3, 3, 0]
    assert choices[-1].by == "code" and "All 2 explorations" in choices[-1].forced
    assert (
        answer.verdict == "no_evidence"
        and "All 2 explorations" in answer.certainty
        and "All 2 explorations" in answer.why_stopped
    )


def test_no_more_pages_are_asked_for_than_allowed(ask, tmp_path):
    view = ask(
        "When does the gate open?",
        "https://garden.example/",
        world=garden(tmp_path),
        site=SiteLimits(max_pages=4, max_urls_per_iteration=5),
    )
    assert len(view.state.own.fetched) == 4 == view.state.pages_read_count
    assert "All 4 pages" in view.state.answer.why_stopped


def test_several_start_pages_are_read_in_the_first_batch(ask):
    view = ask("How many people work at the dairy?", START, "https://www.alvmora-mejeri.example/")
    first = [
        action.query_or_url for action in view.state.actions if action.step == view.state.actions[0].step
    ]
    assert first == [START, "https://www.alvmora-mejeri.example/"]
    assert {view.state.own.url_found_on[0], view.state.own.url_found_on[1]} == {BY_PERSON}


def test_a_site_that_cannot_be_read_is_blocked_not_uncovered(ask):
    answer = ask("What is there?", "https://nowhere.example/").state.answer
    assert (answer.verdict, answer.reason) == ("no_evidence", "blocked")
    assert (
        "https://nowhere.example/: There is no such page (404)." in answer.certainty and answer.missing == ""
    ), "which page, and why"


def test_an_answer_sent_back_is_weighed_with_the_note(ask, bench):
    view = ask()
    bench.act(view.run.id, "send_back", view.head, note="How long is the warranty?")
    assert bench.drive(view.run.id) is Status.REVIEW
    again = bench.snapshot(view.run.id).state
    assert len(again.answers) == 2 and "24 months" in again.answers[-1].text
    assert [choice.iteration for choice in again.own.choices][len(view.state.own.choices)] == 0


def test_finish_writes_from_what_was_read(ask, bench):
    run_id = bench.start(QUESTION, Settings(flow="site", world="demo", model="keyless", start_urls=[START]))
    bench.act(run_id, "finish")
    assert (
        bench.drive(run_id) is Status.REVIEW and bench.snapshot(run_id).state.answer.verdict == "no_evidence"
    )


# --- a real server
# ------------------------------------------------------------------------------------------------------


def test_a_send_back_and_a_fork_begin_with_fresh_pages(ask, bench, tmp_path):
    settings = {
        "world": garden(tmp_path),
        "site": SiteLimits(max_pages=3, max_urls_per_iteration=1, max_iterations=3),
        "at_cap": "ask",
        "threshold": 0.99,
    }
    run_id = bench.start(
        "When does the gate open?",
        Settings(flow="site", model="keyless", start_urls=["https://garden.example/"], **settings),
    )
    assert bench.drive(run_id) is Status.PAUSED and len(bench.snapshot(run_id).state.own.fetched) == 3
    forked = bench.act(run_id, "fork", step=bench.snapshot(run_id).head - 1)
    assert bench.drive(forked) is Status.PAUSED and len(bench.snapshot(forked).state.own.fetched) == 6, (
        "explorations count anew, too"
    )
    bench.act(run_id, "finish")
    assert bench.drive(run_id) is Status.REVIEW
    bench.act(
        run_id, "send_back", bench.snapshot(run_id).head, note="When does the gate beside the beds open?"
    )
    bench.drive(run_id)
    assert len(bench.snapshot(run_id).state.own.fetched) == 6
    pages = next(
        meter for meter in budget.read_meters(bench, bench.snapshot(run_id)) if meter.name == "pages"
    )
    assert (pages.used, pages.cap) == (3, 3)
