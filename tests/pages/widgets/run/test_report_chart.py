"""An answer in blocks on the screen: pieces of HTML between charts, with everything that came from outside as
text."""

from __future__ import annotations

import pytest

from agent.export.blocks import Chart
from pages.widgets.run import answer_card, report_chart
from tests.web import block_answers

EVIL = "<img src=x onerror=alert(1)> ![a](http://x/)"


def render(given) -> list[str | Chart]:
    return answer_card.render_body(given, "r1")


def test_headings_labels_and_captions_are_escaped():
    given = block_answers.answer(title=EVIL)
    given.blocks = [
        block.replace(text=EVIL, heads=[EVIL] * len(block.heads), row_labels=[EVIL] * len(block.row_labels))
        for block in given.blocks
    ]
    given.sentences = [sentence.replace(text=EVIL) for sentence in given.sentences]
    html = answer_card.render(given, "r1")
    assert "<img" not in html and html.count("&lt;img src=x") > 10


def test_a_cell_is_marked_only_where_something_is_to_be_known():
    given = block_answers.answer()
    given.sentences = [s.replace(check="judged_supported") if s.context else s for s in given.sentences]
    assert "judged</summary>" not in answer_card.render(given, "r1").split("Sources")[0]
    given.sentences[-1] = given.sentences[-1].replace(check="not_supported", backed=False)
    assert "not supported" in answer_card.render(given, "r1")


@pytest.mark.slow
def test_lines_over_years_and_bars_else():
    years = {"Brattli": [("2020", 1.0), ("2021", 2.0)], "Storfall": [("2020", 3.0), ("2021", 4.0)]}
    lines = report_chart.build_chart(years, "Year", dark=False).to_dict()
    assert lines["mark"]["type"] == "line" and lines["encoding"]["color"]["scale"]["domain"] == list(years)
    bars = report_chart.build_chart({"Beds": [("Brattli", 24.0)]}, "Hut", dark=True).to_dict()
    assert bars["mark"]["type"] == "bar" and bars["encoding"]["color"]["legend"] is None
