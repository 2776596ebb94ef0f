"""What could not be read, why, and what a person can do about each: try again, give the text, upload the
file. And what our rules refused."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import streamlit as st

from agent.actions import page_input
from agent.actions.page_input import FailedRequest
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
)

PAGE_SIZE = 8
"""Rows on a page: the cost of a poll must not grow with the run."""
OWN_PAGE_KEY, ADDRESS_KEY = "research-own-page", "research-own-address"


def draw(view: RunSnapshot) -> None:
    """The list, newest first, each with what can be done; then what was proposed and not followed."""
    found, refused = page_input.list_failed_requests(view.state), view.state.refusals[::-1]
    if not found and not refused:
        empty_state.draw(
            "Everything asked for could be read",
            "Pages that block us, time out or cannot be read appear here with the reason.",
        )
    turned = f"research-unread-{view.run.id}"
    with st.container():  # the menu below keeps its position, however many there are
        for one in pagination.take_page(found, PAGE_SIZE, turned):
            name = hashlib.sha256(one.what.encode()).hexdigest()[:8]
            with st.container(key=f"research-unread-{name}", border=True, gap="xsmall"):
                st.html(render_row(one))
                with st.container(horizontal=True, gap="small"):
                    if one.can_retry:
                        args = {"what": one.what, "done": "It is tried again at the next decision."}
                        again = f"research-again-{name}"
                        ui.act(view, "retry", again, "Try again", icon="refresh", given=args)
                    if one.can_supply:
                        _draw_form(view, one.what, f"research-give-{name}", "Paste its text", "content_paste")
    pagination.draw(len(found), PAGE_SIZE, turned, "steps")
    if view.run.settings.flow == "research":
        _draw_form(view, "", OWN_PAGE_KEY, "Add a page", "note_add")
    if refused:
        turned = f"research-refused-{view.run.id}"
        st.html(render_refusals(pagination.take_page(refused, PAGE_SIZE, turned)))
        pagination.draw(len(refused), PAGE_SIZE, turned, "refusals")


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
    return f'<div class="ts">{head}{markup.table(["What", "Why"], rows)}</div>'


def _draw_form(view: RunSnapshot, url: str, key: str, label: str, icon: str) -> None:
    """The fields in which a person gives a page: at `url`, or at the address they type."""
    with ui.popover(label, key, icon) as opened:
        if not opened.open:
            return
        st.caption("What you add counts as read, and is marked as given by you wherever it is cited.")
        if not url:
            hint = "https:// (a file may have none)"
            st.text_input("Page address", key=ADDRESS_KEY, placeholder=hint)
        draft, hint = f"paste:{view.run.id}:{key}", "Select all on the page, copy, and paste it here"
        drafts.text_area("Page text", draft, height=140, most=page_input.MAX_PASTED_CHARS, placeholder=hint)
        ui.button("Use this text", f"{key}-text-do", _give, view, url, key, draft, type="primary")
        hint = f"{mime.FORMAT_NAMES} can be read"
        file = st.file_uploader("Or its file", list(mime.BY_ENDING), key=f"{key}-file", help=hint)
        if file is not None:
            given = {"name": file.name, "data": file.getvalue()}
            ui.button("Use this file", f"{key}-file-do", _give, view, url, key, draft, given, type="primary")


def _give(view: RunSnapshot, url: str, popover: str, draft: str, file: dict[str, Any] | None = None) -> None:
    """Give the run the file, or else the text that was pasted."""

    def taken(_: Any) -> None:
        if file is None:
            drafts.clear(draft)
        ui.close_popover(popover)

    after = "The run uses it at its next step."
    if view.run.status in (Status.REVIEW, Status.DONE):
        after = "It is analysed and the answer updated."
    elif view.run.status is not Status.RUNNING:
        after = "It is analysed when the run continues."
    url = url or (st.session_state.get(ADDRESS_KEY) or "").strip()
    given = {"file": file} if file else {"text": drafts.read(draft)}
    client.act(view.run.id, "supply", url=url, done=f"Added. {after}", then=taken, **given)
