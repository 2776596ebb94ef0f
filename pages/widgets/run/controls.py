"""What a person may do with a run, in a bar that is always in view: pause, go on, stop, have it answer now,
give it a note; accept or send back its answer, ask a further question."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import streamlit as st

from agent.actions.acts import find_recorded_act
from agent.actions.export import export_run
from agent.batch import schedules
from agent.types import Settings, Status
from agent.workbench import RunSnapshot
from pages.widgets.forms import form_page
from pages.widgets.research import revision_panel
from pages.widgets.run import export_menu, pause_prompt
from pages.widgets.schedules import form
from pages.widgets.shell import client, drafts, escape, labels, markup, places, polling, ui

NOTE_POPOVER = "research-steer"
ACTIVE_STATUSES = (Status.RUNNING, Status.WAITING, Status.PAUSED)
THREADED_FLOWS = ("research", "site")
"""Those whose runs take a further question."""
NOTES = {
    "note": (
        "steer",
        "Guidance for the next steps",
        "e.g. Leave out wiki.example. Look for the year, too.",
        "Send guidance",
        "Noted. The next step follows it.",
    ),
    "back": (
        "send_back",
        "What is wrong or missing?",
        "e.g. Which year? Leave out wiki.example.",
        "Send back and continue",
        "",
    ),
}
"""The notes that a run takes: the act, the field's label and hint, the button, what is told after."""
RESUME_LABELS = {Status.PAUSED: "Resume", Status.STOPPED: "Continue", Status.FAILED: "Try again"}


def draw_bar(view: RunSnapshot) -> None:
    """The bar with what fits how the run stands."""
    answers, flow = view.state.answers, view.run.settings.flow
    with st.container(key="run-bar"):
        pause_prompt.draw(view, in_bar=True)
        if flow == "research" and answers and not view.run.is_accepted:
            revision_panel.draw_understood(view)
        if view.run.status not in (Status.REVIEW, Status.DONE) or not answers:
            draw(view)
            return
        draw_review(view, _draw_further_question if flow in THREADED_FLOWS else None)
    if flow in THREADED_FLOWS:
        drafts.track_chat_box(f"follow:{view.run.id}")


@places.in_place
def draw(view: RunSnapshot) -> None:
    """The row of buttons that fit how the run stands."""
    status, is_check = view.run.status, view.run.settings.flow in ("check_text", "verify_again")
    if status not in (*ACTIVE_STATUSES, *RESUME_LABELS):
        return
    asks = getattr(pause_prompt.find_pause_request(view), "kind", "model") != "model"  # its card goes on
    _draw_other_model(view)
    with st.container(horizontal=True, vertical_alignment="center", key="research-controls"):
        with st.container(horizontal=True, width="content"):  # one box: what follows keeps its position
            ui.act(view, "pause", "research-pause", icon="pause")
            if status in RESUME_LABELS and not asks:
                look: Any = {"icon": "play_arrow", "type": "primary"}
                ui.act(view, "resume", "research-resume", RESUME_LABELS[status], **look)
            ui.act(view, "stop", "research-stop", icon="stop")
            if view.state.facts and not asks:  # a check of a text takes no guidance and writes no answer
                label, what = ("Finish now", "End with") if is_check else ("", "Write the answer from")
                more: Any = {"icon": "edit_note", "help": f"{what} what was found so far"}
                ui.act(view, "finish", "research-finish", label, **more)
        if status in (*ACTIVE_STATUSES, Status.STOPPED) and not is_check:
            with ui.popover("Add guidance", NOTE_POPOVER, "sticky_note_2"):
                _draw_note_form(view, "note")
        if view.run.settings.flow == "research":
            _draw_until(view)
        if status is not Status.RUNNING and not view.state.answers:
            export_menu.draw(view)


def _draw_other_model(view: RunSnapshot) -> None:
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


def _draw_until(view: RunSnapshot) -> None:
    """How far it goes by itself; another choice holds from its next decision on."""
    key = f"research-until-{view.run.id}"
    st.session_state[key] = view.run.settings.stop_point
    more: Any = {"label_visibility": "collapsed", "width": 260, "args": (_go_on_until, view.run.id, key)}
    ui.select("Run until", labels.UNTIL, key, on_change=client.submit, **more)


def _go_on_until(run_id: str, key: str) -> None:
    """Set where it stops next; what waits to be approved is approved, unless each step is to be."""
    bench, until = client.workbench(), st.session_state[key]
    bench.act(run_id, "until", until=until)
    view = bench.snapshot(run_id)
    pending = view.state.pending if view.run.status is Status.WAITING else None
    if pending and pending.next_action != "ask" and until != "step":
        bench.act(run_id, "approve", view.head)


def draw_review(view: RunSnapshot, draw_more: Callable[[RunSnapshot], None] | None = None) -> None:
    """Accept the answer, send it back with a note (then the same run goes on), reopen it; take it along."""
    is_research, answer = view.run.settings.flow == "research", view.state.answers[-1]
    if view.run.status is Status.REVIEW:
        _draw_other_model(view)
        draw_recorded_act(view)
    with st.container(horizontal=True, vertical_alignment="center", key="research-review"):
        with st.container(horizontal=True, width="content"):  # one box: what follows keeps its position
            if view.run.status is Status.REVIEW:
                look = "primary" if answer.sentences else "secondary"
                ui.act(view, "accept", "research-accept", icon="check", type=look)
                with st.popover("Send back", icon=":material/undo:", key="research-send-back"):
                    _draw_note_form(view, "back")
            hint = "Review it again: send it back, comment on it, edit its facts"
            ui.act(view, "reopen", "research-reopen", icon="lock_open", help=hint)
        if is_research and answer.sentences:
            _draw_lengths(view)
            opened = ui.popover("Copy", "research-copy", "content_copy", help="The answer as text")
            if opened.open:
                with opened:
                    st.caption("Markdown, as `export` writes it. The sign at the corner copies it.")
                    text = export_run(client.workbench(), view.run.id, "md").decode()
                    st.code(text, language="markdown", wrap_lines=True, height=320)
        export_menu.draw(view)
        if view.run.status is Status.DONE:
            hint = "Fetch its pages again: do its quotes still stand there?"
            more: Any = {"icon": "update", "type": "tertiary", "help": hint, "given": {"then": _show_run}}
            ui.act(view, "verify_again", "research-verify-again", **more)
        if view.state.schedule:
            ui.link("pages/schedules.py", "Its schedule", "event_repeat")
        elif not view.state.history:  # a further question needs its conversation
            key, bench, hint = f"repeat-{view.run.id}", client.workbench(), "Ask it again at set times"
            if (opened := ui.popover("Repeat…", key, "event_repeat", type="tertiary", help=hint)).open:
                with opened, st.container(key="schedule-form-new"):
                    told = "Each time is a run of its own with the limits of this one, up to its answer."
                    st.html(f'<div class="ts">{markup.paragraph(told)}</div>')
                    form.draw(key, functools.partial(schedules.create, bench, repeats=view.run.id))
        if draw_more:
            draw_more(view)


def _draw_lengths(view: RunSnapshot) -> None:
    """The other lengths that the answer may be written in, from what is known."""
    written = view.state.answers[-1].length
    with st.popover("Length", icon=":material/format_size:", key="research-length"):
        st.caption("Written again from the facts found; nothing is searched.")
        told = labels.describe_lengths(has_model=client.has_model(view.run.settings.model))
        for length, (name, about) in told.items():
            more = {"help": about, "disabled": length == written, "width": "stretch"}
            ui.act(view, "rewrite", f"research-length-{length}", name, given={"length": length}, **more)


def _draw_note_form(view: RunSnapshot, kind: str) -> None:
    """A note, what becomes of it, and the box that keeps it private."""
    _, label, hint, send, _ = NOTES[kind]
    draft, told = f"{kind}:{view.run.id}", ""
    drafts.text_area(label, draft, placeholder=hint)
    if view.run.settings.flow == "research" and not client.has_model(view.run.settings.model):
        told = (
            "No model reads the note: its words are searched for next, unless it is private. A source or a "
            "fact is left out by its own button."
        )
    elif view.run.settings.flow == "research" and view.state.answers:
        told = "Only what the note asks for is changed; how it was understood is shown first."
    st.caption(told)
    ui.private_box(draft)
    seen = (view.run.id, view.head if kind == "back" else None, kind)
    ui.button(send, f"research-{kind}-send", _send_note, *seen, type="primary")


def _send_note(run_id: str, head: int | None, kind: str) -> None:
    draft, (act, _, _, _, done) = f"{kind}:{run_id}", NOTES[kind]

    def _clear(_: None) -> None:
        drafts.clear(draft)
        ui.close_popover(NOTE_POPOVER)

    note = {"note": drafts.read(draft), "private": ui.is_private(draft)}
    client.act(run_id, act, head, done=done, then=_clear, **note)


def _draw_further_question(view: RunSnapshot) -> None:
    draft, key = f"follow:{view.run.id}", f"ask-{view.run.id}"
    with st.container(key="run-bar-ask"):
        settings = form_page.choose_next_model(view)
        if key not in st.session_state:
            drafts.restore(key, draft)
        given = (view.run.id, key, draft, settings)
        st.chat_input("Ask a further question", key=key, on_submit=_ask, args=given)


def _ask(run_id: str, key: str, draft: str, settings: Settings) -> None:
    text = st.session_state.get(key) or ""
    client.workbench().store.draft(draft, text)  # it stands in the box again where it is refused
    form_page.start_run(client.workbench().follow_up, run_id, text, settings, sent=[draft])
    drafts.restore(key, draft)
    st.session_state[polling.SWITCHED_KEY] = True


def _show_run(run_id: str) -> None:
    st.query_params.from_dict({"run": run_id})
    st.session_state[polling.SWITCHED_KEY] = True
