"""Text areas whose unsent text outlives a refresh: what is typed is kept as a draft after each pause.

Streamlit sends a text area's text only when it loses the focus. The script beside this file says "it lost the
focus" after a pause in typing, without moving the cursor; without it drafts are kept when the field is left.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import streamlit as st

from pages.widgets.shell import client, places

TYPING_SCRIPT = (Path(__file__).parent / "drafts.js").read_text(encoding="utf-8")


def install_script() -> None:
    """Once on every screen."""
    st.components.v2.component("touchstone_drafts", js=TYPING_SCRIPT)(key="drafts-keep", height=0)


def text_area(
    label: str,
    name: str,
    *,
    placeholder: str = "",
    height: int = 96,
    most: int = 4000,
    given: str = "",
    stored: bool = True,
    label_visibility: Literal["visible", "hidden", "collapsed"] = "visible",
    cuts: bool = True,
) -> str:
    """A text area for at most `most` characters that remembers unsent text under the draft's name, which is
    its session key too; returns its text. `given` is the text when there is no draft; unless `stored`, the
    draft is in the memory of this process alone. Unless it `cuts`, a longer text stays, and is told to be too
    long: for what is refused when it is sent."""
    if name not in st.session_state:
        st.session_state[name] = _load(name, stored) or given
    st.text_area(
        label,
        key=name,
        height=height,
        placeholder=placeholder,
        max_chars=most if cuts else None,
        on_change=lambda: _keep(name, read(name), stored),
        label_visibility=label_visibility,
    )
    _tell_length(len(read(name)), most)
    return read(name)


@places.in_place
def _tell_length(length: int, most: int) -> None:
    if length > most:
        told = f"{length:,} characters: {most:,} are the most. Put long material on a page and name it."
        st.html(f'<div class="ts"><p class="small warned" role="alert">{told}</p></div>')


def read(name: str) -> str:
    """The text of a field, as it is now."""
    return st.session_state.get(name) or ""


def write(name: str, text: str, *, stored: bool = True) -> None:
    """Replace the text of a field and its draft. Only in a callback."""
    st.session_state[name] = text
    _keep(name, text, stored)


def clear(*names: str) -> None:
    """Empty these fields and forget their drafts: the text was sent. Only in a callback."""
    for name in names:
        _unstored.pop((client.owner_key(), name), None)
        write(name, "")


def forget_unstored() -> None:
    """Forget what is written nowhere of who is signed in."""
    owner = client.owner_key()
    for key in [key for key in _unstored if key[0] == owner]:
        del _unstored[key]


_unstored: dict[tuple[str, str], str] = {}
"""Drafts that are written nowhere, by person and name."""


def _load(name: str, stored: bool) -> str:
    if stored:
        return client.workbench().store.draft(name)
    client.workbench().store.draft(name, "")  # of a time when it was stored
    return _unstored.get((client.owner_key(), name), "")


def _keep(name: str, text: str, stored: bool) -> None:
    if stored:
        client.workbench().store.draft(name, text)
    else:
        _unstored[client.owner_key(), name] = text


CHAT_BOX_KEY = "drafts-chat"
CHAT_SCRIPT = """
export default function ({ data, setTriggerValue }) {
  window.touchstoneSaid = (said) => setTriggerValue("said", said)
  window.touchstoneBox = data.draft
  if (window.touchstoneSaying) return
  window.touchstoneSaying = true
  let timer
  document.addEventListener("input", (event) => {
    const field = event.target
    if (!(field instanceof HTMLTextAreaElement) || field.dataset.testid !== "stChatInputTextArea") return
    clearTimeout(timer)
    const said = { draft: window.touchstoneBox, text: field.value }  // another run may be open by then
    timer = setTimeout(() => window.touchstoneSaid(said), 400)
  })
}
"""


def restore(key: str, draft: str) -> None:
    """Fill a chat box with its draft: when the screen is entered, before the box is drawn."""
    if kept := client.workbench().store.draft(draft):
        st.session_state[key] = kept


def track_chat_box(draft: str) -> None:
    """Keep what is typed into the chat box as a draft (Streamlit is told nothing of it until it is sent)."""
    st.fragment(_draw_tracker)(draft)


def _draw_tracker(draft: str) -> None:
    st.components.v2.component("touchstone_chat_drafts", js=CHAT_SCRIPT)(
        key=CHAT_BOX_KEY, height=0, data={"draft": draft}, on_said_change=_save_chat_text
    )


def _save_chat_text() -> None:
    said = getattr(st.session_state.get(CHAT_BOX_KEY), "said", None)
    if said:
        client.workbench().store.draft(said["draft"], said["text"])


SCROLL_SCRIPT = """
export default function ({ data }) {
  if (!data.once || window.touchstoneShown === data.once) return
  window.touchstoneShown = data.once
  setTimeout(() => document.querySelector(data.what)?.scrollIntoView({ block: "start" }), 60)
}
"""


def scroll_to(what: str, once: str) -> None:
    """Scroll to the element that a selector names, once for each `once`; "" for not at all."""
    st.components.v2.component("touchstone_show", js=SCROLL_SCRIPT)(
        key="drafts-show", height=0, data={"what": what, "once": once}
    )
