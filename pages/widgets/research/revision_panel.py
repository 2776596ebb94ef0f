"""The revision of an answer: how a note was understood, a comment on one sentence (`?comment=` in the address
names it), and a further question in the run's thread."""

from __future__ import annotations

import streamlit as st

from agent.answering.revision import describe_target, restate_guidance, state_understood
from agent.types import NoteReading, Status
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
    """The reading as HTML, with what to do where it is wrong."""
    how = "Not what you meant? Add guidance: it corrects this."
    if view.run.status in (Status.REVIEW, Status.DONE):
        first = (
            "Reopen the answer, then send it back"
            if view.run.status is Status.DONE
            else "Send the answer back"
        )
        how = f"Not what you meant? {first} with another note."
    said = escape.html(state_understood(reading, view.state.plan))
    hint = f'<span class="soft">{how}</span>'
    return f'<div class="ts band understood" role="status"><b>Your note.</b> {said} {hint}</div>'


@places.in_place
def draw_comment(view: RunSnapshot, target: str) -> None:
    """The form for a comment on a sentence or section, by its id."""
    if view.run.status is not Status.REVIEW or not describe_target(view.state.answers[-1], target):
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
    def sent(_: None) -> None:
        drafts.clear(draft)

    given = {"target": target, "text": drafts.read(draft), "private": ui.is_private(draft)}
    client.act(run_id, "comment", head, then=sent, **given)


def render_thread(view: RunSnapshot) -> str:
    """The other questions of the run's thread as links, as HTML; "" where there is none."""
    turns = client.workbench().thread(view.run.id)
    if len(turns) < 2:
        return ""
    links = list[str]()
    for run_id in turns:
        question = client.workbench().snapshot(run_id).run.question
        name, url = escape.html(escape.shorten(question, 80)), escape.run_url(run_id)
        is_here = run_id == view.run.id
        links.append(f"<b>{name}</b>" if is_here else f'<a href="{url}" target="_self">{name}</a>')
    return f'<p class="small soft">In this thread: {" → ".join(links)}</p>'
