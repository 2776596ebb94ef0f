"""The map of pages: the question, its searches, and every page that was read or tried, by where its address
was found.

A click on a page opens the stored text below the map."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import streamlit as st

from agent.engine.run_state import RunState
from agent.text.plurals import format_count
from agent.types import Outcome, PageRef
from agent.workbench import RunSnapshot
from pages.widgets.run import graph_layout
from pages.widgets.shell import empty_state, escape, markup, pagination
from pages.widgets.shell import labels as labels_module

QUESTION_NODE = "question"
NODE_KINDS = (
    ("Question", "diamond", ("#3c4744", "#c9c5bb"), 26),
    ("Search", "roundRect", ("#0f5f86", "#86c3e6"), 16),
    ("Read, with facts", "circle", ("#14695b", "#5cc0aa"), 22),
    ("Read, nothing kept", "circle", ("#878b81", "#7d8580"), 14),
    ("Could not be read", "triangle", ("#b5442f", "#ee8f7b"), 17),
)
"""Name, symbol, colour on paper and at night, size: states differ in shape too, not only in colour."""
GRAPH_KEY = "research-map"
MAX_NODES = 100
"""Searches and pages on one map: more cannot be told apart, and placing them takes ever longer."""


def draw(view: RunSnapshot) -> None:
    """The graph and, below it, what was clicked."""
    state, run_id = view.state, view.run.id
    if not state.actions and not state.pages:
        empty_state.draw(
            "No pages yet",
            "Searches and pages appear here as the run goes on; a line shows where an address was found.",
        )
        return
    all_looks, key = rank_nodes(state), f"{GRAPH_KEY}-{run_id}"
    shown = pagination.take_page(all_looks, MAX_NODES, key)
    names, spec = build_chart(state, dark=st.context.theme.type == "dark", among=set(shown))
    event = st.echarts_chart(
        spec, key=GRAPH_KEY, height=430, on_select="rerun", alt="Map of the searches and pages of this run"
    )
    chosen = _find_clicked(event, names)
    pagination.draw(len(all_looks), MAX_NODES, key, "searches and pages, those with the most facts first")
    st.caption("Click a page to open what was stored of it. Drag to move the map, scroll to zoom.")
    if page := state.pages.get(chosen):
        st.html(render_page(page, run_id))


def rank_nodes(state: RunState) -> list[str]:
    """The names of all searches and pages, those with the most facts first, then as they came."""
    looks = {
        f"search: {action.query_or_url}": (0, action.step) for action in state.actions if action.is_search
    }
    looks |= {page.url: (-page.facts, page.step) for page in state.pages.values()}
    return sorted(looks, key=lambda name: (looks[name], name))


def build_chart(
    state: RunState, *, dark: bool, among: Container[str] | None = None
) -> tuple[list[str], dict[str, Any]]:
    """The names of the nodes in order, and the ECharts option; of the searches and pages `among` these alone.
    Every text in it is drawn as plain text on a canvas."""
    nodes, links, labels = _build_nodes(state, among)
    drawn = graph_layout.build_graph(nodes, links)
    where = graph_layout.assign_positions(drawn)
    names = list(drawn.nodes)
    data = [
        {
            "id": str(i),
            "name": labels[name][0],
            "value": labels[name][2],
            "x": where[name][0] * 100,
            "y": where[name][1] * 100,
            "category": labels[name][1],
            "symbol": NODE_KINDS[labels[name][1]][1],
            "symbolSize": NODE_KINDS[labels[name][1]][3],
            "label": {"show": len(names) <= 45 or labels[name][1] in (0, 2)},
        }
        for i, name in enumerate(names)
    ]
    index = {name: str(i) for i, name in enumerate(names)}
    styles = {True: {"type": "solid", "width": 1.2}, False: {"type": "dotted", "width": 0.8}}
    edges = [
        {"source": index[a], "target": index[b], "lineStyle": styles[kind["found"]]}
        for a, b, kind in drawn.edges(data=True)
    ]
    return names, _build_option(data, edges, dark)


def _build_option(data: list[dict[str, Any]], edges: list[dict[str, Any]], dark: bool) -> dict[str, Any]:
    ink, gold = ("#ebe8e1", "#e0b252") if dark else ("#1f2421", "#8f5c00")
    known = [{"name": name, "icon": symbol} for name, symbol, *_ in NODE_KINDS[1:]]
    return {
        "animation": False,
        "legend": [
            {"data": known, "bottom": 0, "textStyle": {"color": ink}, "itemGap": 14, "selectedMode": False}
        ],
        "tooltip": {"formatter": "{c}", "confine": True, "renderMode": "richText"},
        "series": [
            {
                "type": "graph",
                "layout": "none",
                "roam": True,
                "selectedMode": "single",
                "top": 24,
                "bottom": 64,
                "left": 30,
                "right": 110,
                "preserveAspect": "contain",
                "categories": [
                    {"name": name, "symbol": symbol, "itemStyle": {"color": colours[dark]}}
                    for name, symbol, colours, _ in NODE_KINDS
                ],
                "data": data,
                "links": edges,
                "edgeSymbol": ["none", "arrow"],
                "edgeSymbolSize": 6,
                "lineStyle": {"color": "#8b918c", "opacity": 0.7},
                "label": {
                    "position": "right",
                    "color": ink,
                    "fontSize": 11,
                    "width": 130,
                    "overflow": "truncate",
                },
                "labelLayout": {"hideOverlap": True},
                "select": {"itemStyle": {"borderColor": gold, "borderWidth": 3}},
                "emphasis": {"focus": "adjacency"},
            }
        ],
    }


def _build_nodes(
    state: RunState, among: Container[str] | None
) -> tuple[list[tuple[str, str]], list[tuple[str, str]], dict[str, tuple[str, int, str]]]:
    """Nodes as (name, found on), further links, and for each node its label, kind and tooltip."""
    nodes: list[tuple[str, str]] = [(QUESTION_NODE, "")]
    labels = {QUESTION_NODE: ("Question", 0, _escape_rich_text(state.question, 160))}
    looks: list[tuple[int, str, str, tuple[str, int, str]]] = []
    for action in state.actions:
        if action.is_search:
            name, is_ok = f"search: {action.query_or_url}", action.outcome is Outcome.OK
            came = format_count(action.hits, "result") if is_ok else labels_module.OUTCOME[action.outcome]
            tip = f"Search: {_escape_rich_text(action.query_or_url, 90)}\n{came}"
            label = _escape_rich_text(action.query_or_url, 28), 1, tip
            looks.append((action.step, name, QUESTION_NODE, label))
    for page in state.pages.values():
        is_ok = page.outcome is Outcome.OK
        came = format_count(page.facts, "fact") if is_ok else labels_module.OUTCOME[page.outcome]
        tip = (
            f"{_escape_rich_text(page.title or escape.host(page.url), 90)}"
            f"\n{_escape_rich_text(escape.shorten_url(page.url), 80)}\n{came}"
        )
        kind = 4 if not is_ok else 2 if page.facts else 3
        label = _escape_rich_text(escape.shorten_url(page.url, 30), 30), kind, tip
        looks.append((page.step, page.url, page.found_on, label))
    for _, name, found_on, label in sorted(looks, key=lambda look: (look[0], look[1])):
        if name not in labels and (among is None or name in among):
            nodes.append((name, found_on if found_on in labels else QUESTION_NODE))
            labels[name] = label
    return nodes, [(page.url, link) for page in state.pages.values() for link in page.links], labels


def _escape_rich_text(text: str, limit: int) -> str:
    """Text for the canvas: ECharts reads `{…|` as styles, so braces are replaced by look-alikes."""
    return (
        escape.shorten(escape.CONTROL.sub("", text), limit)
        .replace("{", "(")
        .replace("}", ")")
        .replace("|", "/")
    )


def _find_clicked(event: Any, names: list[str]) -> str:
    for item in getattr(getattr(event, "selection", None), "selected", None) or []:
        if item.get("data_type") == "node" and item.get("data_indices"):
            position = item["data_indices"][0]
            return names[position] if position < len(names) else ""
    return ""


def render_page(page: PageRef, run_id: str) -> str:
    """A page of the map in a few lines, with the way to its stored text, as HTML."""
    is_ok = page.outcome is Outcome.OK
    state = format_count(page.facts, "fact") + " kept" if is_ok else labels_module.OUTCOME[page.outcome]
    tone = "bad" if not is_ok else "good" if page.facts else ""
    way = (
        f'<p><a href="{escape.stored_page_url(run_id, page.page_id)}" target="_blank">Open the '
        "stored page with its quotes marked</a></p>"
    )
    opens = way if page.page_id else ""
    detail = "" if is_ok else markup.paragraph(escape.html(page.detail), "small")
    on = f"Found on {escape.html(escape.shorten_url(page.found_on, 90))}" if page.found_on else ""
    found = markup.paragraph(on)
    return (
        f'<div class="ts"><p><b>{escape.html(page.title or escape.host(page.url))}</b> <span '
        f'class="chip {tone}">{escape.html(state)}</span></p>'
        f'<p class="small">{escape.render_link(page.url)}</p>{detail}{found}{opens}</div>'
    )
