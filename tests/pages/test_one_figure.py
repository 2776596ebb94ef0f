"""One confidence everywhere: budget pause, status line, export and command line; and one number for
a step: cards, curve, export and branch."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator

import pytest

from agent.cli.main import main
from agent.export.plain import render_plain_text
from agent.types import Settings, Status
from agent.types.facts import number_step
from agent.workbench import RunSnapshot, Workbench
from pages.widgets.run import confidence_chart, pause_prompt, status_line, timeline
from tests.web.model_server import ModelServer
from tests.web.researching_model import ASK, ROOF, SOLAR, TOUR, Script, crawl, workbench


@pytest.fixture
def bench() -> Iterator[Workbench]:
    again = ASK | {"query_or_url": "Älvmora Mejeri cellar tour", "reasoning": "A second look."}
    script = Script(ASK, crawl(ROOF), crawl(TOUR) | {"reasoning": "They went there."}, again, confidence=0.5)
    with ModelServer(script.served) as server, workbench(server) as opened:
        yield opened


def find_percent(text: str) -> int:
    """The percentage that follows the first "confidence"."""
    found = re.search(r"confidence,? \(?(\d+)\s?%", text, re.IGNORECASE)
    assert found, text[:400]
    return int(found[1])


def shown_at_pause(view: RunSnapshot) -> int:
    return find_percent(pause_prompt.render_progress(view))


def test_four_surfaces_show_the_figure_that_the_claims_of_the_answer_give(
    bench: Workbench, capsys: pytest.CaptureFixture[str]
) -> None:
    run_id = bench.start(SOLAR, Settings(world="demo", max_steps=3, threshold=0.99, at_cap="ask"))
    assert bench.drive(run_id) is Status.PAUSED
    paused = bench.snapshot(run_id)
    level = round(100 * (paused.state.shown_confidence or 0))
    assert level and shown_at_pause(paused) == level, "what the model judged"
    bench.act(run_id, "finish", bench.snapshot(run_id).head)
    assert bench.drive(run_id) is Status.REVIEW
    view = bench.snapshot(run_id)
    assert view.state.answer and view.state.answer.confidence > 0
    assert main(["export", run_id, "--format", "evidence.md"]) == 0
    figures = {
        "line": find_percent(status_line.render(view, {})),
        "pause": shown_at_pause(view),
        "export": find_percent(capsys.readouterr().out),
        "command line": find_percent(render_plain_text(view.state.answer)),
    }
    assert len(set(figures.values())) == 1, figures
    assert view.state.confidence[-1].parts[0].sources, "it rests on the claims of the answer"


def test_a_step_has_the_number_of_its_card_everywhere(
    bench: Workbench, capsys: pytest.CaptureFixture[str]
) -> None:
    run_id = bench.start(SOLAR, Settings(world="demo", max_steps=4, threshold=0.99, at_cap="report"))
    bench.drive(run_id)
    view = bench.snapshot(run_id)
    cards = [card for card in timeline.build_cards(view) if card.number]
    assert [card.number for card in cards] == [1, 2, 3, 4] and cards[-1].n > 4, "the ledger counts on"
    assert main(["export", run_id, "--format", "evidence.md"]) == 0
    export = capsys.readouterr().out
    for card in cards:
        row = next(line for line in export.splitlines() if line.startswith(f"| {card.number} |"))
        assert card.number == 1 or card.why in row
    assert main(["export", run_id, "--format", "csv"]) == 0
    found = {row["step"] for row in csv.DictReader(io.StringIO(capsys.readouterr().out))}
    assert found and found <= {"1", "2", "3", "4"}
    numbers = [number_step(view.state.actions, point.step) for point in view.state.confidence]
    assert max(numbers) == 4 and confidence_chart.name_point(numbers, len(numbers) - 1).endswith("step 4")
    fork = bench.act(run_id, "fork", step=cards[1].end)
    assert main(["export", fork, "--format", "evidence.md"]) == 0
    assert "after step 2" in capsys.readouterr().out
