"""Text areas whose unsent text outlives a refresh: what is typed is kept as a draft after each pause.

Streamlit sends a text area's text only when it loses the focus. `keep` adds a few lines of our own JavaScript that say "it lost
the focus" after a pause in typing, without moving the cursor; without them drafts are kept when the field is left.
"""

from __future__ import annotations

import streamlit as st

from pages.widgets import door

SCRIPT = """
export default function () {
  if (window.touchstoneTyping) return
  window.touchstoneTyping = true
  const left = (field) => field.dispatchEvent(new FocusEvent("focusout", { bubbles: true }))
  let timer
  document.addEventListener("input", (event) => {
    const field = event.target
    if (!(field instanceof HTMLTextAreaElement)) return
    clearTimeout(timer)
    timer = setTimeout(() => left(field), 400)
  })
}
"""


def keep() -> None:
    """Once on a screen that has text areas."""
    st.components.v2.component("touchstone_drafts", js=SCRIPT)(key="drafts-keep", height=0)


def area(label: str, key: str, draft: str, *, placeholder: str = "", height: int = 96, hidden: bool = False, most: int = 4000) -> str:
    """A text area for at most so many characters that remembers what was typed under the draft's name; returns its text."""
    if key not in st.session_state:
        st.session_state[key] = door.workbench().draft(draft)
    return (
        st.text_area(
            label, key=key, height=height, placeholder=placeholder, max_chars=most, on_change=_save, args=(key, draft),
            label_visibility="collapsed" if hidden else "visible",
        )
        or ""
    )  # fmt: skip


def sent(key: str, draft: str) -> None:
    """The text went where it was meant to go: empty the field and forget the draft. Only in a callback."""
    st.session_state[key] = ""
    door.workbench().draft(draft, "")


def _save(key: str, draft: str) -> None:
    door.workbench().draft(draft, st.session_state.get(key) or "")


TYPED = "drafts-chat"
CHAT_SCRIPT = """
export default function ({ setTriggerValue }) {
  window.touchstoneSaid = (text) => setTriggerValue("text", text)
  if (window.touchstoneSaying) return
  window.touchstoneSaying = true
  let timer
  document.addEventListener("input", (event) => {
    const field = event.target
    if (!(field instanceof HTMLTextAreaElement) || field.dataset.testid !== "stChatInputTextArea") return
    clearTimeout(timer)
    timer = setTimeout(() => window.touchstoneSaid(field.value), 400)
  })
}
"""


def restore(key: str, draft: str) -> None:
    """Fill a chat box with its draft: when the screen is entered, before the box is drawn."""
    if kept := door.workbench().draft(draft):
        st.session_state[key] = kept


def follow(draft: str) -> None:
    """Keep what is typed into the screen's chat box as a draft (such a box tells Streamlit nothing until it is sent)."""
    st.fragment(_follow)(draft)


def _follow(draft: str) -> None:
    st.components.v2.component("touchstone_chat_drafts", js=CHAT_SCRIPT)(key=TYPED, height=0, on_text_change=lambda: _typed(draft))


def _typed(draft: str) -> None:
    text = getattr(st.session_state.get(TYPED), "text", None)
    if isinstance(text, str):
        door.workbench().draft(draft, text)


SHOW_SCRIPT = """
export default function ({ data }) {
  if (!data.once || window.touchstoneShown === data.once) return
  window.touchstoneShown = data.once
  setTimeout(() => document.querySelector(data.what)?.scrollIntoView({ block: "start" }), 60)
}
"""


def show(what: str, once: str) -> None:
    """Scroll to the element that a selector names, once for each `once`; "" for not at all."""
    st.components.v2.component("touchstone_show", js=SHOW_SCRIPT)(key="drafts-show", height=0, data={"what": what, "once": once})
