"""The confidence curve: a point after each look, edit and answer, the threshold as a rule, what the value is
made of, and the reason of each move beneath."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from agent.actions import acts
from agent.evidence.confidence import describe_parts, list_changes
from agent.types import Confidence, PlanPart
from agent.types.facts import number_step
from agent.workbench import RunSnapshot
from pages.widgets.run import timeline
from pages.widgets.shell import client, empty_state, escape, labels, pagination

if TYPE_CHECKING:
    import altair as alt

ACCENT, GOLD = ("#14695b", "#5cc0aa"), ("#8f5c00", "#e0b252")
PAGE_SIZE, REASONS_KEY = 10, "research-reasons"
"""Looks on a page of reasons, and what the page is kept under."""
MAX_POINTS = 120
"""Points of the curve that are drawn: more are not told apart, and each costs."""


def draw(view: RunSnapshot) -> None:
    """The curve on axes that do not move while the run goes on, and its reasons, newest first."""
    given, settings = view.state.confidence, view.run.settings
    if view.state.shown_confidence is None:
        empty_state.draw(
            "No confidence yet",
            "It is computed from the evidence after each step, where a model judges what was found.",
        )
        _draw_threshold(view)
        return
    dark = st.context.theme.type == "dark"
    numbers = [number_step(view.state.actions, point.step) for point in given]
    st.altair_chart(
        build_chart(given, numbers, settings.threshold, settings.max_steps, dark=dark),
        key="research-curve",
        alt="Confidence after each step",
    )
    _draw_threshold(view)
    st.html(f'<div class="ts">{render_factors(given[-1], view.state.plan)}</div>')
    moved = group_steps(given)
    st.html(
        '<div class="ts small">'
        + "".join(
            render_reasons(given, numbers, *look)
            for look in pagination.take_page(moved, PAGE_SIZE, REASONS_KEY)
        )
        + "</div>"
    )
    pagination.draw(len(moved), PAGE_SIZE, REASONS_KEY, "steps")


def group_steps(given: Sequence[Confidence]) -> list[tuple[int, int]]:
    """What is told, newest first, by the numbers of first and last look: those that moved it, and others."""
    found: list[tuple[int, int]] = []
    for number in range(len(given), 0, -1):
        still = not given[number - 1].moves
        if still and found and not given[found[-1][0] - 1].moves:
            found[-1] = (number, found[-1][1])
        else:
            found.append((number, number))
    return found


def render_reasons(given: Sequence[Confidence], numbers: Sequence[int], first: int, last: int) -> str:
    """The reasons of a point that moved it, as HTML; points that did not are told together. `numbers`: the
    step of the journey that each point stands after."""
    point, start, end = given[first - 1], numbers[first - 1], numbers[last - 1]
    if point.moves:
        return (
            f"<p><b>{name_point(numbers, first - 1)}: {labels.format_percent(point.value)}</b></p>"
            f"{timeline.render_confidence_changes(point.value, [move.model_dump() for move in point.moves])}"
        )
    told = name_point(numbers, first - 1) if start == end else f"Steps {max(start, 1)} to {end}"
    return f'<p class="soft">{told}: no change.</p>'


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
    """What a value is made of, as an HTML table: for each part of the question its evidence and judgement."""
    rows = "".join(
        f'<tr><td>{name}</td><td class="figure">{figure}</td><td>{escape.html(why)}</td></tr>'
        for name, figure, why in describe_parts(point, plan)
    )
    rows += f'<tr><td><b>= confidence</b></td><td class="figure"><b>{point.value:.2f}</b></td><td></td></tr>'
    head = "<tr><th>Made of</th><th>Figure</th><th>Counted from</th></tr>"
    return (
        '<details open><summary>What it is made of</summary><div class="scroll"><table '
        f'class="factors">{head}{rows}</table></div></details>'
    )


def _draw_threshold(view: RunSnapshot) -> None:
    """The threshold, to be moved while the run can still go on."""
    current = round(view.run.settings.threshold * 100)
    if not acts.is_possible("threshold", view):
        st.caption(f"The run stopped for review at {current} %.")
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


def select_points(count: int) -> list[int]:
    """Which points are drawn, by position: all, or of a long curve POINTS at even distances and the last."""
    if count <= MAX_POINTS:
        return list(range(count))
    return sorted({*(round(i * (count - 1) / (MAX_POINTS - 1)) for i in range(MAX_POINTS))})


def build_chart(
    given: Sequence[Confidence], numbers: Sequence[int], threshold: float, max_steps: int, *, dark: bool
) -> alt.LayerChart | alt.FacetChart:
    """The chart itself, over the `numbers` of the steps that its points stand after. `max_steps` fixes the
    horizontal axis; it grows only when the run goes beyond."""
    import altair as alt  # heavy: imported where it is used first
    import pandas as pd

    shown = select_points(len(given))
    points, places = [given[i] for i in shown], place_points(numbers)
    frame = pd.DataFrame(
        {
            "step": [places[i] for i in shown],
            "when": [name_point(numbers, i) for i in shown],
            "confidence": [c.value for c in points],
            "model": [c.model for c in points],
            "reasons": [escape.shorten("; ".join(list_changes(c)) or "no change", 240) for c in points],
        }
    )
    right = max(max_steps, *places, 2)
    accent, gold = ACCENT[dark], GOLD[dark]
    across = alt.Scale(domain=[min(1, *numbers), right], nice=False)
    x = alt.X(
        "step:Q",
        title="step (search or page)",
        scale=across,
        axis=alt.Axis(tickMinStep=1, format="d", grid=False),
    )
    y = alt.Y(
        "confidence:Q",
        title=None,
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1]),
    )
    base = alt.Chart(frame).encode(x=x, y=y)
    tips = [
        alt.Tooltip("when:N", title="When"),
        alt.Tooltip("confidence:Q", title="Confidence", format=".0%"),
        alt.Tooltip("reasons:N", title="Why"),
    ]
    layers = [
        alt.Chart(pd.DataFrame({"goal": [threshold]}))
        .mark_rule(color=gold, strokeDash=[6, 4], strokeWidth=1.5)
        .encode(y="goal:Q"),
        alt.Chart(frame).mark_line(color=gold, strokeWidth=1, opacity=0.7).encode(x=x, y="model:Q"),
        base.mark_line(color=accent, strokeWidth=2.5, interpolate="step-after"),
        base.mark_point(color=accent, filled=True, size=70, opacity=1).encode(tooltip=tips),
    ]
    return alt.layer(*layers).properties(height=230)
