"""Two runs side by side on the screen: their tables cell by cell, their answers sentence by sentence, with
the facts of each."""

from __future__ import annotations

import streamlit as st

from agent.engine.snapshots import RunSnapshot
from agent.evidence.citation_check import diff_answers
from agent.export.hiding import is_withheld
from agent.types import Answer, Sentence
from pages.widgets.run import status_line
from pages.widgets.shell import badges, escape, labels, markup, routes, ui

CHANGE_LABELS = {
    "added": "only in 2",
    "removed": "only in 1",
    "reworded": "reworded",
    "resourced": "other sources",
    "same": "the same",
}


def draw(one: RunSnapshot, two: RunSnapshot) -> None:
    """The whole screen."""
    st.set_page_config(page_title=f"Compare: {escape.shorten(one.run.question, 40)} · Touchstone")
    with st.container(horizontal=True, key="compare-ways"):
        for n, run in ((1, one.run), (2, two.run)):
            label = f"Open run {n}"
            ui.link(routes.page_for_flow(run.settings.flow), label, "arrow_forward", {"run": run.id})
        both = {"run": two.run.id, "with": one.run.id}
        ui.link("pages/compare.py", "Swap", "swap_horiz", both)
    if world := status_line.describe_world(one.run.settings):
        st.html(f'<div class="ts small soft">{world}</div>')
    is_one_question = one.run.question == two.run.question
    title = escape.html(one.run.question) if is_one_question else "Two runs, two questions"
    runs = "".join(_render_run(n, view, is_one_question) for n, view in ((1, one), (2, two)))
    st.html(f'<div class="ts"><h1 class="ts-question">{title}</h1><div class="pair">{runs}</div></div>')
    st.html(render_tables(one.state.answer, two.state.answer) + render_answers(one, two))


def _render_run(n: int, view: RunSnapshot, is_one_question: bool) -> str:
    """A run with how it stands and what a person noted."""
    run, answer = view.run, view.state.answer
    marks = [labels.STATUS[run.status]]
    marks += [labels.mark_verdict(answer.verdict)] if answer and answer.verdict else []
    marks += [("branched", "")] if run.forked_from else []
    asked = "" if is_one_question else f"<h2>{escape.html(run.question)}</h2>"
    notes = "".join(
        f'<p class="small"><b>Note:</b> {escape.html(note.text)}</p>'
        for note in view.state.notes
        if not is_withheld(note.text)
    )
    said = escape.html(answer.certainty) if answer else "There is no answer yet."
    when = f'<p class="small soft">Run {escape.html(run.id)}, {labels.format_time(run.created_at)}</p>'
    return (
        f'<div><div class="chips"><span class="n">{n}</span>{badges.render_row(marks)}</div>'
        f'{asked}{when}{notes}<p class="soft">{said}</p></div>'
    )


def render_tables(one: Answer | None, two: Answer | None) -> str:
    """The tables of both answers as one, as HTML: a cell that is the same stands once, another twice."""
    sides = _read_cells(one), _read_cells(two)
    names = {at: name for side in sides for at, (name, _) in side.items()}
    titles = {row: title for (row, _), (title, _) in names.items()}
    heads = {head: title for (_, head), (_, title) in names.items()}
    groups: dict[str, list[str]] = {}  # rows that share a column with its first are of one table
    for row in titles:
        own = [head for label, head in names if label == row]
        first = next((one for one in groups if any((one, head) in names for head in own)), row)
        groups.setdefault(first, []).append(row)

    def render(*at: str) -> str:
        first, second = (side[at][1] if at in side else "" for side in sides)
        if first == second:
            return escape.html(first) or "–"
        return f"<b>1</b> {escape.html(first) or '–'}<br><b>2</b> {escape.html(second) or '–'}"

    tables = ""
    for group in groups.values():
        columns = [head for head in heads if any((row, head) in names for row in group)]
        rows = [[escape.html(titles[row]), *(render(row, head) for head in columns)] for row in group]
        tables += markup.table(["", *(escape.html(heads[head]) for head in columns)], rows, "wide")
    head = '<h2 class="ts-section">The tables, cell by cell</h2>'
    return f'<div class="ts">{head}{tables}</div>' if tables else ""


def _read_cells(answer: Answer | None) -> dict[tuple[str, str], tuple[tuple[str, str], str]]:
    """The cells of an answer's tables by the label of their row and the head of their column, in small
    letters: both as they stand, and what the cell says."""
    blocks = {block.id: block for block in answer.blocks if block.kind == "table"} if answer else {}
    cells: dict[tuple[str, str], tuple[tuple[str, str], str]] = {}
    for said in answer.sentences if answer else ():
        rows, heads = (block.row_labels, block.heads) if (block := blocks.get(said.block)) else ([], [])
        if 0 <= said.row < len(rows) and 0 <= said.column < len(heads):
            row, head = rows[said.row], heads[said.column]
            cells[row.casefold(), head.casefold()] = (row, head), said.text
    return cells


def render_answers(one: RunSnapshot, two: RunSnapshot) -> str:
    """The two answers sentence by sentence, each beside the one it goes with, with its facts."""
    nothing = Answer(n=0, verdict="no_evidence")
    changes = diff_answers(one.state.answer or nothing, two.state.answer or nothing)
    changes = [said for said in changes if all(one.row < 0 for one in (said.old, said.new) if one)]
    rows = "".join(
        _render_cell(1, said.kind, said.old, one) + _render_cell(2, said.kind, said.new, two)
        for said in changes
    )
    count = {kind: sum(said.kind == kind for said in changes) for kind in CHANGE_LABELS}
    chips = badges.render_row((f"{n} {CHANGE_LABELS[kind]}", "") for kind, n in count.items() if n)
    body = f'<div class="chips">{chips}</div><div class="paired">{rows}</div>'
    return f'<div class="ts"><h2 class="ts-section">The answers, sentence by sentence</h2>{body}</div>'


def _render_cell(n: int, kind: str, sentence: Sentence | None, view: RunSnapshot) -> str:
    if sentence is None:
        return f'<div class="none small" data-n="{n}">not in this answer</div>'
    facts = "".join(
        f"<li>“{escape.html(escape.shorten(fact.quote, 240))}” {escape.html(escape.host(fact.url))}</li>"
        for fact in map(view.state.facts.get, sentence.fact_ids)
        if fact
    )
    listed = f'<ul class="small soft">{facts}</ul>' if facts else ""
    return f'<div class="{kind}" data-n="{n}">{escape.html(sentence.text)}{listed}</div>'
