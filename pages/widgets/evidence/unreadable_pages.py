"""What could not be read, why, and what a person can do about each: try again, give the text, upload the
file. And what our rules refused."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import streamlit as st

from agent.actions import page_input
from agent.actions.page_input import FailedRequest
from agent.engine.run_state import RunState
from agent.types import Outcome, Refusal, Status
from agent.web import mime
from agent.workbench import RunSnapshot
from pages.widgets.shell import (
    badges,
    client,
    drafts,
    empty_state,
    escape,
    labels,
    markup,
    pagination,
    ui,
    view_cache,
)

PAGE_SIZE, REFUSALS_PAGE_SIZE = 8, 20
"""Rows on a page of what could not be read, and of what was refused: the cost of a poll must not grow with
the run."""
OWN_PAGE_KEY = "research-own-page"
TAKEN_NOTICES = {
    Status.REVIEW: "Added. It is analysed and the answer updated.",
    Status.DONE: "Added. It is analysed and the answer updated.",
    Status.PAUSED: "Added. It is analysed when the run continues.",
    Status.STOPPED: "Added. It is analysed when the run continues.",
    Status.FAILED: "Added. It is analysed when the run continues.",
}


def count_failed_requests(state: RunState) -> int:
    """How many looks brought nothing."""
    return len(page_input.list_failed_requests(state))


def draw(view: RunSnapshot) -> None:
    """The list, newest first, each with what can be done; then what was proposed and not followed."""
    state, found = (
        view.state,
        view_cache.get_or_compute(view, "unread", lambda: page_input.list_failed_requests(view.state)),
    )
    if not found and not state.refusals:
        empty_state.draw(
            "Everything asked for could be read",
            "Pages that block us, time out or cannot be read appear here with the reason.",
        )
    turned = f"research-unread-{view.run.id}"
    with st.container():  # the menu below keeps its position, however many there are
        for one in pagination.take_page(found, PAGE_SIZE, turned):
            with st.container(key=f"research-unread-{_hash_key(one.what)}", border=True, gap="xsmall"):
                st.html(render_row(one))
                _draw_actions(view, one)
    pagination.draw(len(found), PAGE_SIZE, turned, "steps")
    if view.run.settings.flow == "research":
        with ui.popover("Add a page", OWN_PAGE_KEY, "note_add") as opened:
            if opened.open:
                _draw_form(view, "", OWN_PAGE_KEY)
    turned = f"research-refused-{view.run.id}"
    if not_followed := render_refusals(
        pagination.take_page(state.refusals[::-1], REFUSALS_PAGE_SIZE, turned)
    ):
        st.html(not_followed)
        pagination.draw(len(state.refusals), REFUSALS_PAGE_SIZE, turned, "refusals")


def render_row(one: FailedRequest) -> str:
    """What could not be read, why, and what helps, as HTML."""
    what = escape.render_link(one.what) if one.kind == "Page" else f"“{escape.html(one.what)}”"
    tone = "" if one.outcome is Outcome.EMPTY else "bad"
    why = f'<div class="small soft">{escape.html(one.reason)}</div>' if one.reason else ""
    return (
        f'<div class="ts"><div class="told"><span>{one.kind}: {what}</span>'
        f"{badges.render(labels.OUTCOME[one.outcome], tone)}</div>{why}"
        f'<div class="small">{escape.html(one.advice)}</div></div>'
    )


def render_refusals(refusals: Sequence[Refusal]) -> str:
    """What was proposed and not followed, as an HTML table."""
    rows = [[escape.html(escape.shorten(one.what, 200)), escape.html(one.why)] for one in refusals]
    head = '<h3 class="ts-section">Proposed, but not followed</h3>'
    return f'<div class="ts">{head}{markup.table(["What", "Why"], rows)}</div>' if rows else ""


def _draw_actions(view: RunSnapshot, one: FailedRequest) -> None:
    if not (one.can_retry or one.can_supply):
        return
    name = _hash_key(one.what)
    with st.container(horizontal=True, gap="small"):
        if one.can_retry:
            ui.button("Try again", f"research-again-{name}", _retry, view.run.id, one.what, icon="refresh")
        if one.can_supply:
            key = f"research-give-{name}"
            with ui.popover("Paste its text", key, "content_paste") as opened:
                if opened.open:
                    _draw_form(view, one.what, key)


def _draw_form(view: RunSnapshot, url: str, popover: str) -> None:
    """The fields in which a person gives a page: at `url`, or at the address they type."""
    run_id, name = view.run.id, _hash_key(url or OWN_PAGE_KEY)
    st.caption("What you add counts as read, and is marked as given by you wherever it is cited.")
    if not url:
        st.text_input(
            "Page address", key=f"research-at-{name}", placeholder="https:// (a file may have none)"
        )
    draft, hint = f"paste:{run_id}:{name}", "Select all on the page, copy, and paste it here"
    drafts.text_area("Page text", draft, height=140, most=page_input.MAX_PASTED_CHARS, placeholder=hint)
    ui.button("Use this text", f"research-paste-do-{name}", _give, view, url, popover, type="primary")
    hint = f"{mime.FORMAT_NAMES} can be read"
    file = st.file_uploader("Or its file", list(mime.BY_ENDING), key=f"research-file-{name}", help=hint)
    if file is not None:
        given = (file.name, file.getvalue())
        ui.button(
            "Use this file", f"research-file-do-{name}", _give, view, url, popover, given, type="primary"
        )


def _give(view: RunSnapshot, url: str, popover: str, file: tuple[str, bytes] | None = None) -> None:
    """Give the run the file, or else the text that was pasted."""
    run_id, name = view.run.id, _hash_key(url or OWN_PAGE_KEY)
    address = url or (st.session_state.get(f"research-at-{name}") or "").strip()
    draft = f"paste:{run_id}:{name}"

    def taken(_: Any) -> None:
        if file is None:
            drafts.clear(draft)
        ui.close_popover(popover)

    done = TAKEN_NOTICES.get(view.run.status, "Added. The run uses it at its next step.")
    given = {"file": {"name": file[0], "data": file[1]}} if file else {"text": drafts.read(draft)}
    client.act(run_id, "supply", url=address, done=done, then=taken, **given)


def _retry(run_id: str, what: str) -> None:
    client.act(run_id, "retry", what=what, done="It is tried again at the next decision.")


def _hash_key(what: str) -> str:
    return hashlib.sha256(what.encode()).hexdigest()[:8]
