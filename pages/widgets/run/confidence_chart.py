"""The confidence curve: a point after each step, edit and answer, the threshold as a rule, and beneath the
events that moved it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import streamlit as st

from agent.actions import acts
from agent.evidence.confidence import describe_parts, list_changes
from agent.types import Confidence, PlanPart
from agent.types.facts import number_step
from agent.workbench import RunSnapshot
from pages.widgets.shell import client, escape, labels, markup

ACCENT, GOLD = ("#14695b", "#5cc0aa"), ("#8f5c00", "#e0b252")


def draw(view: RunSnapshot) -> None:
    """The curve on axes that do not move while the run goes on, and what moved it, newest first."""
    given, settings = view.state.confidence, view.run.settings
    dark = st.context.theme.type == "dark"
    numbers = [number_step(view.state.actions, point.step) for point in given]
    curve = build_chart(given, numbers, settings.threshold, settings.max_steps, dark=dark)
    st.vega_lite_chart(curve, key="research-curve", alt="Confidence after each step")
    _draw_threshold(view)
    told = render_events(given, numbers) + render_factors(given[-1], view.state.plan)
    st.html(f'<div class="ts small">{told}</div>')


def render_events(given: Sequence[Confidence], numbers: Sequence[int]) -> str:
    """What moved it, newest first, as HTML."""
    told = [
        f"<li><b>{name_point(numbers, n)}: {labels.format_percent(point.value)}</b><br>"
        f"{'<br>'.join(map(escape.html, list_changes(point)))}</li>"
        for n, point in enumerate(given)
        if point.moves
    ]
    return f"<ul>{''.join(reversed(told))}</ul>"


def name_point(numbers: Sequence[int], n: int) -> str:
    """After which step a point of the curve stands; a second one after the step is an edit or the answer."""
    if not numbers[n]:
        return "Before step 1"
    return f"{'Later, after' if n and numbers[n - 1] == numbers[n] else 'After'} step {numbers[n]}"


def place_points(numbers: Sequence[int]) -> list[float]:
    """Where the points stand on the axis of steps: those after the same step share the way to the next."""
    counts, seen, found = Counter(numbers), Counter[int](), []
    for number in numbers:
        found.append(number + seen[number] / counts[number])
        seen[number] += 1
    return found


def render_factors(point: Confidence, plan: Sequence[PlanPart] = ()) -> str:
    """What a value is made of, folded, as an HTML table: for each part of the question its evidence and
    judgement."""
    rows = [[name, figure, escape.html(why)] for name, figure, why in describe_parts(point, plan)]
    rows.append(["<b>= confidence</b>", f"<b>{point.value:.2f}</b>", ""])
    table = markup.table(["Made of", "Figure", "Counted from"], rows, "factors")
    return f"<details><summary>Show the arithmetic</summary>{table}</details>"


def _draw_threshold(view: RunSnapshot) -> None:
    """The threshold, to be moved while the run can still go on."""
    current = round(view.run.settings.threshold * 100)
    if not acts.is_possible("threshold", view):
        return
    key = f"research-goal-{view.run.id}"
    st.session_state[key] = current
    st.slider(
        "Stop at confidence",
        min(50, current),
        100,
        key=key,
        format="%d %%",
        on_change=lambda: client.act(view.run.id, "threshold", threshold=st.session_state[key] / 100),
        help="Takes effect at the next step. One source alone never reaches 85 %, unless you pin its "
        "fact or the question is about it.",
    )


def build_chart(
    given: Sequence[Confidence], numbers: Sequence[int], threshold: float, max_steps: int, *, dark: bool
) -> dict[str, Any]:
    """The chart in Vega-Lite, over the `numbers` of the steps that its points stand after. `max_steps` fixes
    the horizontal axis; it grows only when the run goes beyond."""
    places, accent = place_points(numbers), ACCENT[dark]
    values = [
        {
            "step": place,
            "When": name_point(numbers, n),
            "Confidence": point.value,
            "Why": escape.shorten("; ".join(list_changes(point)) or "no change", 240),
        }
        for n, (place, point) in enumerate(zip(places, given, strict=True))
    ]
    shared: dict[str, Any] = {"type": "quantitative"}
    across = {"domain": [min(1, *numbers), max(max_steps, *places, 2)], "nice": False}
    axis = {"tickMinStep": 1, "format": "d", "grid": False}
    up = {"format": "%", "values": [0, 0.25, 0.5, 0.75, 1]}
    x = shared | {"field": "step", "title": "step (search or page)", "scale": across, "axis": axis}
    y = shared | {"field": "Confidence", "title": None, "scale": {"domain": [0, 1]}, "axis": up}
    told = [{"field": "When"}, shared | {"field": "Confidence", "format": ".0%"}, {"field": "Why"}]
    rule = {"type": "rule", "color": GOLD[dark], "strokeDash": [6, 4], "strokeWidth": 1.5}
    line = {"type": "line", "color": accent, "strokeWidth": 2.5, "interpolate": "step-after"}
    dots = {"type": "point", "color": accent, "filled": True, "size": 70, "opacity": 1}
    curve = {"x": x, "y": y, "tooltip": told}
    layers = [{"mark": mark, "encoding": curve} for mark in (line, dots)]
    goal = {"mark": rule, "encoding": {"y": {"datum": threshold}}}
    return {"height": 230, "data": {"values": values}, "layer": [goal, *layers]}
