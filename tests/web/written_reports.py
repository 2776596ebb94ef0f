"""Full reports on the kilns of a made world, written by a scripted model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from agent.types import Answer, Status
from agent.workbench import RunSnapshot, Workbench
from tests.web.model_server import ModelServer
from tests.web.reporting_model import ReportScript, start_report
from tests.web.researching_model import workbench

HEADINGS = ["Summary", "Age and output", "Who runs them", "Limits of the evidence", "Method"]


@contextmanager
def reporting(script: ReportScript, **settings: Any) -> Iterator[tuple[Workbench, str]]:
    with ModelServer(script.served) as server, workbench(server) as bench:
        yield bench, start_report(bench, **settings)


def written(script: ReportScript, **settings: Any) -> tuple[Answer, RunSnapshot]:
    with reporting(script, **settings) as (bench, run_id):
        assert bench.drive(run_id) is Status.REVIEW, bench.snapshot(run_id).run.error
        view = bench.snapshot(run_id)
        return view.state.answer, view


def headings(answer: Answer) -> list[str]:
    return [block.text for block in answer.blocks if block.kind == "heading"]
