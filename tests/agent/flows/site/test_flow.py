"""The site flow, keyless and with a scripted model: crawling in batches, limits, forced answers, follow-ups,
refusals, sitemaps, robots."""

from __future__ import annotations

import pytest

from agent.actions import budget
from agent.types import Settings, SiteLimits, Status
from tests.agent.flows.site.cases import garden

pytestmark = pytest.mark.slow


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
    assert answer.verdict == "no_evidence" and "All 2 explorations" in answer.certainty
    assert "All 2 explorations" in answer.why_stopped


def test_no_more_pages_are_asked_for_than_allowed(ask, tmp_path):
    view = ask(
        "When does the gate open?",
        "https://garden.example/",
        world=garden(tmp_path),
        site=SiteLimits(max_pages=4, max_urls_per_iteration=5),
    )
    assert len(view.state.own.fetched) == 4 == view.state.pages_read_count
    assert "All 4 pages" in view.state.answer.why_stopped


def test_a_site_that_cannot_be_read_is_blocked_not_uncovered(ask):
    answer = ask("What is there?", "https://nowhere.example/").state.answer
    assert (answer.verdict, answer.reason) == ("no_evidence", "blocked")
    assert (
        "https://nowhere.example/: There is no such page (404)." in answer.certainty and answer.missing == ""
    ), "which page, and why"


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
