"""The picture of a chart: the same marks as SVG and PNG."""

from __future__ import annotations

import re
from io import BytesIO

import pytest
from lxml import etree
from PIL import Image

from agent.export.chart import draw_png, draw_svg, is_time_series

BARS = {"Beds": [("Brattli", 24.0), ("<b>Storfall</b>", 36.0), ("Vindskar", -3.0)]}
LINES = {"Brattli": [("2020", 612.0), ("2021", 845.0)], "Storfall": [("2020", 1105.0), ("2021", 1490.0)]}


def test_bars_stand_on_zero_and_labels_are_text():
    svg = etree.fromstring(draw_svg(BARS))
    bars = svg.findall("rect")
    bottoms = [float(bar.get("y")) + float(bar.get("height")) for bar in bars]
    assert (
        len(bars) == 3 and bottoms[0] == pytest.approx(bottoms[1]) and float(bars[2].get("y")) == bottoms[0]
    )
    assert "<b>Storfall</b>" in [text.text for text in svg.findall("text")]


def test_a_line_for_each_column_over_years_with_its_name():
    svg = etree.fromstring(draw_svg(LINES))
    assert [line.get("class") for line in svg.findall("line") if line.get("class") != "axis"] == [
        "series0",
        "series1",
    ]
    assert {"Brattli", "Storfall"} <= {text.text for text in svg.findall("text")}
    assert svg.get("aria-label").startswith("Brattli: 2020: 612, 2021: 845; Storfall")


@pytest.mark.parametrize(
    "series", [BARS, LINES, {"A": [("x", 0.0)] * 3}, {"A": [(f"long name {n}", 1e6 * n) for n in range(30)]}]
)
def test_the_picture_for_word_is_made_for_any_numbers(series):
    image = Image.open(BytesIO(draw_png(series)))
    assert image.size == (1920, 840) and len(image.getcolors(2**20) or []) > 2
    places = [float(n) for n in re.findall(r' [xy][12]?="([^"]+)"', draw_svg(series))]
    assert all(-1 <= place <= 640 for place in places)


def test_years_have_to_rise():
    assert is_time_series(LINES) and not is_time_series(BARS)
    assert not is_time_series({"A": [("2021", 1.0), ("2020", 2.0)]})
