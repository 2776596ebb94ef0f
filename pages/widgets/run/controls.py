"""What a person may do with a run: pause, go on, stop, have it answer now, give it a note; accept or send
back its answer."""

from __future__ import annotations

from typing import Any

import streamlit as st

from agent.actions.acts import find_recorded_act
from agent.actions.export import export_run
from agent.types import Status
from agent.workbench import RunSnapshot
from pages.widgets.run import export_menu, pause_prompt
from pages.widgets.shell import client, drafts, escape, labels, places, ui

NOTE_POPOVER = "research-steer"
ACTIVE_STATUSES = (Status.RUNNING, Status.WAITING, Status.PAUSED)
RESUME_LABELS = {Status.PAUSED: "Resume", Status.STOPPED: "Continue", Status.FAILED: "Try again"}


@places.in_place
def draw(view: RunSnapshot) -> None:
    """The row of buttons that fit how the run stands."""
    status = view.run.status
    if status not in (*ACTIVE_STATUSES, *RESUME_LABELS):
        return
    draw_other_model(view)
    with st.container(horizontal=True, vertical_alignment="center", key="research-controls"):
        _draw_steering(view)
        if status in (*ACTIVE_STATUSES, Status.STOPPED) and not _is_check(view):
            with ui.popover("Add guidance", NOTE_POPOVER, "sticky_note_2"):
                _draw_note_form(view)
        if view.run.settings.flow == "research":
            _draw_until(view)
        if status is not Status.RUNNING and not view.state.answers:
            export_menu.draw(view)


def draw_other_model(view: RunSnapshot) -> None:
    """That another model or server is set up than the run had, where it is; and the choice."""
    bench, own = client.workbench(), view.run.settings
    if told := bench.explain_other_model(own):
        st.caption(escape.md(told))
        with st.container(horizontal=True):
            if name := bench.worker.name_model(own):
                mark, label = bench.worker.mark_model(own), f"Go on with {escape.md(name)}"
                given = {"served_by": mark}
                ui.act(view, "keep_model", "research-keep-model", label, icon="play_arrow", given=given)
            ui.act(view, "drop_model", "research-drop-model", icon="mode_off_on")


def draw_recorded_act(view: RunSnapshot) -> None:
    """In an example of the demo: what a person may do now, and its replies are recorded, too."""
    if act := find_recorded_act(view):
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key="recorded-act"):
            st.caption("Try it, recorded too:", width="content")
            more: Any = {"icon": "touch_app", "given": act.given, "type": "tertiary"}
            ui.act(view, act.act, "research-recorded-act", escape.md(act.label), **more)


def _is_check(view: RunSnapshot) -> bool:
    """Whether it checks a text: it takes no guidance, and writes no answer."""
    return view.run.settings.flow == "check_text"


def _draw_steering(view: RunSnapshot) -> None:
    """Pause, resume, stop, finish: those that fit, in one box, so that what follows keeps its position."""
    status = view.run.status
    asks = getattr(pause_prompt.find_pause_request(view), "kind", "model") != "model"  # its card goes on
    with st.container(horizontal=True, width="content"):
        ui.act(view, "pause", "research-pause", icon="pause")
        if status in RESUME_LABELS and not asks:
            label = RESUME_LABELS[status]
            ui.act(view, "resume", "research-resume", label, icon="play_arrow", type="primary")
        ui.act(view, "stop", "research-stop", icon="stop")
        if view.state.facts and not asks:
            what = "End with" if _is_check(view) else "Write the answer from"
            label = "Finish now" if _is_check(view) else ""
            hint = f"{what} what was found so far"
            ui.act(view, "finish", "research-finish", label, icon="edit_note", help=hint)


def _draw_until(view: RunSnapshot) -> None:
    """How far it goes by itself; another choice holds from its next decision on."""
    key = f"research-until-{view.run.id}"
    st.session_state[key] = view.run.settings.stop_point
    ui.select(
        "Run until",
        labels.UNTIL,
        key,
        label_visibility="collapsed",
        on_change=lambda: client.submit(_go_on_until, view.run.id, st.session_state[key]),
        width=260,
    )


def draw_review(view: RunSnapshot) -> None:
    """Accept the answer, or send it back with a note (then the same run goes on); take it along."""
    if view.run.status is Status.REVIEW:
        draw_other_model(view)
        draw_recorded_act(view)
    with st.container(horizontal=True, vertical_alignment="center", key="research-review"):
        draw_answer_acts(view)


def _go_on_until(run_id: str, until: str) -> None:
    """Set where it stops next; what waits to be approved is approved, unless each step is to be."""
    bench = client.workbench()
    bench.act(run_id, "until", until=until)
    view = bench.snapshot(run_id)
    pending = view.state.pending if view.run.status is Status.WAITING else None
    if pending and pending.next_action != "ask" and until != "step":
        bench.act(run_id, "approve", view.head)


def draw_answer_acts(view: RunSnapshot) -> None:
    """What may be done with an answer, for a row."""
    _draw_verdict(view)
    if view.run.settings.flow == "research" and view.state.answers[-1].sentences:
        _draw_lengths(view)
        _draw_copy(view)
    export_menu.draw(view)


def _draw_verdict(view: RunSnapshot) -> None:
    """Accept, send back, or reopen: in one box, so that what follows keeps its position."""
    run_id, head = view.run.id, view.head
    with st.container(horizontal=True, width="content"):
        if view.run.status is Status.REVIEW:
            first = "primary" if view.state.answers and view.state.answers[-1].sentences else "secondary"
            ui.act(view, "accept", "research-accept", icon="check", type=first)
            with st.popover("Send back", icon=":material/undo:", key="research-send-back"):
                hint = "e.g. Which year? Leave out wiki.example."
                drafts.text_area("What is wrong or missing?", f"back:{run_id}", placeholder=hint)
                st.caption(_explain_notes(view))
                ui.private_box(f"back:{run_id}")
                ui.button(
                    "Send back and continue", "research-back-send", _send_back, run_id, head, type="primary"
                )
        hint = "Review it again: send it back, comment on it, edit its facts"
        ui.act(view, "reopen", "research-reopen", icon="lock_open", help=hint)


def _explain_notes(view: RunSnapshot) -> str:
    """What becomes of a note, for the form."""
    if view.run.settings.flow != "research":
        return ""
    if not client.has_model(view.run.settings.model):
        return (
            "No model reads the note: its words are searched for next, unless it is private. A source or a "
            "fact is left out by its own button."
        )
    if not view.state.answers:
        return ""
    return "Only what the note asks for is changed; how it was understood is shown first."


def _draw_copy(view: RunSnapshot) -> None:
    """The answer as Markdown with numbered references, to be copied."""
    opened = ui.popover("Copy", "research-copy", "content_copy", help="The answer as text")
    if opened.open:
        with opened:
            st.caption("Markdown, as `export` writes it. The sign at the corner copies it.")
            text = export_run(client.workbench(), view.run.id, "md").decode()
            st.code(text, language="markdown", wrap_lines=True, height=320)


def _draw_lengths(view: RunSnapshot) -> None:
    """The other lengths that the answer may be written in, from what is known."""
    written = view.state.answers[-1].length
    with st.popover("Length", icon=":material/format_size:", key="research-length"):
        st.caption("Written again from the facts found; nothing is searched.")
        told = labels.describe_lengths(has_model=client.has_model(view.run.settings.model))
        for length, (name, about) in told.items():
            more = {"help": about, "disabled": length == written, "width": "stretch"}
            ui.act(view, "rewrite", f"research-length-{length}", name, given={"length": length}, **more)


def _send_back(run_id: str, head: int) -> None:
    draft = f"back:{run_id}"
    note = {"note": drafts.read(draft), "private": ui.is_private(draft)}
    client.act(run_id, "send_back", head, then=lambda _: drafts.clear(draft), **note)


def _draw_note_form(view: RunSnapshot) -> None:
    run_id, hint = view.run.id, "e.g. Leave out wiki.example. Look for the year, too."
    drafts.text_area("Guidance for the next steps", f"note:{run_id}", placeholder=hint)
    st.caption(_explain_notes(view))
    ui.private_box(f"note:{run_id}")
    ui.button("Send guidance", "research-note-send", _send_note, run_id, type="primary")


def _send_note(run_id: str) -> None:
    draft = f"note:{run_id}"

    def sent(_: None) -> None:
        drafts.clear(draft)
        ui.close_popover(NOTE_POPOVER)

    note = {"note": drafts.read(draft), "private": ui.is_private(draft)}
    client.act(run_id, "steer", done="Noted. The next step follows it.", then=sent, **note)
