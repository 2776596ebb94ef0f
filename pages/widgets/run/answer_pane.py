"""The answer as a pane that keeps still: drawn once for each version by a component of our own, which tells
what in it was opened. That stands in the address (`?see=`) as RUN.s3 for the third sentence of the newest
answer of a run, RUN.s3-2 for its source 2."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

import streamlit as st
from markupsafe import Markup

from agent.answering.conflict_sentences import is_disagreement
from agent.evidence.report_words import words_for
from agent.evidence.support import Support, describe_support
from agent.export.answer_blocks import write_body
from agent.export.blocks import Span, Table
from agent.export.webpage import render_block
from agent.types import Answer, Sentence
from agent.workbench import RunSnapshot
from pages.widgets.run import answer_changes
from pages.widgets.shell import escape

SCRIPT = (Path(__file__).parent / "answer_pane.js").read_text(encoding="utf-8")
SEE, PANE = "see", "pane"
ANSWER, EVIDENCE = "Answer", "Evidence"
MARKS = {
    "not_supported": ("✗ not in its sources", "bad"),
    "differs": ("≠ differs from its quote", "bad"),
    "not_checked": ("⊘ not checked", "mute"),
    "order": ("⊘ an order to machines", "mute"),
    "absent": ("✗ not in its sources: {}", "bad"),
    "disputed": ("sources disagree", "warn"),
}
"""What must be seen beside a sentence, and how loud it is. A good one has none."""
CHECKED = {
    "quoted": "Quoted word for word",
    "computed": "Computed from its quotes",
    "judged_supported": "A model compared this with its quote and found it there",
}


def draw(answer: Answer, view: RunSnapshot) -> None:
    """The answer of a run, each part of it a way to its evidence; folded below it how it was found."""
    html = render(answer, view.run.id, view.run.question)
    if answer.journey:
        told = escape.html(answer.journey)
        html += f'<details class="journey"><summary>How this was found</summary><p>{told}</p></details>'
    given = view.state.answers
    if len(given) > 1:
        since = f"What changed since answer {given[-2].n}"
        told = answer_changes.render(given[-2], given[-1])
        html += f'<details class="journey" open><summary>{since}</summary>{told}</details>'
    draw_html(html, f"answer-{view.run.id}")


def draw_html(html: str, key: str) -> None:
    """What is opened by a click in this HTML stands in its attributes `data-see`."""
    version = hashlib.sha256(html.encode()).hexdigest()[:16]
    component = st.components.v2.component("touchstone_answer", js=SCRIPT, isolate_styles=False)
    component(
        key=key,
        data={"html": html, "version": version, SEE: st.query_params.get(SEE, "")},
        on_see_change=lambda: open_evidence(getattr(st.session_state.get(key), SEE, "") or ""),
    )


def open_evidence(see: str) -> None:
    """Show the evidence of this beside the answer; "" for the lists again. Only in a callback."""
    if see:
        st.query_params[SEE] = see
        st.session_state[PANE] = EVIDENCE
    else:
        st.query_params.pop(SEE, None)


def draw_switch() -> None:
    """On a narrow window the choice between the two panes, which are beside each other on a wide one."""
    with st.container(key="pane-switch"):
        st.session_state.setdefault(PANE, ANSWER)
        chosen = st.segmented_control(
            "Show", [ANSWER, EVIDENCE], key=PANE, required=True, label_visibility="collapsed"
        )
    hidden = "answer" if chosen == EVIDENCE else "evidence"
    st.html(f"<style>@media (max-width: 1099px) {{ .st-key-pane-{hidden} {{ display: none }} }}</style>")


def render(answer: Answer, run_id: str, question: str = "") -> str:
    """What the answer says, as HTML; empty cells are told in the language of the `question`."""
    title = f'<h2 class="title">{escape.html(answer.title)}</h2>' if answer.title else ""
    kind = "answer document" if answer.length == "full" else "answer"
    if not answer.sentences:
        return f'<div class="{kind}">{title}<p>{escape.html(answer.certainty)}</p></div>'
    quiet, notes = _find_repeated_citations(answer, run_id)
    names = {id(said): f"{run_id}.s{n}" for n, said in enumerate(answer.sentences, start=1)}

    def write(said: Sentence) -> list[Span | str]:
        numbers = [] if id(said) in quiet else answer.citation_numbers(said)
        return [Markup(_render_sentence(said, names[id(said)], numbers))]

    blocks = list[str]()
    tables = iter(notes)
    for block in write_body(answer, write, level=2, words=words_for(question)):
        blocks.append(str(render_block(block)))
        if isinstance(block, Table) and (note := next(tables)):
            blocks.append(note)
    return f'<div class="{kind}">{title}{"".join(blocks)}</div>'


def _find_repeated_citations(answer: Answer, run_id: str) -> tuple[set[int], list[str]]:
    """The cells (by identity) whose citations stand once for their table or row, and what is written below
    each table that has the same citations throughout."""
    quiet, notes = set[int](), list[str]()
    for block in (block for block in answer.blocks if block.kind == "table"):
        rows: dict[int, list[Sentence]] = {}
        for said in answer.sentences:
            if said.block == block.id:
                rows.setdefault(said.row, []).append(said)
        cells = [said for row in rows.values() for said in row]
        cited = {tuple(answer.citation_numbers(said)) for said in cells}
        note = ""
        if len(cells) > 1 and len(cited) == 1 and any(cited):
            quiet |= set(map(id, cells))
            first = f"{run_id}.s{answer.sentences.index(cells[0]) + 1}"
            cites = _render_citations(next(iter(cited)), first)
            note = f'<p class="soft small">Source of each cell: {cites}</p>'
        for row in rows.values():
            if len({tuple(answer.citation_numbers(said)) for said in row}) == 1:
                quiet |= {id(said) for said in sorted(row, key=lambda said: said.column)[:-1]}
        notes.append(note)
    return quiet, notes


def _render_citations(numbers: Sequence[int], name: str) -> str:
    return "".join(
        f'<button type="button" class="cite" data-see="{name}-{n}" '
        f'aria-label="Source {n}: show its quote">{n}</button>'
        for n in numbers
    )


def _render_sentence(said: Sentence, name: str, numbers: Sequence[int]) -> str:
    """A sentence, its citations, and what must be seen beside it."""
    support = describe_support(said)
    marks = [(MARKS[key], what) for key, what in support.marks]
    if is_disagreement(said.text) and not said.disputed:
        marks.append((MARKS["disputed"], ""))
    tone = f" {marks[0][0][1]}" if marks else ""
    kept = " kept" if "\n" in said.text else ""
    told = escape.html(describe_check(said, support))
    text = (
        f'<span class="sentence{tone}{kept}" data-see="{name}" title="{told}">{escape.html(said.text)}</span>'
    )
    shown = "".join(
        f'<button type="button" class="mark {tone}" data-see="{name}">'
        f"{escape.html(label.format(what))}</button>"
        for (label, tone), what in marks
    )
    return text + _render_citations(numbers, name) + shown


def describe_check(said: Sentence, support: Support) -> str:
    """How a sentence was checked, for who points at it."""
    told = CHECKED.get(said.check, support.label)
    return ". ".join(filter(None, (told[:1].upper() + told[1:], support.note)))


def find_opened(see: str) -> tuple[str, int, int]:
    """The run, the number of the sentence and that of its source (0: none) that an address names; ("", 0, 0)
    for none."""
    if not (found := re.fullmatch(r"(\w{1,64})\.s(\d{1,6})(?:-(\d{1,6}))?", see, re.ASCII)):
        return "", 0, 0
    return found[1], int(found[2]), int(found[3] or 0)
