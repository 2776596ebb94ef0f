"""A bundle that somebody sent: what it is and whether it is valid, and the way to open it as a run."""

from __future__ import annotations

import streamlit as st

from agent.actions.bundles import BundleVerification, ImportedRun, import_bundle, verify_bundle
from agent.export.archive import MAX_BYTES
from agent.text.plurals import format_count
from pages.widgets.shell import badges, client, escape, routes, ui

FILE_KEY, CHECKED_KEY = "bundle-file", "bundle-checked"


def draw() -> None:
    """The way in."""
    given = st.file_uploader(
        "An evidence bundle (.zip) that Touchstone exported",
        type=["zip"],
        key=FILE_KEY,
        max_upload_size=MAX_BYTES // 1_000_000,
        help="It is verified first, and nothing of it is executed. One that was changed is not opened.",
    )
    if given is None:
        st.session_state.pop(CHECKED_KEY, None)
        return
    data = given.getvalue()
    name, told, holds = st.session_state.get(CHECKED_KEY, ("", "", False))
    if name != given.file_id:
        found = verify_bundle(data)
        told, holds = render_verification(found), found.is_importable
        st.session_state[CHECKED_KEY] = (given.file_id, told, holds)
    st.html(told)
    if holds and ui.button("Open as a run", "bundle-open", icon="open_in_new", type="primary"):
        _import_and_open(data)


def render_verification(found: BundleVerification) -> str:
    """What was found, as HTML."""
    marks = [("valid", "good") if found.is_valid else ("not valid", "bad")]
    contents, lines = found.contents, ""
    if contents is not None:
        held, quotes = found.found_quote_count, format_count(found.quote_count, "quote")
        marks += [
            (f"{held} of {quotes} found in their pages", "good" if held == found.quote_count else "bad"),
            (format_count(len(contents.pages), "page"), ""),
            (format_count(len(contents.steps), "step"), ""),
        ]
        lines = f"<p><b>{escape.html(escape.shorten(contents.run.question, 300))}</b></p>"
    for text in (*found.problems, *found.remarks):
        lines += f"<p>{escape.html(escape.shorten(text, 300))}</p>"
    told = f"SHA-256 <code>{escape.html(found.sha256)}</code>. Compare it with the one you were given."
    compare = f'<p class="small soft">{told}</p>'
    return f'<div class="ts">{lines}<div class="chips">{badges.render_row(marks)}</div>{compare}</div>'


def _import_and_open(data: bytes) -> None:
    came: list[ImportedRun] = []
    client.submit(import_bundle, client.workbench(), data, then=came.append)
    if came:
        flow = client.workbench().snapshot(came[0].run_id).run.settings.flow
        st.session_state.pop(CHECKED_KEY, None)
        st.switch_page(routes.page_for_flow(flow), query_params={"run": came[0].run_id})
    st.rerun()
