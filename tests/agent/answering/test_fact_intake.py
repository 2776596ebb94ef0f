"""A model's readings of conflicts: told to it with quotes, titles and dates, kept with the reason, shown as its
reading with both values, and overturned by a person."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from agent.actions import export
from agent.actions.bundles import verify_bundle
from agent.types import Settings, Status
from agent.workbench import Workbench
from tests.web.folders import page, write_world
from tests.web.model_server import ModelServer
from tests.web.researching_model import Script, crawl, find_fact_ids, workbench

pytestmark = pytest.mark.slow
HERON = "In which year was the brass heron of Port Ember built?"
ONE, TWO, THREE = (f"https://{name}.example/heron" for name in ("one", "two", "three"))
BUILT = re.compile(r"The brass heron of Port Ember was built in \d{4}\.")
PAGES = [
    page(
        ONE,
        "Brass heron",
        "The brass heron of Port Ember was built in 1921.\nIt stands by the harbour.",
        published_at="2019-01-01",
    ),
    page(
        TWO,
        "Brass heron of Port Ember",
        "The brass heron of Port Ember was built in 1934.\nIt is made of brass.",
        published_at="2023-01-01",
    ),
    page(
        THREE,
        "The harbour of Port Ember",
        "Visitors of Port Ember see the brass heron first.\nIt looks to the sea.",
    ),
]


def analyze(prompt: str, rulings: list[dict[str, str]]) -> dict[str, Any]:
    quotes = BUILT.findall(prompt.split("Pages of this round")[-1]) if "Passage p1" in prompt else []
    return {
        "facts": [{"quote": quote, "statement": quote, "passage_id": "p1"} for quote in quotes],
        "conflicts": rulings if "k1 about" in prompt else [],
        "confidence_score": 0.6,
    }


@contextmanager
def reviewed(
    tmp_path: Path, *, in_analysis: list[dict[str, str]], before_report: list[dict[str, str]], **settings: Any
) -> Iterator[tuple[Workbench, str, Script]]:
    script = Script(
        crawl(ONE),
        crawl(TWO),
        crawl(THREE),
        analyzer=lambda prompt: analyze(prompt, in_analysis),
        report=lambda prompt: {
            "answer": [
                {"text": f"The brass heron of Port Ember was built in {year}.", "fact_ids": [name]}
                for name, year in zip(find_fact_ids(prompt), (1921, 1934), strict=False)
            ]
        },
        rulings=before_report,
    )
    with ModelServer(script.served) as server, workbench(server) as bench:
        run_id = bench.start(HERON, Settings(world=write_world(tmp_path, PAGES), **settings))
        assert bench.drive(run_id) is Status.REVIEW, bench.snapshot(run_id).run.error
        yield bench, run_id, script


def ruling(word: str, reason: str = "the titles name two herons") -> list[dict[str, str]]:
    return [{"id": "k1", "ruling": word, "reason": reason}]


def test_what_nobody_ruled_on_is_put_to_the_model_once_before_the_report(tmp_path):
    with reviewed(
        tmp_path, in_analysis=[], before_report=ruling("later_replaces", "2023 is newer"), max_steps=3
    ) as (bench, run_id, script):
        [prompt] = [prompt for role, prompt in script.prompts if role == "compare_facts"]
        assert "one.example" in prompt and "2023-01-01" in prompt and "Brass heron of Port Ember" in prompt
        [conflict] = bench.snapshot(run_id).state.conflicts.values()
        assert (conflict.settled_by, conflict.chosen) == ("model", "1934")


def test_a_hostile_ruling_stays_visible_as_the_models_reading_with_both_values(tmp_path):
    lie = "the pages speak of two herons"
    with reviewed(tmp_path, in_analysis=[], before_report=ruling("different_things", lie), max_steps=3) as (
        bench,
        run_id,
        script,
    ):
        script.more["report"] = None
        answer = bench.snapshot(run_id).state.answer
        assert "1921" in answer.text and "1934" in answer.text
        report = export.export_run(bench, run_id, "evidence.md").decode()
        assert "settled by the model's reading: they are about different things" in report and lie in report
        assert "1921" in report and "1934" in report
        assert verify_bundle(export.export_run(bench, run_id, "bundle")).is_valid


def test_a_person_overturns_the_reading_for_good(tmp_path):
    with reviewed(tmp_path, in_analysis=ruling("different_things"), before_report=[]) as (bench, run_id, _):
        [conflict] = bench.snapshot(run_id).state.conflicts.values()
        bench.act(
            run_id, "settle", conflict=conflict.id, ruling="take", value="1934", because="the mason's bill"
        )
        assert bench.drive(run_id) is Status.REVIEW
        state = bench.snapshot(run_id).state
        [now] = state.conflicts.values()
        assert (now.settled_by, now.chosen, now.reason) == ("person", "1934", "the mason's bill")
        assert now.model_ruling == "different_things", "what the model said is kept"
        assert "A person settled this" in state.answer.text and "model's reading" not in state.answer.text
        bench.act(run_id, "settle", conflict=conflict.id, ruling="open")
        assert bench.drive(run_id) is Status.REVIEW
        [again] = bench.snapshot(run_id).state.conflicts.values()
        assert (again.status, again.settled_by) == ("open", ""), "no model settles what a person opened"
