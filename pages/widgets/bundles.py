"""A bundle that somebody sent: what it is and whether it holds, and the way to open it as a run."""

from __future__ import annotations

import streamlit as st

from agent.export.archive import MAX_BYTES
from agent.importing import Imported, import_bundle
from agent.verifying import Verified, verify
from agent.wording import counted
from pages.widgets import chips, door, safe, screens

FILE, CHECKED = "bundle-file", "bundle-checked"


def draw() -> None:
    """The way in, folded away until it is needed."""
    with st.expander("Import a bundle", icon=":material/upload_file:", key="bundle-import"):
        given = st.file_uploader(
            "An evidence bundle (.zip) that Touchstone exported", type=["zip"], key=FILE, max_upload_size=MAX_BYTES // 1_000_000,
            help="It is verified first; nothing of it is executed. One that was changed since it was made is not opened.",
        )  # fmt: skip
        if given is None:
            st.session_state.pop(CHECKED, None)
            return
        data = given.getvalue()
        name, told, holds = st.session_state.get(CHECKED, ("", "", False))
        if name != given.file_id:
            found = verify(data)
            told, holds = about(found), found.holds
            st.session_state[CHECKED] = (given.file_id, told, holds)
        st.html(told)
        if holds and st.button("Open as a run", type="primary", icon=":material/open_in_new:", key="bundle-open"):
            _open(data)


def about(found: Verified) -> str:
    """What was found, as HTML."""
    marks = [("it holds", "good") if found.holds else ("it does not hold", "bad")]
    contents, lines = found.contents, ""
    if contents is not None:
        all_stand = found.standing == found.quotes
        marks += [(f"{found.standing} of {counted(found.quotes, 'quote')} found in their pages", "good" if all_stand else "bad")]
        marks += [(counted(len(contents.pages), "page"), ""), (counted(len(contents.steps), "step"), "")]
        lines = f"<p><b>{safe.html(safe.shorten(contents.run.question, 300))}</b></p>"
    lines += "".join(f"<p>{safe.html(safe.shorten(text, 300))}</p>" for text in (*found.troubles, *found.remarks))
    compare = f'<p class="small soft">SHA-256 <code>{safe.html(found.sha256)}</code>. Compare it with the one you were given.</p>'
    return f'<div class="ts">{lines}<div class="chips">{chips.row(marks)}</div>{compare}</div>'


def _open(data: bytes) -> None:
    came: list[Imported] = []
    door.tell(import_bundle, door.workbench(), data, then=came.append)
    if came:
        flow = door.workbench().view(came[0].run_id).run.settings.flow
        st.session_state.pop(CHECKED, None)
        st.switch_page(screens.of(flow), query_params={"run": came[0].run_id})
    st.rerun()
