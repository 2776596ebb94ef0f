"""When a question is asked again: the fields of a schedule, new or changed, and in words what they mean."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

import streamlit as st

from agent.engine.schedules import describe_times, list_times, plan
from agent.errors import UsageError
from agent.text.sentences import format_sentence
from agent.types import Schedule
from pages.widgets.shell import client, escape, ui


def draw(key: str, save: Callable[..., Any], given: Schedule | None = None) -> None:
    """The fields in the popover `key`, filled in from `given`, else daily from the next full hour of the
    browser; what is wrong stands below them. The button calls `save` with what they say."""
    zones, now = {name: name for name in sorted(available_timezones())}, time.time()
    zone = given.zone if given else st.context.timezone or ""
    zone = zone if zone in zones else "UTC"
    ways = {"hourly": "Every hour", "daily": "Every day", "weekly": "Every week", "": "A cron expression"}
    way, at = "daily", now + timedelta(hours=1).seconds
    if given:
        at = next(list_times(given.cron, zone, now))
        way = next((one for one in ways if one and plan(at, one, zone)[0] == given.cron), "")
    upcoming = datetime.fromtimestamp(int(at), ZoneInfo(zone)).replace(second=0, tzinfo=None)
    st.session_state.setdefault(f"{key}-at", upcoming if given else upcoming.replace(minute=0))
    if given:
        st.text_input("Name", given.name, key=f"{key}-name")
    if ui.select("How often", ways, f"{key}-way", index=list(ways).index(way)):
        st.datetime_input("Next time" if given else "First time", key=f"{key}-at", format="YYYY-MM-DD")
    else:
        cron, hint = "30 7 * * 1-5", "Minute, hour, day of the month, month, day of the week"
        st.text_input("Cron expression", given.cron if given else cron, key=f"{key}-cron", help=hint)
    ui.select("Time zone", zones, f"{key}-zone", index=list(zones).index(zone), filter_mode="contains")
    typed, is_fine = read_fields(key), False
    try:
        cron, at = plan(now, typed["when"], typed["zone"], typed["starts_at"])
        told, is_fine = describe_times(cron, at, typed["zone"]), True
        st.html(f'<div class="ts" role="status">{escape.html(told)}</div>')
    except UsageError as refused:
        st.error(escape.md(format_sentence(str(refused))), icon=":material/error:")

    def finish(made: Schedule) -> None:
        ui.close_popover(key)
        when = describe_times(made.cron, made.next_at, made.zone, is_next=made.state == "active")
        client.set_notice("success", f"Scheduled. {when}.")

    more: Any = {"type": "primary", "disabled": not is_fine, "kwargs": {"then": finish}}
    label, act = "Save" if given else "Repeat it", lambda: save(**read_fields(key))
    ui.button(label, f"{key}-save", client.submit, act, icon="event_repeat", **more)


def read_fields(key: str) -> dict[str, str]:
    """What stands in the fields now: it may have been typed a moment before the button was pressed."""
    names = ("name", "way", "cron", "zone", "at")
    name, way, cron, zone, at = (st.session_state.get(f"{key}-{one}") or "" for one in names)
    begin = at.isoformat() if way and at else ""
    return {"name": name, "when": way or cron, "zone": zone, "starts_at": begin}
