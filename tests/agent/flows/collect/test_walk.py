"""Which pages a crawl visits, and how it ends: the true reason, with the limit and the way to raise it; wrong
decisions, invented addresses, a person's words, failures, other hosts, and pages that turn for ever."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from agent.settings import config
from agent.types import Outcome, Settings
from agent.workbench import Workbench
from tests.agent.flows.collect.conftest import (
    BOARD,
    DOCS,
    FORUM,
    FORUM_PROMPT,
    NEWS,
    QUOTE,
    A,
    B,
    Collect,
    article,
    branch,
    doc,
    listing,
    visited,
)
from tests.web.collecting_model import Walker
from tests.web.folders import page
from tests.web.model_server import ModelServer, Request

pytestmark = pytest.mark.slow
INVENTED = [f"{QUOTE}/secret-{n}" for n in (1, 2)]
ALL = "Collect all news"


# --- what is decided
# -------------------------------------------------------------------------------------------------


def test_a_board_is_listed_as_it_stands_and_a_digest_needs_a_model(collect: Collect) -> None:
    state = collect(FORUM_PROMPT, BOARD)
    assert branch(state, BOARD).action == "EXTRACT_LINKS" and branch(state, BOARD).by == "code"
    assert [len(item.posts) for item in state.own.kept_items][:2] == [6, 4]
    assert state.answer.verdict == "passages_found" and not state.answer.sentences
    assert "needs a model" in state.answer.certainty and not state.facts


def test_the_tiers_are_as_the_seed_allots_them() -> None:
    class Served(Walker):
        def __call__(self, request: Request) -> Any:
            tiers[request.body["response_format"]["json_schema"]["name"]] = request.body["model"]
            return super().__call__(request)

    tiers = dict[str, str]()
    with ModelServer(Served(**FORUM), models=["big", "small"]) as server:
        named = {"OPENAI_BASE_URL": server.url, "MODEL": "big", "FAST_MODEL": "small"}
        bench = Workbench(config.read_config(named))
        bench.drive(bench.start(FORUM_PROMPT, Settings(flow="collect", world="demo", start_urls=[QUOTE])))
        bench.shutdown()
    assert tiers == {
        "IntentReply": "small",
        "PageDecision": "big",
        "LinkRanking": "big",
        "RelevanceReply": "small",
        "DigestReply": "big",
    }


def test_dates_writers_and_exclusions_are_those_that_the_model_read(collect: Collect) -> None:
    wrong = {"topic": "snow", "since": "2026-13-01", "until": "2099-01-01", "author": " Malin  Qvist"}
    intent = collect(ALL, NEWS, wants=wrong).own.intent
    assert (intent.since, intent.until, intent.author) == ("", "", "Malin Qvist")
    sites = ["https://granvattnet-courier.example/2026/11/19"]
    state = collect(ALL, NEWS, wants={"days": 7, "leave_out_sites": sites})
    assert [item.author for item in state.own.kept_items] == ["Malin Qvist"]
    assert "excluded by your words" in state.why_stopped


def test_an_invented_target_is_corrected_when_the_model_hears_why(collect: Collect) -> None:
    class Hearing(Walker):
        def _PageDecision(self, prompt: str) -> Any:
            self.decisions = {} if "Code refused this reply" in prompt else self.decisions
            return super()._PageDecision(prompt)

    wrong = {QUOTE: {"action": "NAVIGATE_TO", "target_url": INVENTED[0]}}
    state = collect(FORUM_PROMPT, QUOTE, wants=Hearing(**FORUM, decisions=wrong))
    assert [refusal.what for refusal in state.refusals] == INVENTED[:1]
    node = branch(state, QUOTE)
    assert (node.by, node.action) == ("model", "NAVIGATE_TO")
    assert node.target_url != INVENTED[0] and state.own.kept_items


def test_a_ranking_of_invented_links_alone_is_told_back_once_and_then_skipped(collect: Collect) -> None:
    class Inventor(Walker):
        def _LinkRanking(self, prompt: str) -> dict[str, Any]:
            return {"links": [{"url": url, "relevance_score": 1.0} for url in INVENTED]}

    state = collect(FORUM_PROMPT, BOARD, wants=(model := Inventor(**FORUM)))
    assert len(model.prompts["LinkRanking"]) == 2, "asked once more, with the reasons"
    assert [refusal.what for refusal in state.refusals] == INVENTED
    assert len(state.own.kept_items) == 3, "an invented address ends nothing"
    assert "not on this page" in branch(state, BOARD).trouble


def test_a_doubtful_decision_ends_its_branch(collect: Collect) -> None:
    doubtful = {BOARD: {"action": "EXTRACT_LINKS", "confidence": 0.2}}
    state = collect(FORUM_PROMPT, BOARD, wants={"section": "forum", "decisions": doubtful})
    assert "not sure enough" in branch(state, BOARD).ended and len(state.pages) == 1


def test_a_circle_is_not_walked(collect: Collect) -> None:
    circle = {
        QUOTE: {"action": "NAVIGATE_TO", "target_url": BOARD},
        BOARD: {"action": "NAVIGATE_TO", "target_url": QUOTE},
    }
    state = collect(ALL, QUOTE, wants={"decisions": circle})
    assert visited(state) == [QUOTE, BOARD]
    assert {(refusal.what, refusal.why) for refusal in state.refusals} == {
        (QUOTE, "this page was visited or planned before")
    }
    assert "visited or planned before" in branch(state, BOARD).ended


def test_the_plain_way_takes_every_link_as_an_article(collect: Collect) -> None:
    plain = collect(FORUM_PROMPT, BOARD, use_smart_navigation=False)
    assert {branch(plain, page.url).depth for page in plain.pages.values()} == {0, 1}
    assert all(item.kind == "article" and not item.posts for item in plain.own.items.values())


# --- how it ends
# -----------------------------------------------------------------------------------------------------


def test_the_depth_is_named_and_how_to_raise_it(collect: Collect) -> None:
    docs = [listing(f"{A}/", ["/b", "/s/1"]), listing(f"{A}/b", ["/s/2", "/s/3"]), *map(article, (1, 2, 3))]
    state = collect(ALL, f"{A}/", docs=docs, max_depth=2)
    assert "1 page leads deeper than the depth of 2 allows" in state.why_stopped
    assert "--depth" in state.why_stopped and "1 page leads deeper" in state.answer.journey
    assert state.stop_reason == "limit" and len(state.own.kept_items) == 1
    flat = collect(ALL, f"{A}/", docs=docs, max_depth=1)
    assert visited(flat) == [f"{A}/"] and flat.answer.verdict == "no_evidence"
    assert collect(ALL, f"{A}/", docs=docs).why_stopped == "every page that could be reached is read"


def test_the_cap_on_pages_names_itself_and_what_waited(collect: Collect) -> None:
    docs = [listing(f"{A}/", [f"/s/{n}" for n in range(6)]), *map(article, range(6))]
    told = collect(ALL, f"{A}/", docs=docs, max_pages=3).why_stopped
    assert "all 3 pages of this run are used, and 4 pages still waited" in told and "--max-pages" in told


def test_pages_that_turn_for_ever_end_at_the_limit_of_pages(collect: Collect) -> None:
    docs = [
        listing(
            f"{A}/?p={n}" if n else f"{A}/",
            [f"/s/{n}-{i}" for i in range(3)],
            f'<a rel="next" href="/?p={n + 1}">next</a>',
        )
        for n in range(40)
    ]
    state = collect(ALL, f"{A}/", docs=docs, max_pages=12)
    assert len(state.actions) == 12 and state.stop_reason == "budget"


FAILURES: dict[str, tuple[list[dict[str, Any]], Outcome, str]] = {
    "not found": ([article(1)], Outcome.NOT_FOUND, "404"),
    "a circle of redirects": (
        [
            page(f"{A}/x", "", "", status=302, location=f"{A}/y"),
            page(f"{A}/y", "", "", status=302, location=f"{A}/x"),
        ],
        Outcome.REFUSED,
        "more than ten",
    ),
    "robots": (
        [
            article(1, f"{A}/x"),
            page(f"{A}/robots.txt", "", "User-agent: *\nDisallow: /x\n", content_type="text/plain"),
        ],
        Outcome.REFUSED,
        "robots",
    ),
    "a paywall": (
        [
            doc(
                f"{A}/x",
                "Closed",
                "<h1>A</h1><p>It met.</p><p>Subscribe to continue reading this article.</p>",
            )
        ],
        Outcome.BLOCKED,
        "paywall",
    ),
    "a server in trouble": ([page(f"{A}/x", "", "", status=500)], Outcome.ERROR, "500"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_walk_on_which_every_page_failed_is_blocked_and_says_what_failed(
    collect: Collect, name: str
) -> None:
    docs, outcome, told = FAILURES[name]
    state = collect(ALL, f"{A}/x", docs=docs)
    assert [ref.outcome for ref in state.pages.values()] == [outcome]
    assert (state.answer.verdict, state.answer.reason) == ("no_evidence", "blocked")
    assert f"No page could be read: {A}/x: " in state.answer.certainty and told in state.answer.certainty
    assert state.why_stopped == "no page could be read"


def test_an_empty_page_answered_and_had_nothing(collect: Collect) -> None:
    state = collect(ALL, f"{A}/", docs=[page(f"{A}/", "", "", html="<html><body></body></html>")])
    assert (state.answer.verdict, state.answer.reason) == ("no_evidence", "not_covered")


def test_a_paywall_a_dead_link_and_a_circle_are_told_and_end_nothing(collect: Collect) -> None:
    loop = "https://northernbrief.example/latest"
    state = collect("Collect all news", loop, NEWS, max_articles=20)
    failed = [loop, *(next(url for url in DOCS if part in url) for part in ("/premium/", "/ferry"))]
    outcomes = [branch(state, url).outcome for url in failed]
    assert outcomes == [Outcome.REFUSED, Outcome.BLOCKED, Outcome.NOT_FOUND]
    assert all(branch(state, url).ended for url in failed) and len(state.own.kept_items) == 8


# --- a person's word, the log
# ---------------------------------------------------------------------------------------------


def test_an_address_the_prompt_rules_out_is_no_start_and_is_not_followed(collect: Collect) -> None:
    docs = [
        listing(f"{A}/", ["/s/1", f"{B}/s/2"]),
        article(1),
        article(2, f"{B}/s/2"),
        listing(f"{B}/", ["/s/2"]),
    ]
    prompt = f"Collect all news, not from {B}/"
    state = collect(prompt, f"{A}/", docs=docs, wants={"leave_out_sites": ["b.example"]})
    assert visited(state) == [f"{A}/", f"{A}/s/1"]
    left = branch(state, f"{B}/s/2")
    assert (left.status, left.ended) == ("dropped", "Your words exclude this address.")
    assert "1 page was excluded by your words" in state.why_stopped


def test_a_later_note_drops_what_was_gathered_there(collect: Collect) -> None:
    docs = [listing(f"{A}/", ["/s/1", f"{B}/s/2"]), article(1), article(2, f"{B}/s/2")]
    later = {"leave_out_sites": ["b.example"]}
    state = collect(ALL, f"{A}/", docs=docs, wants={}, note="Leave out b.example", later=later)
    assert {item.url: item.reason for item in state.own.items.values() if item.status == "dropped"} == {
        f"{B}/s/2": "Your words exclude this address."
    }
    assert {source.url for source in state.answer.sources} == {f"{A}/s/1"}


def test_the_allowed_domains_are_a_fence(collect: Collect) -> None:
    docs = [listing(f"{A}/", ["/s/1", f"{B}/s/2"]), article(1), article(2, f"{B}/s/2")]
    assert len(collect(ALL, f"{A}/", docs=docs).own.kept_items) == 2
    fenced = collect(ALL, f"{A}/", docs=docs, allowed_domains=["a.example"])
    assert visited(fenced) == [f"{A}/", f"{A}/s/1"]
    assert "1 entry is outside the allowed domains" in fenced.why_stopped


def test_another_page_may_be_chosen_instead(bench: Workbench, collect: Collect) -> None:
    collect(FORUM_PROMPT, QUOTE, mode="step", wants=FORUM)
    [run] = bench.runs()
    bench.act(run.id, "edit", run.steps, next_action="crawl_url", query_or_url=f"{BOARD}/t/6120")
    bench.drive(run.id)
    state = bench.snapshot(run.id).state
    assert branch(state, BOARD).ended == "You chose another page instead."
    assert [item.title for item in state.own.items.values()] == ["Why did R1 go?"]


def test_sent_back_with_a_note_it_goes_on_with_what_it_has(collect: Collect) -> None:
    assert len(collect(FORUM_PROMPT, QUOTE, wants=FORUM).own.kept_items) == 3
    later = {**FORUM, "days": 3650}
    state = collect(FORUM_PROMPT, QUOTE, wants=FORUM, note="Take all of the last 10 years", later=later)
    assert len(state.answers) == 2 and len(state.own.kept_items) == 5, "what was too old is read now"
    assert len(visited(state)) == len(set(visited(state))), "what was read is not asked for again"


def test_decisions_are_logged_as_events(collect: Collect, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="agent.nav")
    state = collect(FORUM_PROMPT, QUOTE, wants=FORUM)
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
    assert (first.action, first.page_type, first.depth) == ("NAVIGATE_TO", "company_profile", 0)
    assert not hasattr(first, "reason")


def test_a_page_that_led_to_an_excluded_address_is_not_read_again(collect: Collect) -> None:
    docs = [doc(f"{A}/", "Gate", f"<h1>Gate</h1><p><a href='{B}/s/2'>In</a></p>"), article(2, f"{B}/s/2")]
    way = {"decisions": {f"{A}/": {"action": "NAVIGATE_TO", "target_url": f"{B}/s/2"}}}
    wants, note = {**way, "leave_out_sites": ["b.example"]}, "Go on"
    state = collect(ALL, f"{A}/", docs=docs, wants=wants, note=note, later=wants)
    assert (branch(state, f"{A}/").status, branch(state, f"{A}/").held) == ("visited", "words")
    assert visited(state) == [f"{A}/"] and "excluded by your words" in state.why_stopped
