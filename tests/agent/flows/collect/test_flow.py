"""Collecting without a model in the demo world: the three scenarios, the walk's limits, and what goes wrong
on the way."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from agent.engine.context import RunContext
from agent.flows.collect.state import CollectRun
from agent.text.urls import canonicalize
from agent.types import CollectLimits, Outcome, Settings, Status
from agent.workbench import Workbench
from tests.agent.flows.collect.conftest import BOARD, DOCS, QUOTE, branch
from tests.web.scripted import ScriptedModel

pytestmark = pytest.mark.slow
NEWS = "https://granvattnet-courier.example/news/"
ARTICLE = "https://granvattnet-courier.example/2026/08/20/kallsteg-factory"
FORUM_PROMPT = "Go to the forum section and find out what people are saying about Kallsteg in the last month"


def titles(state: CollectRun) -> list[str]:
    return [item.title for item in state.own.kept_items]


# --- the seed's scenarios
# -------------------------------------------------------------------------------------------------


def test_a_forum_behind_a_stock_page(collect) -> None:
    state = collect(FORUM_PROMPT, QUOTE).state
    assert (state.own.intent.topic, state.own.intent.target_section, state.own.intent.time_range_days) == (
        "Kallsteg",
        "forum",
        30,
    )
    assert (
        branch(state, QUOTE).action == "NAVIGATE_TO" and branch(state, QUOTE).page_type == "company_profile"
    )
    assert (
        branch(state, BOARD).action == "EXTRACT_LINKS" and branch(state, BOARD).page_type == "forum_listing"
    )
    assert titles(state) == [
        "Third quarter: good or bad?",
        "The factory and the debt",
        "Dividend next spring",
    ]
    assert [len(item.posts) for item in state.own.kept_items] == [6, 4, 3]
    assert ": before 2026-10-22" in branch(state, f"{BOARD}/t/6120").ended
    assert (
        state.answer.verdict == "passages_found"
        and state.answer.statements.backed >= 3
        and not state.answer.statements.unsupported
    )
    assert {source.url for source in state.answer.sources} == {item.url for item in state.own.kept_items}


def test_news_of_last_week(collect) -> None:
    state = collect("Summarize Granvattnet news from last week", NEWS).state
    assert state.own.intent.since == "2026-11-14"
    assert titles(state) == [
        "Snow closes the roof of Lövnäs school",
        "Bear seen three times behind the school",
    ]
    assert [item.author for item in state.own.kept_items] == ["Petter Lindhage", "Malin Qvist"]
    assert [item.publish_date for item in state.own.kept_items] == ["2026-11-19", "2026-11-17"]
    assert branch(state, NEWS + "page/2/").status == "dropped", (
        "newest first and the last entry too old: no need to turn the page"
    )


def test_a_direct_article_is_content_at_once(collect) -> None:
    state = collect("Summarize this article", ARTICLE).state
    assert [action.query_or_url for action in state.actions] == [ARTICLE]
    assert branch(state, ARTICLE).action == "EXTRACT_CONTENT"
    assert titles(state) == ["Kallsteg opens its factory in Stenfors"]
    assert state.own.kept_items[0].reason == "You named this page."
    assert state.answer.verdict == "passages_found"


# --- limits
# ---------------------------------------------------------------------------------------------------------------


def test_nothing_at_the_limit_of_depth_is_visited(collect) -> None:
    state = collect(FORUM_PROMPT, QUOTE, max_depth=2).state
    assert {branch(state, page.url).depth for page in state.pages.values()} == {0, 1}
    assert "nothing at 2 or deeper is read" in branch(state, BOARD).ended
    assert not state.own.kept_items and state.answer.verdict == "no_evidence"


def test_depth_is_three_unless_told(collect) -> None:
    deepest = collect(FORUM_PROMPT, QUOTE).state
    assert max(branch(deepest, page.url).depth for page in deepest.pages.values()) == 2
    assert (
        CollectLimits().max_depth == 3
        and CollectLimits().max_links == 20
        and CollectLimits().max_articles == 10
    )


def test_it_stops_when_enough_is_gathered(collect) -> None:
    state = collect("Collect the news", NEWS, max_articles=2).state
    assert len(state.own.kept_items) == 2 and len(state.pages) == 3
    assert "2 were asked for" in state.why_stopped


def test_the_prompt_may_ask_for_fewer_never_for_more(collect) -> None:
    assert len(collect("Collect the top 1 news", NEWS).state.own.kept_items) == 1
    assert collect("Collect the top 9 news", NEWS, max_articles=2).state.own.intent.max_articles == 2


def test_what_is_not_relevant_makes_room_for_more(collect) -> None:
    state = collect("Collect news about the Stenfors bridge", NEWS, max_articles=2).state
    assert titles(state) == ["Stenfors bridge is open again", "Cracks close the Stenfors bridge"]
    assert any(
        "does not contain" in item.reason for item in state.own.items.values() if item.status == "dropped"
    )


def test_the_budget_of_pages_ends_in_a_digest_that_says_so(collect) -> None:
    state = collect("Collect the news", NEWS, max_pages=3).state
    assert len(state.actions) == 3 and len(state.own.kept_items) == 2
    assert state.stop_reason == "budget" and state.answer.verdict == "passages_found"
    assert "all 3 pages" in state.answer.why_stopped


# --- what goes wrong
# ------------------------------------------------------------------------------------------------------


def test_a_paywall_a_dead_link_and_a_circle_are_told_and_end_nothing(collect) -> None:
    loop = "https://northernbrief.example/latest"
    state = collect("Collect all news", loop, NEWS, max_articles=20).state
    told = {
        url: (branch(state, url).outcome, branch(state, url).ended)
        for url in (loop, next(u for u in DOCS if "/premium/" in u), next(u for u in DOCS if "/ferry" in u))
    }
    assert [outcome for outcome, _ in told.values()] == [Outcome.REFUSED, Outcome.BLOCKED, Outcome.NOT_FOUND]
    assert all(ended for _, ended in told.values()) and "paywall" in list(told.values())[1][1]
    assert len(state.own.kept_items) == 8


def test_only_failures_give_an_honest_nothing(collect) -> None:
    state = collect("Collect all", *(url for url in DOCS if "/premium/" in url)).state
    assert (state.answer.verdict, state.answer.reason) == ("no_evidence", "blocked")


def test_pages_that_point_at_each_other_are_visited_once(collect) -> None:
    state = collect(
        "Collect articles about mountains", "https://norrviddawiki.example/wiki/Main_Page", max_articles=20
    ).state
    asked = [canonicalize(action.query_or_url) for action in state.actions]
    assert len(asked) == len(set(asked)) > 3


def test_a_near_copy_is_dropped_and_told(collect) -> None:
    state = collect(
        "Collect news about the Kallsteg factory", ARTICLE, "https://northernbrief.example/business/"
    ).state
    copy = "https://northernbrief.example/2026/08/kallsteg-opens"
    assert state.own.kept_items[0].also_at == [copy]
    assert next(item for item in state.own.items.values() if item.url == copy).reason.startswith(
        "The same text as"
    )


def test_a_page_that_gives_orders_is_not_obeyed(collect) -> None:
    state = collect("Collect the blog", "https://ostvandring.example/2026/07/cellar-tour").state
    assert not any("collector.example" in url for url in [*state.own.tree, *state.pages])


def test_the_plain_way_takes_every_link_as_an_article(collect) -> None:
    plain, smart = (collect(FORUM_PROMPT, BOARD, use_smart_navigation=way).state for way in (False, True))
    assert {branch(plain, page.url).depth for page in plain.pages.values()} == {0, 1}
    assert all(item.kind == "article" and not item.posts for item in plain.own.items.values())
    assert sum(len(item.posts) for item in smart.own.kept_items) == 13


# --- the journey, a person's word
# ------------------------------------------------------------------------------------------


def test_decisions_are_logged_as_events(collect, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="agent.nav")
    state = collect(FORUM_PROMPT, QUOTE).state
    records = [record for record in caplog.records if record.name == "agent.nav"]
    assert [(record.event, record.url) for record in records] == [
        (event.name, event.url) for event in state.own.events
    ]
    assert {record.event for record in records} == {
        "nav:decision",
        "nav:extracting_content",
        "nav:content_added",
        "nav:stopped",
    }
    first = records[0]
    assert (first.event, first.action, first.page_type, first.depth) == (
        "nav:decision",
        "NAVIGATE_TO",
        "company_profile",
        0,
    ) and not hasattr(first, "reason")


def test_step_by_step_shows_the_path_and_waits(bench: Workbench, collect) -> None:
    view = collect(FORUM_PROMPT, QUOTE, mode="step", rests=Status.WAITING)
    assert list(view.state.pages) == [QUOTE] and [
        ahead.url for ahead in view.state.own.frontier(view.state)
    ] == [BOARD]
    bench.act(view.run.id, "approve", view.head)
    assert bench.drive(view.run.id) is Status.WAITING
    view = bench.snapshot(view.run.id)
    ahead = view.state.own.frontier(view.state)
    assert [path.anchor for path in ahead] == [
        "Third quarter: good or bad?",
        "The factory and the debt",
        "Dividend next spring",
        "next page",
    ]
    assert all(path.relevance_score for path in ahead[:3]) and not view.state.own.items
    bench.act(view.run.id, "skip", view.head)
    assert bench.drive(view.run.id) is Status.REVIEW
    assert titles(bench.snapshot(view.run.id).state) == ["The factory and the debt", "Dividend next spring"]


def test_another_page_may_be_chosen_instead(bench: Workbench, collect) -> None:
    view = collect(FORUM_PROMPT, QUOTE, mode="step", rests=Status.WAITING)
    bench.act(view.run.id, "edit", view.head, next_action="crawl_url", query_or_url=f"{BOARD}/t/6120")
    assert bench.drive(view.run.id) is Status.REVIEW
    state = bench.snapshot(view.run.id).state
    assert branch(state, BOARD).ended == "You chose another page instead."
    assert [item.title for item in state.own.items.values()] == ["Why did R1 go?"]


def test_sent_back_with_a_note_it_goes_on_with_what_it_has(bench: Workbench, collect) -> None:
    view = collect(FORUM_PROMPT, QUOTE)
    bench.act(view.run.id, "send_back", view.head, note="Take everything from the last 10 years, please")
    assert bench.drive(view.run.id) is Status.REVIEW
    state = bench.snapshot(view.run.id).state
    assert len(state.answers) == 2 and state.own.intent.time_range_days >= 3650
    assert len(state.own.kept_items) == 5, (
        "what was too old is read now; what was read is not asked for again"
    )
    asked = [action.query_or_url for action in state.actions]
    assert len(asked) == len(set(asked))


def test_today_is_the_worlds_own_day_in_the_demo(collect) -> None:
    assert collect("Summarize this article", ARTICLE).state.own.intent.today == "2026-11-21"


def test_elsewhere_today_is_the_clocks(
    bench: Workbench, collect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    doc = {
        "id": "a",
        "url": "https://a.example/",
        "title": "A",
        "text": "One page of plain words, enough of them to be read as text. " * 8,
    }
    (tmp_path / "docs.jsonl").write_text(json.dumps(doc), encoding="utf-8")
    monkeypatch.setattr(RunContext, "now", lambda _tools: "2031-02-03T04:05:06Z")
    state = collect("Collect news from last week", "https://a.example/", world=str(tmp_path)).state
    assert state.own.intent.since == "2031-01-27"


def test_a_note_given_on_the_way_is_heard_at_the_next_decision(bench: Workbench, collect) -> None:
    view = collect(FORUM_PROMPT, QUOTE, mode="step", rests=Status.WAITING)
    bench.act(view.run.id, "steer", note="only one thread, please")
    assert bench.drive(view.run.id) is Status.WAITING
    state = bench.snapshot(view.run.id).state
    assert (state.own.heard, state.own.intent.max_articles) == (1, 1) and len(state.pages) == 2


@pytest.mark.parametrize("days", [10**9, 36_525, -5, 0])
def test_a_time_range_that_no_calendar_has_is_none(bench: Workbench, days: int) -> None:
    def obey(_messages: list[dict[str, str]], shape: Any) -> Any:
        return {"topic": "Kallsteg", "time_range_days": days} if shape.__name__ == "IntentReply" else "No."

    bench.worker.model_client = lambda name, fast="": (ScriptedModel(obey), "")  # type: ignore[method-assign]
    settings = Settings(flow="collect", world="demo", start_urls=[BOARD], collect=CollectLimits(max_pages=2))
    run_id = bench.start("Collect what is said about Kallsteg", settings)
    assert bench.drive(run_id) is Status.REVIEW, bench.snapshot(run_id).run.error
    assert bench.snapshot(run_id).state.own.intent.time_range_days is None
