"""A conversation with a site on the screen: its turns, the newest one followed while it works, what was read
for it, a box to ask a follow-up."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from agent.types import Status
from agent.workbench import RunSnapshot
from pages.widgets.evidence import facts
from pages.widgets.run import answer_pane, controls, pause_prompt, progress, run_page
from pages.widgets.shell import client, escape, labels, markup

PAGE = run_page.RunPage(
    flow="site",
    noun="conversation",
    new_label="Ask another site",
    hints={Status.REVIEW: "Check the quotes, accept the answer, or ask a follow-up."},
)
TABS = {
    "Sources": run_page.draw_sources,
    "Facts": facts.draw,
    "Activity": run_page.draw_activity,
}


def draw(run_id: str) -> None:
    """The conversation of a run; its newest turn is drawn again every second as long as it works."""
    if opened := run_page.open_thread(PAGE, run_id):
        turns, newest = opened
        run_page.follow(lambda view: _draw_live(turns[:-1], view), newest)


def _draw_live(earlier: Sequence[str], view: RunSnapshot) -> None:
    settings = view.run.settings
    hosts = dict.fromkeys(escape.host(url) for url in settings.start_urls)
    named = [] if set(hosts) == set(settings.allowed_domains) else hosts
    told = " · ".join(filter(None, (", ".join(named), settings.instruction)))
    run_page.draw_heading(PAGE, view, markup.paragraph(escape.html(told)))
    client.show_notice("site-talk")
    pause_prompt.draw(view)
    run_page.draw_panes(view, lambda: _draw_turns(earlier, view), TABS, "site-tab")
    controls.draw_bar(view)


def _draw_turns(earlier: Sequence[str], newest: RunSnapshot) -> None:
    """The turns before, and the newest."""
    for view in (*map(client.workbench().snapshot, earlier), newest):
        with st.container(key=f"site-turn-{view.run.id}"):
            if earlier:
                st.html(render_question(view))
            if view.state.answers:
                answer_pane.draw(view.state.answers[-1], view)
            elif view is newest:
                progress.draw(view)
            else:
                status = escape.html(labels.STATUS[view.run.status][0])
                st.html(f'<div class="ts soft">{status}: there is no answer to this one.</div>')


def render_question(view: RunSnapshot) -> str:
    """The question of a turn as HTML, with what it was read as when the conversation added to it."""
    state = view.state
    read = f"Read as: {escape.html(state.standalone_question)}" if state.standalone_question else ""
    note = markup.paragraph(read, "small soft")
    return f'<div class="ts"><h2 class="ts-section turn">{escape.html(view.run.question)}</h2>{note}</div>'
