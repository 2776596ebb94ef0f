"""An exported report given to *Check a text*: each sentence is one claim with its own source."""

from __future__ import annotations

import pytest

from agent import api
from agent.actions.export import export_run
from agent.llm.recorded import list_examples
from agent.types import Settings
from agent.workbench import Workbench
from tests.played.read_back import compare

HUTS = next(one["question"] for one in list_examples() if "mountain huts" in one["question"])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["md", "docx"])
def test_a_report_with_table_and_chart_is_checked_against_its_sources(bench: Workbench, name: str) -> None:
    run_id = bench.start(HUTS, Settings(world="demo", report="full"))
    bench.drive(run_id)
    answer = bench.snapshot(run_id).state.answer
    keyless = Settings(flow="check_text", world="demo", model="keyless")
    given = api.start_text_check(bench, f"huts.{name}", export_run(bench, run_id, name), keyless)
    bench.drive(given)
    checked = bench.snapshot(given).state.own.checked_text(bench.snapshot(given).state)
    assert answer and not compare(answer, [one.sentence for one in checked.sentences])
    cited = [one for one in checked.claims if one.sentence.urls]
    assert len(cited) > 15 and not [one for one in cited if one.mark in ("unavailable", "no_source")]
