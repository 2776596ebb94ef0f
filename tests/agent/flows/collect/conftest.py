"""Runs of `collect` in the demo world or in one of made pages, with a scripted model or without one."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from agent.flows.collect.state import CollectRun
from agent.text.urls import canonicalize
from agent.types import CollectLimits, Settings, Status
from agent.types.collection import CrawlNode
from agent.workbench import Workbench
from tests.web.collecting_model import Walker, install_walker
from tests.web.folders import page, write_world

DEMO = Path(__file__).parents[4] / "demo" / "docs.jsonl"
DOCS = {doc["url"]: doc for doc in map(json.loads, DEMO.read_text(encoding="utf-8").splitlines())}
QUOTE, BOARD = "https://borskvart.example/stock/KALL", "https://borskvart.example/stock/KALL/forum"
NEWS = "https://granvattnet-courier.example/news/"
ARTICLE = "https://granvattnet-courier.example/2026/08/20/kallsteg-factory"
FORUM_PROMPT = "Go to the forum section and find out what people said about Kallsteg in the last month"
A, B = "https://a.example", "https://b.example"
FORUM: dict[str, Any] = {"topic": "Kallsteg", "section": "forum", "days": 30}
"""What a model reads in FORUM_PROMPT."""
Collect = Callable[..., CollectRun]


@pytest.fixture
def collect(bench: Workbench, tmp_path: Path) -> Collect:
    """Drives a run to its rest; with `wants` (an intent, or a whole Walker) a model answers."""

    def collected(
        prompt: str,
        *starts: str,
        docs: Sequence[dict[str, Any]] = (),
        wants: dict[str, Any] | Walker | None = None,
        note: str = "",
        later: dict[str, Any] | None = None,
        mode: str = "auto",
        **more: Any,
    ) -> CollectRun:
        if wants is not None:
            install_walker(bench, **({"walker": wants} if isinstance(wants, Walker) else wants))
        limits = {name: more.pop(name) for name in list(more) if name in CollectLimits.model_fields}
        settings = Settings(
            flow="collect",
            world=write_world(tmp_path / "world", docs) if docs else "demo",
            model="keyless" if wants is None else "auto",
            mode=mode,
            start_urls=list(starts),
            collect=CollectLimits(**limits),
            **more,
        )
        run_id = bench.start(prompt, settings)
        rests = Status.WAITING if mode == "step" else Status.REVIEW
        assert bench.drive(run_id) is rests, bench.snapshot(run_id).run.error
        if note:
            install_walker(bench, **(later or {}))
            bench.act(run_id, "send_back", bench.snapshot(run_id).head, note=note)
            assert bench.drive(run_id) is Status.REVIEW
        return bench.snapshot(run_id).state

    return collected


def branch(state: CollectRun, url: str) -> CrawlNode:
    return state.own.tree[canonicalize(url)]


def visited(state: CollectRun) -> list[str]:
    return [action.query_or_url for action in state.actions]


def doc(url: str, title: str, body: str, head: str = "") -> dict[str, Any]:
    html = f"<html lang='en'><head><title>{title}</title>{head}</head><body>{body}</body></html>"
    return page(url, title, "x", html=html)


def article(n: int | str, url: str = "") -> dict[str, Any]:
    body = "".join(
        f"<p>{' '.join(f'word{n}x{line}x{i} stands here' for i in range(30))}.</p>" for line in range(2)
    )
    head = '<meta property="og:type" content="article">'
    return doc(url or f"{A}/s/{n}", f"Story {n}", f"<article><h1>Story {n}</h1>{body}</article>", head)


def listing(url: str, entries: list[str], more: str = "") -> dict[str, Any]:
    rows = "".join(
        f'<li>{n % 28 + 1} October 2026 <a href="{entry}">The headline of entry {n}</a></li>'
        for n, entry in enumerate(entries)
    )
    return doc(url, "News", f"<h1>News</h1><ul>{rows}</ul>{more}")
