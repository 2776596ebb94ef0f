"""Desks: sites kept under a name. Choosing one fills in the form; keeping one stores what the form says."""

from __future__ import annotations

import streamlit as st

from agent.types import Settings
from agent.wording import counted
from pages.widgets import door, safe, sources

CHOSEN, NAME = "site-desk", "site-desk-name"


def choose() -> None:
    """The desks as pills; nothing when there are none."""
    desks = door.workbench().desks()
    if not desks:
        return
    with st.container(horizontal=True, vertical_alignment="bottom", key="site-desks"):
        st.pills("Your desks", list(desks), key=CHOSEN, format_func=safe.md, on_change=_fill)
        chosen = st.session_state.get(CHOSEN)
        if chosen in desks:
            st.button("Forget this desk", key="site-desk-forget", icon=":material/delete:", type="tertiary", on_click=_forget, args=(chosen,))


def keep(settings: Settings) -> None:
    """The little form that keeps the sites above under a name."""
    st.text_input("Name of the desk", key=NAME, max_chars=80, placeholder="e.g. Kallsteg support")
    kept = counted(len(settings.start_urls), "start page")
    st.caption(safe.md(f"Keeps {kept}, the instruction, the domains and the limits, to be asked again."))
    st.button("Keep", type="primary", key="site-desk-keep", on_click=_keep, args=(settings,))


def _keep(settings: Settings) -> None:
    name = (st.session_state.get(NAME) or "").strip()
    door.tell(door.workbench().keep_desk, name, settings, done=f"The desk “{name}” is kept.", then=lambda _: st.session_state.update({NAME: ""}))


def _forget(name: str) -> None:
    st.session_state.pop(CHOSEN, None)
    door.tell(door.workbench().drop_desk, name, done=f"The desk “{name}” is forgotten; its conversations stay.")


def _fill() -> None:
    desk = door.workbench().desks().get(st.session_state.get(CHOSEN) or "")
    if desk is None:
        return
    bench, allowed = door.workbench(), "\n".join(desk.allowed_domains)
    st.session_state.update(
        {
            "site-starts": "\n".join(desk.start_urls), "site-instruction": desk.instruction, "site-allowed": allowed,
            "site-allowed-filled-in": allowed, "site-world": desk.world, **{f"site-{name}": value for name, value in desk.site.model_dump().items()},
            **sources.filled("site", desk),
        }
    )  # fmt: skip
    bench.draft("site:starts", "\n".join(desk.start_urls))
    bench.draft("site:instruction", desk.instruction)
