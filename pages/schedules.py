"""Schedules: what is asked again and again, when next, and how it went the last time."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from urllib.parse import urljoin

import streamlit as st

from agent.accounts.people import LOCAL
from agent.batch import schedules
from agent.engine.schedules import describe_times
from agent.errors import NotFound, StoreError
from agent.text.plurals import format_count
from agent.types import Schedule
from pages.widgets.run import run_list, run_page
from pages.widgets.schedules import form
from pages.widgets.shell import badges, client, empty_state, escape, labels, markup, polling, routes, ui


def draw(found: Sequence[Schedule]) -> None:
    """The notice of the last action and a card a schedule, or how to make one."""
    client.show_notice("schedules")
    for schedule in found:
        with st.container(border=True, gap="small", key=f"schedule-{schedule.id}"):
            draw_card(schedule)
    if not found:
        how = "Open a run with an answer and choose “Repeat…” below it: it is asked again at times you set."
        empty_state.draw("No schedules yet", how)
        ui.link("pages/runs.py", "Choose a run", "history")


def draw_card(schedule: Schedule) -> None:
    """What is asked and when, what can be done with it, and how it went."""
    bench, name, is_active = client.workbench(), schedule.id, schedule.state == "active"
    is_named = not schedule.question.startswith(schedule.name)
    title = escape.html(schedule.name if is_named else schedule.question)
    asked = markup.paragraph(escape.html(schedule.question), "small soft") if is_named else ""
    mark = badges.render("Active", "good") if is_active else badges.render("Paused", "warn")
    when = describe_times(schedule.cron, schedule.next_at, schedule.zone, is_next=is_active)
    st.html(f'<div class="ts"><h2 class="ts-section">{title}</h2>{asked}{mark} {escape.html(when)}</div>')
    with st.container(horizontal=True, vertical_alignment="center", key=f"schedule-row-{name}"):
        start = lambda: bench.worker.scheduler.start(bench.store.schedules.look(name)[0], is_asked=True)  # noqa: E731
        ui.action("Run now", f"schedule-run-{name}", start, icon="play_arrow")
        on = ("Resume", "event_repeat", "active")
        word, icon, state = ("Pause", "pause", "paused") if is_active else on
        change = functools.partial(schedules.change, bench, name)
        ui.action(word, f"schedule-state-{name}", functools.partial(change, state=state), icon=icon)
        key = f"schedule-change-{name}"
        if (opened := ui.popover("Change", key, "tune")).open:
            with opened, st.container(key=f"schedule-form-{name}"):
                form.draw(key, change, schedule)
        feed = f"schedule-feed-{name}"
        with st.popover("Feed", icon=":material/rss_feed:", type="tertiary", key=feed):
            told = "What is new, for a feed reader. Whoever has the address reads it; a new one ends it."
            st.html(f'<div class="ts">{markup.paragraph(told)}</div>')
            renew = functools.partial(client.benches().renew_feed, client.person() or LOCAL, name)
            keep = {"then": lambda path: st.session_state.update({f"{feed}-path": path})}
            ui.button("New address", f"{feed}-new", client.submit, renew, icon="autorenew", kwargs=keep)
            if path := st.session_state.get(f"{feed}-path"):
                st.code(urljoin(st.context.url or "", path), language=None, wrap_lines=True)
        with st.popover("Delete", icon=":material/delete:", type="tertiary", key=f"schedule-end-{name}"):
            st.html(f'<div class="ts">{markup.paragraph("It runs no more. Its runs stay under Runs.")}</div>')
            end = functools.partial(change, state="deleted")
            ui.action("Delete the schedule", f"schedule-delete-{name}", end, icon="delete", done="Deleted.")
    counts, last, new = [format_count(schedule.fired, "run")], "", ""
    counts += [f"{format_count(schedule.skipped, 'time')} skipped"] if schedule.skipped else []
    counts += [f"{format_count(schedule.missed, 'time')} missed"] if schedule.missed else []
    if schedule.run_id:
        try:
            view = bench.snapshot(schedule.run_id)
            last = run_list.render_details(view.run, run_list.find_lead(view.run))
            if view.state.follows and view.state.answers:
                found = run_page.find_new(view)
                new = f"{found.summary or 'Nothing'} since {labels.format_time(found.since_at)}"
        except (NotFound, StoreError) as gone:
            last = escape.html(f"cannot be shown: {gone}")
    told = {
        "Remark": f'<span class="warned">{escape.html(schedule.remark)}</span>' * bool(schedule.remark),
        "So far": ", ".join(counts),
        "Last run": last,
        "New": new,
    }
    st.html(markup.terms(told.items()))
    if schedule.run_id:
        page = routes.page_for_flow(schedule.settings.flow)
        ui.link(page, "Open the last run", "arrow_forward", {"run": schedule.run_id})


st.html(
    '<div class="ts"><h1 class="ts-question">Schedules</h1>'
    '<p class="soft small">What is asked again at set times. Each time is a run of its own.</p></div>'
)
read = client.workbench().store.schedules.list_newest
polling.follow(read, bool, draw, read(), polling.IDLE_POLL_S)
