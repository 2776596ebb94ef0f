"""What stands above every run: the world it reads when that is not the web, how it stands; and what is said
when there is none."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from agent.types import Settings, Status
from agent.workbench import RunSnapshot
from pages.widgets.shell import badges, client, empty_state, escape, labels, ui


def draw_world_band(settings: Settings) -> None:
    """The band that stays as long as a run reads another world than the web."""
    if settings.world == "live":
        return
    demo = settings.world == "demo"
    title = (
        client.workbench().worlds()["demo"]
        if demo
        else f"Pages of the {labels.describe_world(settings.world)}"
    )
    means = "Nothing here is about the real world." if demo else "Nothing here comes from the live web."
    st.html(f'<div class="ts band" role="note"><b>{escape.html(title)}.</b> {means}</div>')


def render_status(view: RunSnapshot, rest: Mapping[Status, str], more: str = "") -> str:
    """How a run stands, as one line of HTML: its status, `more` chips, what it does now or what is expected
    of the reader (`rest`)."""
    if view.activity:
        now = f'<span class="pulse" aria-hidden="true"></span><span class="say">{escape.html(escape.shorten(view.activity, 140))}</span>'
    else:
        now = f'<span class="say soft">{escape.html(view.run.error or rest.get(view.run.status, "It could not go on."))}</span>'
    status = badges.render(labels.describe_status(view.run), labels.STATUS_TONE[view.run.status])
    came = badges.render("imported", "warn") if view.run.imported else ""
    return f'<div class="ts-now" role="status" aria-live="polite">{status}{came}{more}{now}</div>'


def draw_missing(what: str, told: str, screen: str, way_on: str) -> None:
    """There is no such run (or conversation: `what`); `screen` with the label `way_on` is where to go
    instead."""
    st.title(f"No such {what}")
    empty_state.draw(told, "It may have been started on another computer or with another data folder.")
    with st.container(horizontal=True):
        ui.link(screen, way_on, "add")
        ui.link("pages/runs.py", "See all runs", "history")


def describe_unknown_run(run_id: str) -> str:
    """The sentence for a run that is not there."""
    return f"There is no run called {escape.shorten(run_id, 40)}"
