"""Collecting without a model in the demo world: the three scenarios, the walk's limits, and what goes wrong
on the way."""

from __future__ import annotations

import logging

import pytest

from agent.flows.collect.state import CollectRun
from agent.types import Outcome, Status
from agent.workbench import Workbench
from tests.agent.flows.collect.conftest import BOARD, DOCS, QUOTE, branch
from tests.web.collecting_model import install_walker

pytestmark = pytest.mark.slow
NEWS = "https://granvattnet-courier.example/news/"
ARTICLE = "https://granvattnet-courier.example/2026/08/20/kallsteg-factory"
FORUM_PROMPT = "Go to the forum section and find out what people said about Kallsteg in the last month"


def titles(state: CollectRun) -> list[str]:
    return [item.title for item in state.own.kept_items]


# --- the seed's scenarios
# -------------------------------------------------------------------------------------------------


def test_a_board_is_listed_as_it_stands_and_a_digest_needs_a_model(collect) -> None:
    state = collect(FORUM_PROMPT, BOARD).state
    assert branch(state, BOARD).action == "EXTRACT_LINKS" and branch(state, BOARD).by == "code"
    assert titles(state)[:2] == ["Third quarter: good or bad?", "The factory and the debt"]
    assert [len(item.posts) for item in state.own.kept_items][:2] == [6, 4]
    assert state.answer.verdict == "passages_found" and not state.answer.sentences
    assert "needs a model" in state.answer.certainty and not state.facts


def test_dates_writers_and_exclusions_are_those_that_the_model_read(bench: Workbench, collect) -> None:
    install_walker(bench, topic="snow", since="2026-13-01", until="2099-01-01", author=" Malin  Qvist")
    own = collect("Collect the news", NEWS, model="auto").state.own
    assert (own.intent.since, own.intent.until, own.intent.author) == ("", "", "Malin Qvist")
    install_walker(bench, days=7, leave_out_sites=["https://granvattnet-courier.example/2026/11/19"])
    state = collect("Collect the news", NEWS, model="auto").state
    assert [item.author for item in state.own.kept_items] == ["Malin Qvist"]
    assert "excluded by your words" in state.why_stopped


# --- limits
# ---------------------------------------------------------------------------------------------------------------


def test_nothing_at_the_limit_of_depth_is_visited(collect) -> None:
    state = collect(FORUM_PROMPT, BOARD, max_depth=1).state
    assert {branch(state, page.url).depth for page in state.pages.values()} == {0}
    assert "nothing at 1 or deeper is read" in branch(state, BOARD).ended
    assert not state.own.kept_items and state.answer.verdict == "no_evidence"


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


def test_a_near_copy_is_dropped_and_told(collect) -> None:
    state = collect(
        "Collect news about the Kallsteg factory", ARTICLE, "https://northernbrief.example/business/"
    ).state
    copy = "https://northernbrief.example/2026/08/kallsteg-opens"
    assert state.own.kept_items[0].also_at == [copy]
    assert next(item for item in state.own.items.values() if item.url == copy).reason.startswith(
        "The same text as"
    )


def test_the_plain_way_takes_every_link_as_an_article(collect) -> None:
    plain, smart = (collect(FORUM_PROMPT, BOARD, use_smart_navigation=way).state for way in (False, True))
    assert {branch(plain, page.url).depth for page in plain.pages.values()} == {0, 1}
    assert all(item.kind == "article" and not item.posts for item in plain.own.items.values())
    assert sum(len(item.posts) for item in smart.own.kept_items) == 18


# --- the journey, a person's word
# ------------------------------------------------------------------------------------------


def test_decisions_are_logged_as_events(bench: Workbench, collect, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="agent.nav")
    install_walker(bench, topic="Kallsteg", section="forum", days=30)
    state = collect(FORUM_PROMPT, QUOTE, model="auto").state
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


def test_another_page_may_be_chosen_instead(bench: Workbench, collect) -> None:
    install_walker(bench, topic="Kallsteg", section="forum", days=30)
    view = collect(FORUM_PROMPT, QUOTE, mode="step", rests=Status.WAITING, model="auto")
    bench.act(view.run.id, "edit", view.head, next_action="crawl_url", query_or_url=f"{BOARD}/t/6120")
    assert bench.drive(view.run.id) is Status.REVIEW
    state = bench.snapshot(view.run.id).state
    assert branch(state, BOARD).ended == "You chose another page instead."
    assert [item.title for item in state.own.items.values()] == ["Why did R1 go?"]


def test_sent_back_with_a_note_it_goes_on_with_what_it_has(bench: Workbench, collect) -> None:
    install_walker(bench, topic="Kallsteg", section="forum", days=30)
    view = collect(FORUM_PROMPT, QUOTE, model="auto")
    assert len(view.state.own.kept_items) == 3
    install_walker(bench, topic="Kallsteg", section="forum", days=3650)
    bench.act(view.run.id, "send_back", view.head, note="Take everything from the last 10 years, please")
    assert bench.drive(view.run.id) is Status.REVIEW
    state = bench.snapshot(view.run.id).state
    assert len(state.answers) == 2 and len(state.own.kept_items) == 5, "what was too old is read now"
    asked = [action.query_or_url for action in state.actions]
    assert len(asked) == len(set(asked)), "what was read is not asked for again"
