"""The walk's own rules, on small worlds made for each: widths, circles, equal pages, other hosts, pages that
turn for ever."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent.flows.collect.state import CollectRun
from agent.types import CollectLimits, Settings, Status
from agent.workbench import Workbench
from tests.web.folders import page, write_world

pytestmark = pytest.mark.slow

SITE = "https://a.example"
STORY = (
    "A paragraph of plain words about the matter at hand, number {n}, with enough of them to be read as running text. "
    * 6
)


@pytest.fixture
def walk(bench: Workbench, tmp_path: Path):
    def walked(
        docs: list[dict[str, Any]],
        *starts: str,
        prompt: str = "Collect all news",
        allowed: tuple[str, ...] = (),
        **limits: Any,
    ) -> CollectRun:
        world = write_world(tmp_path / "world", docs)
        settings = Settings(
            flow="collect",
            world=world,
            model="keyless",
            start_urls=list(starts or [f"{SITE}/"]),
            allowed_domains=list(allowed),
            collect=CollectLimits(**limits),
        )
        run_id = bench.start(prompt, settings)
        assert bench.drive(run_id) is Status.REVIEW, bench.snapshot(run_id).run.error
        return bench.snapshot(run_id).state

    return walked


def article(n: int | str, url: str = "", text: str = "") -> dict[str, Any]:
    body = text or "".join(f"<p>{STORY.format(n=f'{n}-{line}')}</p>" for line in range(3))
    head = f'<head><title>Story {n}</title><meta property="og:type" content="article"></head>'
    html = f"<html>{head}<body><article><h1>Story {n}</h1>{body}</article></body></html>"
    return page(url or f"{SITE}/s/{n}", f"Story {n}", "x", html=html)


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


def unlike(n: int) -> str:
    """A text of its own for each number."""
    return "<p>" + " ".join(f"word{n}x{i} stands here" for i in range(60)) + ".</p>"


def test_pages_that_turn_for_ever_end_at_the_limit_of_pages(walk) -> None:
    docs = [
        listing(
            f"{SITE}/?p={n}" if n else f"{SITE}/",
            [f"/s/{n}-{i}" for i in range(3)],
            f'<a rel="next" href="/?p={n + 1}">next</a>',
        )
        for n in range(40)
    ]
    state = walk(docs, max_pages=12)
    assert len(state.actions) == 12 and state.stop_reason == "budget"


def test_the_same_text_elsewhere_reuses_the_decision(walk) -> None:
    twin = listing(f"{SITE}/copy", ["/s/1"])
    state = walk([listing(f"{SITE}/", ["/s/1"]), twin, article(1)], f"{SITE}/", f"{SITE}/copy")
    assert (
        state.own.tree[f"{SITE}/copy"].same_as == f"{SITE}/" and state.own.tree[f"{SITE}/copy"].by == "code"
    )


def test_the_allowed_domains_are_a_fence(walk) -> None:
    docs = [
        listing(f"{SITE}/", ["/s/1", "https://b.example/s/2"]),
        article(1, text=unlike(1)),
        article(2, "https://b.example/s/2", unlike(2)),
    ]
    assert len(walk(docs).own.kept_items) == 2
    assert [action.query_or_url for action in walk(docs, allowed=("a.example",)).actions] == [
        f"{SITE}/",
        f"{SITE}/s/1",
    ]
