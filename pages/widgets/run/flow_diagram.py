"""A flow's picture, drawn from its table, with the way a run took through it marked here."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest

import streamlit as st

from agent.engine.loop import Flow
from agent.flows import FLOWS, draw_flow
from agent.types import Status, Step
from agent.workbench import RunSnapshot
from pages.widgets.shell import escape, view_cache

LINK_LINE = re.compile(r'^\s*(\w+)(?:\(\[[^\]]*\]\))? -->(?:\|"([^"]*)"\|)? (\w+)\s*$')
COLOURS = {
    False: ("#e5f3ea", "#14695b", "#1f2421", "#fcf0d8", "#8f5c00", "#fcfbf8"),
    True: ("#143426", "#5cc0aa", "#ebe8e1", "#37290f", "#e0b252", "#14181a"),
}
"""By "is it dark?": fill, line and ink of what was passed; fill and line of where it stands; the ground."""
MAX_NAMED_STEPS = 14
"""Steps that are named one after the other; of a longer way is told how often each was taken."""
NODE_NAMES = {"end": "END"}
"""Steps that the drawing calls otherwise: "end" is a word of Mermaid's own."""
CHOICE_SUFFIX = "_choice"
"""What the drawing adds to a step's name for the diamond behind it."""


def draw(view: RunSnapshot) -> None:
    """The way a run took in words, its flow's picture with that way, and the picture's text to take along."""
    flow, dark = FLOWS[view.run.settings.flow], st.context.theme.type == "dark"
    working = view.next if view.run.status is Status.RUNNING else ""
    said = view_cache.get_or_compute(view, "way", lambda: describe_path(list_steps(flow, view.steps)))
    drawn = view_cache.get_or_compute(
        view, f"way-{dark}-{working}", lambda: render_mermaid(flow, view.steps, working=working, dark=dark)
    )
    with st.container(key=f"flow-picture-{view.run.id}", gap="small"):
        st.html(f'<div class="ts"><p class="small soft">{escape.html(said)}</p></div>')
        st.mermaid_chart(
            drawn, alt=f"The steps of {flow.name}. The way that was taken stands above in words."
        )
        with st.expander(
            "The picture as text (Mermaid)", icon=":material/code:", key=f"flow-text-{view.run.id}"
        ):
            st.code(draw_flow(flow), language=None, wrap_lines=True)


def describe_path(way: Sequence[str]) -> str:
    """A way in words; of a long one, how often each step was taken."""
    if not way:
        return "No step is taken yet."
    if len(way) <= MAX_NAMED_STEPS:
        return f"Workflow: {' → '.join(name.replace('_', ' ') for name in way)}"
    return "Workflow: " + ", ".join(
        f"{name.replace('_', ' ')}{f' {n} times' if n > 1 else ''}" for name, n in Counter(way).items()
    )


def list_steps(flow: Flow, steps: Sequence[Step]) -> list[str]:
    """The steps that were taken, in order, and where the run ended."""
    way = [step.name for step in steps if step.name in flow.steps]
    drawn = {edge.end for edge in flow.edges}
    return [
        *way,
        *(step.next for step in steps[-1:] if step.next in flow.rest_statuses and step.next in drawn),
    ]


def render_mermaid(flow: Flow, steps: Sequence[Step], *, working: str = "", dark: bool = False) -> str:
    """The picture as Mermaid source, the steps and ways that were taken marked."""
    plain = draw_flow(flow)
    taken = _find_taken_edges(flow, steps)
    nodes = dict.fromkeys(list_steps(flow, steps))
    links: list[int] = []
    n = 0
    for line in plain.splitlines():
        if "-->" not in line:
            continue
        found = LINK_LINE.match(line)
        if found and _is_taken(found.group(1), found.group(2) or "", found.group(3), taken, nodes):
            links.append(n)
        n += 1
    diamonds = [
        f"{name}{CHOICE_SUFFIX}"
        for name in nodes
        if name in flow.decisions and any(start == name for start, _, _ in taken)
    ]
    fill, line_colour, ink, now_fill, now_line, ground = COLOURS[dark]
    looks = {"flowchart": {"nodeSpacing": 60}, "themeVariables": {"edgeLabelBackground": ground}}
    marks = [f"    classDef taken fill:{fill},stroke:{line_colour},color:{ink},stroke-width:2px"]
    if passed := [NODE_NAMES.get(name, name) for name in [*nodes, *diamonds] if name != working]:
        marks.append(f"    class {','.join(passed)} taken")
    if working in flow.steps:
        marks += [
            f"    classDef working fill:{now_fill},stroke:{now_line},color:{ink},stroke-width:3px",
            f"    class {working} working",
        ]
    if links:
        marks.append(f"    linkStyle {','.join(map(str, links))} stroke:{line_colour},stroke-width:3px")
    return f"%%{{init: {json.dumps(looks)}}}%%\n{plain}" + "\n".join(marks) + "\n"


def _find_taken_edges(flow: Flow, steps: Sequence[Step]) -> set[tuple[str, str, str]]:
    """The edges that were taken, as (start, label, end); where it waits for a person, once they spoke."""
    walked = [step for step in steps if step.name in flow.steps]
    ways = {
        (step.name, after.name if after else step.next, step.next)
        for step, after in zip_longest(walked, walked[1:])
    }
    return {
        (edge.start, edge.label, edge.end)
        for name, end, next in ways
        for edge in flow.edges
        if edge.start == name and edge.end == end and next in (edge.rest, end)
    }


def _is_taken(
    start: str, label: str, end: str, taken: set[tuple[str, str, str]], nodes: dict[str, None]
) -> bool:
    """Was this line of the picture gone along?"""
    if start == "ask":
        return end in nodes
    if end == f"{start}{CHOICE_SUFFIX}":
        return any(first == start and name for first, name, _ in taken)
    return (
        start.removesuffix(CHOICE_SUFFIX),
        label.replace("#quot;", '"'),
        next((name for name, drawn in NODE_NAMES.items() if drawn == end), end),
    ) in taken
