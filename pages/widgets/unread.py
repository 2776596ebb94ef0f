"""What could not be read, why, and what a person can do about each: try again, give the text, upload the file. And what our rules refused."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import streamlit as st

from agent import supplying
from agent.flows.state import Research
from agent.supplying import Unread
from agent.types import Outcome, Refusal, Status
from agent.workbench import View
from pages.widgets import chips, door, drafts, empty, memo, paging, safe, words

SHOWN, REFUSED = 8, 20
"""Rows on a page of what could not be read, and of what was refused: the cost of a poll must not grow with the run."""
OWN = "research-own-page"
TOLD = {
    Status.REVIEW: "Taken in. It is weighed, and the answer written again.", Status.DONE: "Taken in. It is weighed, and the answer written again.",
    Status.PAUSED: "Taken in. It is weighed when the run goes on.", Status.STOPPED: "Taken in. It is weighed when the run goes on.",
    Status.FAILED: "Taken in. It is weighed when the run goes on.",
}  # fmt: skip
TYPES = ["html", "htm", "pdf", "docx", "md", "txt", "csv"]


def count(state: Research) -> int:
    """How many looks brought nothing."""
    return len(supplying.unread(state))


def draw(view: View) -> None:
    """The list, newest first, each with what can be done; then what was proposed and not followed."""
    state, found = view.state, memo.of(view, "unread", lambda: supplying.unread(view.state))
    if not found and not state.refusals:
        empty.draw("Everything asked for could be read", "Pages that block us, time out or cannot be read appear here with the reason.")
    turned = f"research-unread-{view.run.id}"
    for one in paging.part(found, SHOWN, turned):
        with st.container(key=f"research-unread-{_mark(one.what)}", border=True, gap="xsmall"):
            st.html(row(one))
            _ways(view, one)
    paging.turn(len(found), SHOWN, turned, "looks")
    if view.run.settings.flow == "research":
        with st.popover("Give a page of your own", icon=":material/note_add:", key=OWN, on_change="rerun") as opened:
            if opened.open:
                _form(view, "", OWN)
    turned = f"research-refused-{view.run.id}"
    if not_followed := refused(paging.part(state.refusals[::-1], REFUSED, turned)):
        st.html(not_followed)
        paging.turn(len(state.refusals), REFUSED, turned, "refusals")


def row(one: Unread) -> str:
    """What could not be read, why, and what helps, as HTML."""
    what = safe.link(one.what) if one.kind == "Page" else f"“{safe.html(one.what)}”"
    tone = "" if one.outcome is Outcome.EMPTY else "bad"
    why = f'<div class="small soft">{safe.html(one.reason)}</div>' if one.reason else ""
    return (
        f'<div class="ts"><div class="told"><span>{one.kind}: {what}</span>{chips.one(words.OUTCOME[one.outcome], tone)}</div>{why}'
        f'<div class="small">{safe.html(one.advice)}</div></div>'
    )


def refused(refusals: Sequence[Refusal]) -> str:
    """What was proposed and not followed, as an HTML table."""
    rows = "".join(f"<tr><td>{safe.html(safe.shorten(r.what, 200))}</td><td>{safe.html(r.why)}</td></tr>" for r in refusals)
    head = '<h3 class="ts-section">Proposed, but not followed</h3>'
    return f'<div class="ts">{head}<div class="scroll"><table><tr><th>What</th><th>Why</th></tr>{rows}</table></div></div>' if rows else ""


def _ways(view: View, one: Unread) -> None:
    if not (one.again or one.gives):
        return
    name = _mark(one.what)
    with st.container(horizontal=True, gap="small"):
        if one.again:
            st.button("Try again", icon=":material/refresh:", key=f"research-again-{name}", on_click=_again, args=(view.run.id, one.what))
        if one.gives:
            key = f"research-give-{name}"
            with st.popover("Give its text", icon=":material/content_paste:", key=key, on_change="rerun") as opened:
                if opened.open:
                    _form(view, one.what, key)


def _form(view: View, url: str, popover: str) -> None:
    """The fields in which a person gives a page: at `url`, or at the address they type."""
    run_id, name = view.run.id, _mark(url or OWN)
    st.caption("What you give counts as read, and is marked as given by you wherever it is cited.")
    text_key, draft, at = f"research-paste-{name}", f"paste:{run_id}:{name}", f"research-at-{name}"
    if not url:
        st.text_input("Its address", key=at, placeholder="https:// (a file may have none)")
    drafts.area("Its text", text_key, draft, height=140, most=supplying.LONGEST, placeholder="Select all on the page, copy, and paste it here")
    done = TOLD.get(view.run.status, "Taken in. The run heeds it at its next decision.")
    given: dict[str, Any] = {"run_id": run_id, "url": url, "at": at, "done": done, "popover": popover}
    st.button("Use this text", type="primary", key=f"research-paste-do-{name}", on_click=_paste, args=(given, text_key, draft))
    file = st.file_uploader("Or its file", TYPES, key=f"research-file-{name}", help="HTML, PDF, DOCX, Markdown, plain text or CSV")
    if file is not None:
        st.button("Use this file", type="primary", key=f"research-file-do-{name}", on_click=_upload, args=(given, file.name, file.getvalue()))


def _paste(given: dict[str, Any], text_key: str, draft: str) -> None:
    def taken(_: Any) -> None:
        drafts.sent(text_key, draft)
        _close(given)

    text = st.session_state.get(text_key) or ""
    door.tell(supplying.paste, door.workbench(), given["run_id"], _address(given), text, done=given["done"], then=taken)


def _upload(given: dict[str, Any], name: str, data: bytes) -> None:
    arguments = (door.workbench(), given["run_id"], _address(given), name, data)
    door.tell(supplying.upload, *arguments, done=given["done"], then=lambda _: _close(given))


def _address(given: dict[str, Any]) -> str:
    return given["url"] or (st.session_state.get(given["at"]) or "").strip()


def _close(given: dict[str, Any]) -> None:
    st.session_state[given["popover"]] = False


def _again(run_id: str, what: str) -> None:
    door.tell(supplying.retry, door.workbench(), run_id, what, done="It is tried again at the next decision.")


def _mark(what: str) -> str:
    return hashlib.sha256(what.encode()).hexdigest()[:8]
