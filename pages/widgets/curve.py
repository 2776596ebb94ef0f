"""The confidence curve: one point a look, the threshold as a rule, and the reason of each move beneath."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import pandas as pd
import streamlit as st

from agent.types import Confidence
from pages.widgets import empty, journey, paging, safe, words

SHOWN, REASONS = 10, "research-reasons"
"""Looks on a page of reasons, and what the page is kept under."""
POINTS = 120
"""Points of the curve that are drawn: more are not told apart, and each costs."""
ACCENT, GOLD = ("#14695b", "#5cc0aa"), ("#8f5c00", "#e0b252")


def draw(given: Sequence[Confidence], *, threshold: float, max_steps: int) -> None:
    """The curve on axes that do not move while the run goes on, and its reasons, newest first."""
    if not given:
        empty.draw("No confidence yet", "It is computed from the evidence after each look: the first page that is read starts the curve.")
        return
    st.altair_chart(chart(given, threshold, max_steps, dark=st.context.theme.type == "dark"), key="research-curve", alt="Confidence after each look")
    model = "" if all(c.model is None for c in given) else " The thin line is the model's own figure: it can only lower the value."
    st.caption(f"Computed from coverage, independent sites, trust and agreement; at {words.percent(threshold)} the answer goes to you.{model}")
    newest = range(len(given), 0, -1)
    items = []
    for number in paging.part(newest, SHOWN, REASONS):
        point = given[number - 1]
        reasons = journey.moves([move.model_dump() for move in point.moves])
        items.append(f"<p><b>After look {number}: {words.percent(point.value)}</b></p>{reasons}")
    st.html('<div class="ts small">' + "".join(items) + "</div>")
    paging.turn(len(newest), SHOWN, REASONS, "looks")


def thinned(count: int) -> list[int]:
    """Which points of so many are drawn, by their positions: all, or of a long curve POINTS at even distances and the last."""
    if count <= POINTS:
        return list(range(count))
    return sorted({*(round(i * (count - 1) / (POINTS - 1)) for i in range(POINTS))})


def chart(given: Sequence[Confidence], threshold: float, max_steps: int, *, dark: bool) -> alt.LayerChart | alt.FacetChart:
    """The chart itself. `max_steps` fixes the horizontal axis; it grows only when the run goes beyond."""
    shown = thinned(len(given))
    points = [given[i] for i in shown]
    frame = pd.DataFrame(
        {
            "look": [i + 1 for i in shown],
            "confidence": [c.value for c in points],
            "model": [c.model for c in points],
            "reasons": [safe.shorten("; ".join(f"{m.delta * 100:+.0f} {m.reason}" for m in c.moves) or "no change", 240) for c in points],
        }
    )
    right = max(max_steps, len(given), 2)
    accent, gold = ACCENT[dark], GOLD[dark]
    across = alt.Scale(domain=[1, right], nice=False)
    x = alt.X("look:Q", title="look (search or page)", scale=across, axis=alt.Axis(tickMinStep=1, format="d", grid=False))
    y = alt.Y("confidence:Q", title=None, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1]))
    base = alt.Chart(frame).encode(x=x, y=y)
    tips = [
        alt.Tooltip("look:Q", title="Look"),
        alt.Tooltip("confidence:Q", title="Confidence", format=".0%"),
        alt.Tooltip("reasons:N", title="Why"),
    ]
    layers = [
        alt.Chart(pd.DataFrame({"goal": [threshold]})).mark_rule(color=gold, strokeDash=[6, 4], strokeWidth=1.5).encode(y="goal:Q"),
        alt.Chart(frame).mark_line(color=gold, strokeWidth=1, opacity=0.7).encode(x=x, y="model:Q"),
        base.mark_line(color=accent, strokeWidth=2.5, interpolate="step-after"),
        base.mark_point(color=accent, filled=True, size=70, opacity=1).encode(tooltip=tips),
    ]
    return alt.layer(*layers).properties(height=230)
