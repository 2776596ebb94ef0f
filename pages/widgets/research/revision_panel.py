"""The revision of an answer: how a note was understood, comments on a sentence or a section, and the other
questions of the run's thread."""

from __future__ import annotations

import streamlit as st

from agent.answering.revision import describe_target, restate_guidance, state_understood
from agent.evidence.citation_check import diff_answers
from agent.text.urls import is_excluded
from agent.types import Answer, NoteReading, Status
from agent.workbench import RunSnapshot
from pages.widgets.shell import client, drafts, escape, places, ui


@places.in_place
def draw_understood(view: RunSnapshot) -> None:
    """How the newest note was understood, while it is followed and beside the answer that came of it; before
    there is an answer how the newest guidance was."""
    if reading := find_shown_reading(view):
        st.html(render_understood(view, reading))
    elif told := restate_guidance(view.state, has_model=client.has_model(view.run.settings.model)):
        st.html(
            f'<div class="ts band understood" role="status"><b>Your guidance.</b> {escape.html(told)}</div>'
        )


def find_shown_reading(view: RunSnapshot) -> NoteReading | None:
    """The newest reading of a note, unless an answer was written for another reason since."""
    read = [reading for reading in view.state.readings if reading.note >= 0]
    later = [answer for answer in view.state.answers if read and answer.step > read[-1].step]
    return read[-1] if read and len(later) < 2 else None


def render_understood(view: RunSnapshot, reading: NoteReading) -> str:
    """What becomes of the note as HTML; it is done only where the answer written for it shows that."""
    effects = state_understood(reading, view.state.plan)
    answers = view.state.answers
    if not answers or answers[-1].step <= reading.step:
        told = f"<b>Your note is followed.</b> {escape.html(effects)}"
    elif len(answers) > 1 and is_done(reading, *answers[-2:]):
        told = f"<b>Your note is done.</b> {escape.html(effects)}"
    else:
        again = "Send the answer back in other words."
        told = f"<b>The answer does not show your note.</b> {escape.html(effects)} {again}"
    return f'<div class="ts band understood" role="status">{told}</div>'


def is_done(reading: NoteReading, old: Answer, new: Answer) -> bool:
    """Whether the new answer differs from the old one, and nothing stays that the note takes away."""
    is_changed = any(change.kind != "same" for change in diff_answers(old, new))
    gone = {describe_target(old, name) for name in reading.removed}
    return (
        (is_changed or len(old.text) != len(new.text))
        and gone.isdisjoint(said.claim for said in new.sentences)
        and not any(is_excluded(source.url, reading.excluded_sites) for source in new.sources)
    )


@places.in_place
def draw_comment(view: RunSnapshot, target: str) -> None:
    """What was commented on a sentence or section, by its id, and the form for another comment."""
    text = describe_target(view.state.answers[-1], target)
    said = [note for note in view.state.notes if note.kind == "comment" and note.quoted == text]
    told = [f"<p><b>You commented:</b> {escape.html(note.text)}</p>" for note in said]
    st.html(f'<div class="ts small">{"".join(told)}</div>')
    if view.run.status is not Status.REVIEW or not text:
        return
    draft = f"comment:{view.run.id}:{len(view.state.answers)}:{target}"
    with st.container(key="research-comment"):
        hint = "e.g. source? · too vague · recent figures"
        drafts.text_area("Comment on it", draft, placeholder=hint, height=80, given="")
        with st.container(horizontal=True, vertical_alignment="center"):
            args = (view.run.id, view.head, target, draft)
            ui.button("Send comment", "research-comment-send", _send_comment, *args, type="primary")
            ui.private_box(draft)
        st.caption("Its section or table is looked at again; the rest of the answer stays as it is.")


def _send_comment(run_id: str, head: int, target: str, draft: str) -> None:
    given = {"target": target, "text": drafts.read(draft), "private": ui.is_private(draft)}
    client.act(run_id, "comment", head, then=lambda _: drafts.clear(draft), **given)


def render_thread(view: RunSnapshot) -> str:
    """The other questions of the run's thread as links, as HTML; "" where there is none."""
    turns = client.workbench().thread(view.run.id)
    if len(turns) < 2:
        return ""
    links = list[str]()
    for run_id in turns:
        question = client.workbench().snapshot(run_id).run.question
        name = escape.html(escape.shorten(question, 80))
        is_here = run_id == view.run.id
        links.append(f"<b>{name}</b>" if is_here else f'<a href="?run={run_id}" target="_self">{name}</a>')
    return f'<p class="small soft">In this thread: {" → ".join(links)}</p>'
