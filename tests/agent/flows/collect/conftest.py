"""Runs of `collect` in the demo world, and its documents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent.flows.collect.state import CollectRun
from agent.text.urls import canonicalize
from agent.types import CollectLimits, Settings, Status
from agent.types.collection import CrawlNode
from agent.workbench import RunSnapshot, Workbench

DEMO = Path(__file__).parents[4] / "demo" / "docs.jsonl"
DOCS = {doc["url"]: doc for doc in map(json.loads, DEMO.read_text(encoding="utf-8").splitlines())}
QUOTE, BOARD = "https://borskvart.example/stock/KALL", "https://borskvart.example/stock/KALL/forum"
CURD = "https://curdtalk.example/"


@pytest.fixture
def collect(bench: Workbench):
    def collected(
        prompt: str,
        *starts: str,
        mode: str = "auto",
        world: str = "demo",
        rests: Status = Status.REVIEW,
        model: str = "keyless",
        **limits: Any,
    ) -> RunSnapshot:
        settings = Settings(
            flow="collect",
            world=world,
            model=model,
            mode=mode,
            start_urls=list(starts),
            collect=CollectLimits(**limits),
        )
        run_id = bench.start(prompt, settings)
        assert bench.drive(run_id) is rests, bench.snapshot(run_id).run.error
        return bench.snapshot(run_id)

    return collected


def branch(state: CollectRun, url: str) -> CrawlNode:
    return state.own.tree[canonicalize(url)]
