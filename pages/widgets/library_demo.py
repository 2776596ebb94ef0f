"""The demo's own sources: a small invented knowledge base and invented places, put into the library with one button."""

from __future__ import annotations

import streamlit as st

from agent.config import ROOT
from agent.response_config import DEMO_KB
from pages.widgets import door

TAG = "demo"
PLACES = ROOT / "demo" / "facilities.csv"


def there() -> bool:
    """Does this copy of Touchstone carry them?"""
    return DEMO_KB.is_dir()


def added() -> bool:
    """Are they in the library?"""
    return bool(door.holdings().count(tag=TAG, kind="file"))


def add() -> int:
    """Put them into the library, tagged; what is there already stays as it is. Returns how many sources they are."""
    shelf = door.holdings()
    taken = len(shelf.add_folder(DEMO_KB, tags=[TAG]).sources)
    if PLACES.is_file():
        shelf.add_file(PLACES.name, PLACES.read_bytes(), tags=[TAG])
        taken += 1
    return taken


def button(*, then: str = "") -> None:
    """The button that adds them. `then`: a toggle that is switched on with it."""
    if there() and not added():
        st.button("Add the demo knowledge base", key="library-demo", icon=":material/cottage:", on_click=_add, args=(then,))


def _add(then: str) -> None:
    def done(_: int) -> None:
        if then:
            st.session_state[then] = True

    door.tell(add, done="The demo knowledge base is in the library, tagged “demo”. Everything in it is invented.", then=done)
