"""An answer in blocks as a document: headings, paragraphs, lists, tables, and charts that Altair draws."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import streamlit as st

from agent.evidence.answer_layout import label_passage
from agent.evidence.block_layout import BlockLayout, Series, lay_out_blocks
from agent.evidence.report_words import words_for
from agent.export.chart import COLOURS, is_time_series
from agent.types import Answer, Sentence
from pages.widgets.shell import escape

if TYPE_CHECKING:
    import altair as alt

CHART_WIDTH, CHART_HEIGHT = 640, 240
"""Pixels: as wide as the text."""
NO_MARKS: Mapping[int, str] = {}


def render_pieces(
    answer: Answer, draw: Callable[[Sentence], str], marks: Mapping[int, str] = NO_MARKS, question: str = ""
) -> list[str | BlockLayout]:
    """The document as HTML, in pieces between its charts; `draw` writes a sentence, item or cell; `marks`
    stand behind a heading, by its block. Empty cells are told in the language of the `question`."""
    has_table = any(block.kind == "table" for block in answer.blocks)
    words = words_for(question if has_table else "")
    pieces = list[str | BlockLayout]()
    for layout in lay_out_blocks(answer):
        if layout.block.kind == "chart":
            pieces += [layout] if layout.series else []
            continue
        html = _render_block(answer, layout, draw, marks, words["not_found"])
        if pieces and isinstance(pieces[-1], str):
            pieces[-1] += html
        else:
            pieces.append(html)
    return pieces


def _render_block(
    answer: Answer,
    layout: BlockLayout,
    draw: Callable[[Sentence], str],
    marks: Mapping[int, str],
    not_found: str,
) -> str:
    block = layout.block
    if block.kind == "heading":
        words = escape.html(block.text) + marks.get(id(block), "")
        return f"<h{block.level}>{words}</h{block.level}>"
    if block.kind == "table":
        return _render_table(layout, draw, not_found)
    lines = [escape.html(line) for line in block.lines]
    if block.kind == "list":
        labels = [escape.html(label_passage(answer, said)) for said in layout.sentences]
        items = [
            f'<span class="path">{label}</span> {draw(said)}' if label else draw(said)
            for label, said in zip(labels, layout.sentences, strict=True)
        ]
        return f"<ul><li>{'</li><li>'.join([*items, *lines])}</li></ul>"
    told = [" ".join(map(draw, layout.sentences))] if layout.sentences else []
    style = ' class="note"' if block.by_code else ""
    return "".join(f"<div{style}>{text}</div>" for text in [*told, *lines])


def _render_table(layout: BlockLayout, draw: Callable[[Sentence], str], not_found: str) -> str:
    """The table; on a narrow screen it scrolls sideways by itself."""
    block = layout.block
    heads = "".join(f'<th scope="col">{escape.html(head)}</th>' for head in block.heads)
    empty = f'<span class="gap">{not_found}</span>'
    rows = "".join(
        f'<tr><th scope="row">{escape.html(label)}</th>'
        f"{''.join(f'<td>{draw(cell) if cell else empty}</td>' for cell in cells)}</tr>"
        for label, cells in zip(block.row_labels, layout.rows, strict=True)
    )
    caption = f"<caption>{escape.html(block.text)}</caption>" if block.text else ""
    return f'<div class="scroll" tabindex="0"><table>{caption}<tr>{heads}</tr>{rows}</table></div>'


def draw_chart(layout: BlockLayout, run_id: str) -> None:
    """A chart of a table above it, with its caption."""
    chart = build_chart(layout.series, layout.block.heads[0], dark=st.context.theme.type == "dark")
    key = f"report-chart-{run_id}-{layout.block.id}"
    with st.container(key=f"{key}-box", width=CHART_WIDTH):
        st.altair_chart(chart, key=key, alt=layout.block.text)
        st.caption(escape.md(layout.block.text))


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
