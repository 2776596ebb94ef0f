"""The charts of an answer, which Altair draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from agent.export.blocks import Chart
from agent.export.chart import COLOURS, Series, is_time_series
from pages.widgets.shell import escape

if TYPE_CHECKING:
    import altair as alt

CHART_WIDTH, CHART_HEIGHT = 640, 240
"""Pixels: as wide as the text."""


def draw(chart: Chart, name: str) -> None:
    """A chart of a table above it, with its caption; `name` tells it from others."""
    drawn = build_chart(chart.series, chart.head, dark=st.context.theme.type == "dark")
    key = f"report-chart-{name}"
    with st.container(key=f"{key}-box", width=CHART_WIDTH):
        st.altair_chart(drawn, key=key, alt=chart.caption)
        st.caption(escape.md(chart.caption))


def build_chart(series: Series, head: str, *, dark: bool) -> alt.Chart:
    """Bars by label, or a line for each series where the labels are years. `head` names the labels."""
    import altair as alt  # heavy: imported where it is used first
    import pandas as pd

    rows = [(name, label, value) for name, points in series.items() for label, value in points]
    frame = pd.DataFrame(rows, columns=["series", "label", "value"])
    names, axis = list(series), alt.Axis(labelAngle=0, labelLimit=120, labelOverlap=True)
    colours = [("#5cc0aa" if dark else colour) if n == 0 else colour for n, colour in enumerate(COLOURS)]
    legend = alt.Legend(orient="bottom", title=None) if len(names) > 1 else None
    chart = alt.Chart(frame).encode(
        x=alt.X("label:N", sort=None, title=None, axis=axis),
        y=alt.Y("value:Q", title=escape.shorten(names[0], 60) if len(names) == 1 else None),
        color=alt.Color(
            "series:N", scale=alt.Scale(domain=names, range=colours[: len(names)]), legend=legend
        ),
        tooltip=[
            alt.Tooltip("label:N", title=escape.shorten(head, 60) or "Item"),
            alt.Tooltip("series:N", title=" "),
            alt.Tooltip("value:Q", title="Value"),
        ],
    )
    if is_time_series(series):
        drawn = chart.mark_line(strokeWidth=2.5, point=alt.OverlayMarkDef(size=60))
    else:
        drawn = chart.mark_bar(size=min(60, 420 // len(rows)))
    return drawn.properties(height=CHART_HEIGHT)
