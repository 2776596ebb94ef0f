"""The answer as a pane that keeps still: drawn once for each version by a component of our own, which tells
what in it was opened. That stands in the address (`?see=`) as RUN.a1.s3 for the third sentence of the first
answer of a run, RUN.a1.s3-2 for its source 2, RUN.c4f for a conflict."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import streamlit as st
from markupsafe import Markup

from agent.answering.conflict_sentences import RULING_PREFIX, is_disagreement
from agent.evidence.citation_check import diff_answers
from agent.evidence.report_words import words_for
from agent.evidence.support import describe_support
from agent.export.answer_blocks import write_body
from agent.export.blocks import Span, Table
from agent.export.webpage import render_block
from agent.text.plurals import format_count
from agent.types import Answer, AnswerBlock, Conflict, Sentence
from agent.workbench import RunSnapshot
from pages.widgets.evidence.conflict_list import describe_ruling
from pages.widgets.shell import badges, escape, labels, markup

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
"""What must be seen beside a sentence, and how loud it is. A good one has a quiet ✓."""
CHANGE_LABELS = {"added": "New", "removed": "Gone", "reworded": "Reworded", "resourced": "Other sources"}
CHECKED = {
    "quoted": "Quoted word for word",
    "computed": "Computed from its quotes",
    "judged_supported": "A model compared this with its quote and found it there",
}


def draw(answer: Answer, view: RunSnapshot) -> None:
    """The answer of a run, each part of it a way to its evidence; folded below it how it was found."""
    html = render(
        answer,
        view.run.id,
        view.run.question,
        view.state.conflicts.values(),
        heads=view.run.settings.flow == "research",
    )
    if answer.journey:
        told = escape.html(answer.journey)
        html += f'<details class="journey"><summary>How this was found</summary><p>{told}</p></details>'
    given = view.state.answers
    if len(given) > 1:
        since = f"What changed since answer {given[-2].n}"
        told = render_changes(given[-2], given[-1])
        html += f'<details class="journey" open><summary>{since}</summary>{told}</details>'
    see = st.query_params.get(SEE, "")
    if found := find_sentence(see, view):
        shown, number, source = found
        see = _name_sentence(view.run.id, shown, number) + (f"-{source}" if source else "")
    draw_html(html, f"answer-{view.run.id}", see)


def draw_html(html: str, key: str, see: str = "") -> None:
    """What is opened by a click in this HTML stands in its attributes `data-see`; `see` is opened."""
    version = hashlib.sha256(html.encode()).hexdigest()[:16]
    component = st.components.v2.component("touchstone_answer", js=SCRIPT, isolate_styles=False)
    component(
        key=key,
        data={"html": html, "version": version, SEE: see or st.query_params.get(SEE, "")},
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


def render(
    answer: Answer,
    run_id: str,
    question: str = "",
    conflicts: Iterable[Conflict] = (),
    *,
    heads: bool = False,
) -> str:
    """What the answer says, as HTML; empty cells are told in the language of the `question`. With `heads` a
    heading is opened as a sentence is: RUN.a1.h2 for the second one."""
    title = f'<h2 class="title">{escape.html(answer.title)}</h2>' if answer.title else ""
    kind = "answer document" if answer.length == "full" else "answer"
    if not answer.sentences:
        return f'<div class="{kind}">{title}<p>{escape.html(answer.certainty)}</p></div>'
    quiet, notes = _find_repeated_citations(answer, run_id)
    names = {id(said): _name_sentence(run_id, answer, n) for n, said in enumerate(answer.sentences, start=1)}
    on_sides = {i: found for found in conflicts for side in found.values for i in side.fact_ids}

    def write(said: Sentence) -> list[Span | str]:
        numbers = [] if id(said) in quiet else answer.citation_numbers(said)
        conflict = next((on_sides[i] for i in said.fact_ids if i in on_sides), None)
        return [Markup(_render_sentence(said, names[id(said)], numbers, conflict))]

    numbers = itertools.count(1)

    def write_heading(block: AnswerBlock) -> str:
        if block.by_code or not heads:
            return block.text
        see = f'{markup.see(f"{run_id}.a{answer.n}.h{next(numbers)}")} tabindex="0" role="button"'
        return Markup(f"<span {see}>{escape.html(block.text)}</span>")

    blocks = list[str]()
    tables = iter(notes)
    words = words_for(question)
    for block in write_body(answer, write, level=2, words=words, write_heading=write_heading):
        blocks.append(str(render_block(block)))
        if isinstance(block, Table) and (note := next(tables)):
            blocks.append(note)
    return f'<div class="{kind}">{title}{"".join(blocks)}</div>'


def _find_repeated_citations(answer: Answer, run_id: str) -> tuple[set[int], list[str]]:
    """The cells (by identity) whose citations stand once for their table, for cells beside them or for their
    column, and what is written below each table that has the same citations throughout."""
    quiet, notes = set[int](), list[str]()
    for block in (block for block in answer.blocks if block.kind == "table"):
        cells = [said for said in answer.sentences if said.block == block.id]
        cells.sort(key=lambda said: (said.row, said.column))
        cited = {(said.row, said.column): answer.citation_numbers(said) for said in cells}
        note = ""
        if (
            len(cells) > 1
            and cells
            and all(numbers == cited[cells[0].row, cells[0].column] for numbers in cited.values())
        ):
            quiet |= set(map(id, cells))
            first = _name_sentence(run_id, answer, answer.sentences.index(cells[0]) + 1)
            cites = _render_citations(answer.citation_numbers(cells[0]), first)
            note = f'<p class="soft small">Source of each cell: {cites}</p>' * bool(cites)
        rows, columns = (
            {
                id(said)
                for said in cells
                if cited.get((said.row + down, said.column + right)) == cited[said.row, said.column]
            }
            for down, right in ((0, 1), (1, 0))
        )
        quiet |= max(rows, columns, key=len)
        notes.append(note)
    return quiet, notes


def render_changes(old: Answer, new: Answer) -> str:
    """The difference between two answers as an HTML list."""
    found = diff_answers(old, new)
    items = []
    for kind, was, now in ((change.kind, change.old, change.new) for change in found):
        if kind != "same" and not (now and now.text.startswith(RULING_PREFIX)):  # a ruling is told above
            before = f"<del>{escape.html(was.text)}</del> " if was and kind in ("removed", "reworded") else ""
            after = escape.html(now.text) if now else ""
            items.append(f'<li class="{kind}">{badges.render(CHANGE_LABELS[kind])} {before}{after}</li>')
    same = sum(change.kind == "same" for change in found)
    kept = f'<p class="small soft">{format_count(same, "sentence")} unchanged.</p>' if same else ""
    was, now = (
        labels.mark_verdict(one.verdict)[0]
        + ("" if one.confidence is None else f", {one.certainty.partition(' (')[0].lower()}")
        for one in (old, new)
    )
    verdict = f"<p>Before: {escape.html(was)}. Now: {escape.html(now)}.</p>" if was != now else ""
    nothing = "" if items else "<p>The answer says the same.</p>"
    why = f'<p class="small">Updated {escape.html(new.because)}.</p>' if new.because else ""
    return f'<div class="ts">{why}{verdict}{nothing}<ul class="changes">{"".join(items)}</ul>{kept}</div>'


def _name_sentence(run_id: str, answer: Answer, n: int) -> str:
    return f"{run_id}.a{answer.n}.s{n}"


def _render_citations(numbers: Sequence[int], name: str) -> str:
    return "".join(
        f'<button type="button" class="cite" {markup.see(f"{name}-{n}")} '
        f'aria-label="Source {n}: show its quote">{n}</button>'
        for n in numbers
    )


def _render_sentence(said: Sentence, name: str, numbers: Sequence[int], conflict: Conflict | None) -> str:
    """A sentence on one side of a `conflict` (None: of none), its citations, and how it was checked: a quiet
    ✓, or what must be seen."""
    marks, told, text = list_marks(said), describe_check(said), said.text
    is_ruled = text.startswith(RULING_PREFIX)
    if conflict and is_ruled:
        text = f"{conflict.topic}: {describe_ruling(conflict)}"
    tone = f" {marks[0][1]}" if marks else ""
    kept = " kept" if "\n" in text else ""
    tip = f'title="{escape.html(told)}"'
    shown, checked = "", ""
    for label, loud in marks:
        see = f"{name.split('.')[0]}.{conflict.id}" if conflict and loud == "warn" else name
        shown += f'<button type="button" class="mark {loud}" {markup.see(see)}>{escape.html(label)}</button>'
    if not (marks or said.context or is_ruled) and said.check in CHECKED:
        dot = "·" * bool(describe_support(said).note)
        checked = f'<span class="mark good" {markup.see(name)} {tip}>✓{dot}</span>'
    reached = "" if numbers or marks else ' tabindex="0" role="button"'
    span = f'<span class="sentence{tone}{kept}" {markup.see(name)} {tip}{reached}>{escape.html(text)}</span>'
    return f'{span}<span class="cites">&#8288;{_render_citations(numbers, name)}{checked}</span>{shown}'


def list_marks(said: Sentence) -> list[tuple[str, str]]:
    """What must be seen beside a sentence, and how loud each is."""
    found = describe_support(said).marks
    if is_disagreement(said.text) and not said.disputed:
        found.append(("disputed", ""))
    return [(MARKS[key][0].format(what), MARKS[key][1]) for key, what in found]


def describe_check(said: Sentence) -> str:
    """How a sentence was checked, for who points at it."""
    if said.text.startswith(RULING_PREFIX):
        return "You decided this"
    support = describe_support(said)
    told = CHECKED.get(said.check, support.label)
    return ". ".join(filter(None, (told[:1].upper() + told[1:], support.note)))


def find_sentence(see: str, view: RunSnapshot) -> tuple[Answer, int, int] | None:
    """The answer, the number of its sentence and that of a source (0: none) that an address names; where the
    newest answer says the same, it is that. None for no such sentence of this run."""
    found = re.fullmatch(r"(\w{1,64})\.a(\d{1,6})\.s(\d{1,6})(?:-(\d{1,6}))?", see, re.ASCII)
    if not found or found[1] != view.run.id:
        return None
    number, source = int(found[3]), int(found[4] or 0)
    answer = next((one for one in view.state.answers if one.n == int(found[2])), None)
    if answer is None or not 0 < number <= len(answer.sentences):
        return None
    newest = view.state.answers[-1]
    claims = [said.claim for said in newest.sentences]
    if newest.n != answer.n and (claim := answer.sentences[number - 1].claim) in claims:
        return newest, claims.index(claim) + 1, 0
    return answer, number, source
