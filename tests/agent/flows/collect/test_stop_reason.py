"""How a walk ends: the true reason, with the limit and the way to raise it; blocked told apart from empty; a
person's words obeyed; other hosts left, and pages that turn for ever."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent.flows.collect.state import CollectRun
from agent.types import CollectLimits, Outcome, Settings, Status
from agent.workbench import Workbench
from tests.web.collecting_model import install_walker
from tests.web.folders import page, write_world

A, B = "https://a.example", "https://b.example"


@pytest.fixture
def walk(bench: Workbench, tmp_path: Path):
    def walked(
        docs: list[dict[str, Any]],
        *starts: str,
        prompt: str = "Collect all news",
        note: str = "",
        wants: dict[str, Any] | None = None,
        later: dict[str, Any] | None = None,
        **more: Any,
    ) -> CollectRun:
        if wants is not None:
            install_walker(bench, **wants)
        limits = {name: more.pop(name) for name in list(more) if name in CollectLimits.model_fields}
        world = write_world(tmp_path / "world", docs)
        settings = Settings(
            flow="collect",
            world=world,
            model="keyless" if wants is None else "auto",
            start_urls=list(starts or [f"{A}/"]),
            collect=CollectLimits(**limits),
            **more,
        )
        run_id = bench.start(prompt, settings)
        assert bench.drive(run_id) is Status.REVIEW, bench.snapshot(run_id).run.error
        if note:
            install_walker(bench, **(later or {}))
            bench.act(run_id, "send_back", bench.snapshot(run_id).head, note=note)
            assert bench.drive(run_id) is Status.REVIEW
        return bench.snapshot(run_id).state

    return walked


def article(n: int | str, url: str = "", head: str = "", title: str = "") -> dict[str, Any]:
    body = "".join(
        f"<p>{' '.join(f'word{n}x{line}x{i} stands here' for i in range(30))}.</p>" for line in range(2)
    )
    head = f'<head><title>{title or f"Story {n}"}</title><meta property="og:type" content="article">{head}</head>'
    html = f"<html>{head}<body><article><h1>{title or f'Story {n}'}</h1>{body}</article></body></html>"
    return page(url or f"{A}/s/{n}", f"Story {n}", "x", html=html)


def listing(url: str, entries: list[str], more: str = "") -> dict[str, Any]:
    rows = "".join(
        f'<li>{n % 28 + 1} October 2026 <a href="{entry}">The headline of entry {n}</a></li>'
        for n, entry in enumerate(entries)
    )
    return page(
        url,
        "News",
        "x",
        html=f"<html><head><title>News</title></head><body><h1>News</h1><ul>{rows}</ul>{more}</body></html>",
    )


def wall(url: str) -> dict[str, Any]:
    return page(
        url,
        "Closed",
        "x",
        html="<h1>The roof</h1><p>The board met one evening.</p><p>Subscribe to continue reading this article.</p>",
    )


def test_the_depth_is_named_and_how_to_raise_it(walk) -> None:
    docs = [
        listing(f"{A}/", ["/b", "/s/1"]),
        listing(f"{A}/b", ["/s/2", "/s/3"]),
        article(1),
        article(2),
        article(3),
    ]
    state = walk(docs, max_depth=2)
    assert (
        "1 page leads deeper than the depth of 2 allows" in state.why_stopped
        and "--depth" in state.why_stopped
    )
    assert state.stop_reason == "limit" and len(state.own.kept_items) == 1
    assert "1 page leads deeper" in state.answer.journey
    assert walk(docs).why_stopped == "every page that could be reached is read"


def test_the_cap_on_pages_names_itself_and_what_waited(walk) -> None:
    docs = [listing(f"{A}/", [f"/s/{n}" for n in range(6)]), *map(article, range(6))]
    state = walk(docs, max_pages=3)
    assert (
        "all 3 pages of this run are used, and 4 pages still waited" in state.why_stopped
        and "--max-pages" in state.why_stopped
    )


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
    "a paywall": ([wall(f"{A}/x")], Outcome.BLOCKED, "paywall"),
    "a server in trouble": ([page(f"{A}/x", "", "", status=500)], Outcome.ERROR, "500"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_walk_on_which_every_page_failed_is_blocked_and_says_what_failed(walk, name: str) -> None:
    docs, outcome, told = FAILURES[name]
    state = walk(docs, f"{A}/x")
    assert [ref.outcome for ref in state.pages.values()] == [outcome]
    assert (state.answer.verdict, state.answer.reason) == ("no_evidence", "blocked")
    assert f"No page could be read: {A}/x: " in state.answer.certainty and told in state.answer.certainty
    assert state.why_stopped == "no page could be read"


def test_an_empty_page_answered_and_had_nothing(walk) -> None:
    state = walk([page(f"{A}/", "", "", html="<html><body></body></html>")])
    assert (state.answer.verdict, state.answer.reason) == ("no_evidence", "not_covered")


def test_an_address_the_prompt_rules_out_is_no_start_and_is_not_followed(walk) -> None:
    docs = [
        listing(f"{A}/", ["/s/1", f"{B}/s/2"]),
        article(1),
        article(2, f"{B}/s/2"),
        listing(f"{B}/", ["/s/2"]),
    ]
    state = walk(docs, prompt=f"Collect all news, not from {B}/", wants={"leave_out_sites": ["b.example"]})
    assert [action.query_or_url for action in state.actions] == [f"{A}/", f"{A}/s/1"]
    left = state.own.tree[f"{B}/s/2"]
    assert (left.status, left.ended) == ("dropped", "Your words exclude this address.")
    assert "1 page was excluded by your words" in state.why_stopped


def test_a_later_note_drops_what_was_gathered_there(walk) -> None:
    docs = [listing(f"{A}/", ["/s/1", f"{B}/s/2"]), article(1), article(2, f"{B}/s/2")]
    note, later = "Leave out b.example", {"leave_out_sites": ["b.example"]}
    state = walk(docs, wants={}, note=note, later=later)
    assert {item.url: item.reason for item in state.own.items.values() if item.status == "dropped"} == {
        f"{B}/s/2": "Your words exclude this address."
    }
    assert {source.url for source in state.answer.sources} == {f"{A}/s/1"}


def test_pages_that_turn_for_ever_end_at_the_limit_of_pages(walk) -> None:
    docs = [
        listing(
            f"{A}/?p={n}" if n else f"{A}/",
            [f"/s/{n}-{i}" for i in range(3)],
            f'<a rel="next" href="/?p={n + 1}">next</a>',
        )
        for n in range(40)
    ]
    state = walk(docs, max_pages=12)
    assert len(state.actions) == 12 and state.stop_reason == "budget"


def test_the_allowed_domains_are_a_fence(walk) -> None:
    docs = [
        listing(f"{A}/", ["/s/1", f"{B}/s/2"]),
        article(1),
        article(2, f"{B}/s/2"),
    ]
    assert len(walk(docs).own.kept_items) == 2
    assert [action.query_or_url for action in walk(docs, allowed_domains=["a.example"]).actions] == [
        f"{A}/",
        f"{A}/s/1",
    ]
