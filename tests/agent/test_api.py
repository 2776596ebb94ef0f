"""Collecting as a Python call, and what is refused before anything is written."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agent import api
from agent.api import call_llm, crawl_web, is_valid_url, run_agent, run_agent_sync
from agent.errors import ConcurrentChange, ModelUnavailable, NotFound, UsageError
from agent.llm.detect import DetectedModel
from agent.types import Settings
from agent.workbench import Workbench
from tests.tables import by_table
from tests.web.scripted import ScriptedModel

pytestmark = pytest.mark.slow

QUOTE = "https://borskvart.example/stock/KALL/forum"
PROMPT = "Go to the forum section and find out what people are saying about Kallsteg in the last month"


def test_the_call_returns_what_was_found(bench: Workbench) -> None:
    seen: list[str] = []
    found = run_agent(
        PROMPT, [QUOTE], 10, True, world="demo", model="keyless", bench=bench, watch=seen.append
    )
    assert [article["title"] for article in found["articles"]][:2] == [
        "Third quarter: good or bad?",
        "The factory and the debt",
    ]
    assert [article["metadata"]["post_count"] for article in found["articles"]][:2] == [6, 4]
    assert found["digest"]["verdict"] == "passages_found" and set(seen) == {found["run"]}
    assert [event["name"] for event in found["events"]].count("nav:content_added") == 5


def test_the_content_of_a_thread_is_its_posts(bench: Workbench) -> None:
    found = run_agent_sync(PROMPT, [QUOTE], world="demo", model="keyless", bench=bench)
    for article in found["articles"]:
        posts = [
            f"{post['user']}, {post['date'].replace('T', ' ')[:16]}:\n{post['text']}"
            for post in article["posts"]
        ]
        assert len(posts) >= 2 and article["content"] == "\n\n".join(posts)


def test_the_call_can_be_awaited_as_the_seed_has_it(bench: Workbench) -> None:
    async def collect(prompt: str) -> dict[str, Any]:
        how = {"use_smart_navigation": True, "world": "demo", "model": "keyless", "bench": bench}
        result: dict[str, Any] = await run_agent(prompt=prompt, seed_links=[QUOTE], max_articles=1, **how)
        return result

    assert len(asyncio.run(collect(PROMPT))["articles"]) == 1
    with pytest.raises(UsageError, match="question"):
        asyncio.run(collect(""))


def test_it_opens_a_workbench_of_its_own() -> None:
    url = "https://granvattnet-courier.example/2026/08/20/kallsteg-factory"
    assert run_agent("Summarize this article", [url], world="demo", model="keyless")["articles"]


def test_addresses_in_the_prompt_are_start_pages(bench: Workbench) -> None:
    run_id = api.start_collect_run(bench, f"Summarize {QUOTE}", [], Settings(world="demo", model="keyless"))
    assert bench.snapshot(run_id).run.settings.start_urls == [QUOTE]


def test_only_a_path_that_waits_can_be_walked(bench: Workbench) -> None:
    run_id = api.start_collect_run(bench, PROMPT, [QUOTE], Settings(world="demo", model="keyless"))
    bench.drive(run_id)
    with pytest.raises(ConcurrentChange):
        bench.act(run_id, "approve_path", bench.snapshot(run_id).head)
    other = bench.start(
        "How many people does Älvmora Mejeri employ?", Settings(world="demo", model="keyless")
    )
    with pytest.raises(UsageError, match="collected nothing"):
        api.build_collection(bench, other)
    with pytest.raises(NotFound):
        api.build_collection(bench, "nosuchrun")


def test_the_utilities_of_the_site_seed(bench: Workbench) -> None:
    text, links = crawl_web("https://kallsteg.example/", ["kallsteg.example"], world="demo", bench=bench)
    assert (
        "Kallsteg" in text and links and all(link.startswith("https://kallsteg.example/") for link in links)
    )
    with pytest.raises(UsageError, match="not_found"):
        crawl_web("https://kallsteg.example/no-such-page", world="demo", bench=bench)
    bench.worker.model_search.found = DetectedModel(ScriptedModel([{"text": "Good morning."}]), "")  # type: ignore[arg-type]
    assert call_llm("Say good morning.", bench=bench) == "Good morning."
    bench.worker.model_search.found = DetectedModel(None, "No model is set up: set one.")
    with pytest.raises(ModelUnavailable, match="set one"):
        call_llm("Say good morning.", bench=bench)


@by_table
def test_an_address_is_valid_within_the_allowed_domains(url: str, domains: list[str], valid: bool) -> None:
    assert is_valid_url(url, domains) is valid
