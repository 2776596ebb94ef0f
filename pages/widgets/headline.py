"""What stands above every run: the world it reads when that is not the web, how it stands; and what is said when there is none."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from agent.types import Settings, Status
from agent.workbench import View
from pages.widgets import chips, door, empty, safe, words


def band(settings: Settings) -> None:
    """The band that stays as long as a run reads another world than the web."""
    if settings.world == "live":
        return
    demo = settings.world == "demo"
    title = door.workbench().worlds()["demo"] if demo else f"Pages of the {words.world(settings.world)}"
    means = "Nothing here is about the real world." if demo else "Nothing here comes from the live web."
    st.html(f'<div class="ts band" role="note"><b>{safe.html(title)}.</b> {means}</div>')


def standing(view: View, rest: Mapping[Status, str], more: str = "") -> str:
    """How a run stands, as one line of HTML: its status, `more` chips, what it does now or what is expected of the reader (`rest`)."""
    if view.activity:
        now = f'<span class="pulse" aria-hidden="true"></span><span class="say">{safe.html(safe.shorten(view.activity, 140))}</span>'
    else:
        now = f'<span class="say soft">{safe.html(view.run.error or rest.get(view.run.status, "It could not go on."))}</span>'
    status = chips.one(words.stands(view.run), words.STATUS_TONE[view.run.status])
    came = chips.one("imported", "warn") if view.run.imported else ""
    return f'<div class="ts-now" role="status" aria-live="polite">{status}{came}{more}{now}</div>'


def missing(what: str, told: str, screen: str, way_on: str) -> None:
    """There is no such run (or conversation: `what`); `screen` with the label `way_on` is where to go instead."""
    st.title(f"No such {what}")
    empty.draw(told, "It may have been started on another computer or with another data folder.")
    with st.container(horizontal=True):
        st.page_link(screen, label=way_on, icon=":material/add:")
        st.page_link("pages/runs.py", label="See all runs", icon=":material/history:")


def unknown(run_id: str) -> str:
    """The sentence for a run that is not there."""
    return f"There is no run called {safe.shorten(run_id, 40)}"
