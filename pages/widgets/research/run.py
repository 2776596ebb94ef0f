"""One research run on the screen: it follows the run while it works, and looks the same after a refresh or in
a second tab."""

from __future__ import annotations

import streamlit as st

from agent.text.plurals import format_count
from agent.types import Status
from agent.workbench import RunSnapshot
from pages.widgets.evidence import fact_card, unreadable_pages
from pages.widgets.research import outline_panel, plan_panel, revision_panel
from pages.widgets.run import answer_card, controls, pause_prompt, pending_decision, run_page, stats, timeline
from pages.widgets.shell import badges, client, places, ui, view_cache

PAGE = run_page.RunPage(
    path="pages/research.py",
    flows=("research",),
    noun="run",
    other_flow="This run did not research a question",
    new_label="New question",
    tabs=tuple(run_page.COMMON_TABS),
    hints={
        Status.WAITING: "Decide on the next step.",
        Status.REVIEW: "Read the answer, check its quotes, then accept it or send it back.",
    },
)


def draw(run_id: str) -> None:
    """The run, drawn again every second as long as it works."""
    if view := run_page.open_run(PAGE, run_id):
        run_page.follow(_draw_live, view)
        revision_panel.draw_follow_up(view)  # not in the part that is drawn again: it leads to another run


def _draw_live(view: RunSnapshot) -> None:
    run_page.draw_heading(PAGE, view, revision_panel.render_thread(view), chips=_render_warnings(view))
    client.show_notice("run")
    controls.draw(view)
    stats.draw(view)
    pause_prompt.draw(view)
    revision_panel.draw_understood(view)
    if view.state.answers:
        st.empty()  # in the place of the plan, which stands below the answer now
    else:
        plan_panel.draw(view)
    outline_panel.draw(view)
    pending_decision.draw(view, _list_engines(view))
    fact_card.draw(view)
    _draw_answer(view)
    left, right = st.columns([3, 4], gap="medium")
    with left:
        ui.heading("Journey")
        timeline.draw_run(view)
    with right:
        run_page.draw_tabs(PAGE, view)


@places.in_place
def _draw_answer(view: RunSnapshot) -> None:
    if not view.state.answers:
        return
    with st.container(border=True, key="research-answer"):
        revision_panel.draw_comment(view)  # first: a link to it opens the page at its top
        answer_card.draw(view, comments=view.run.status is Status.REVIEW)
        outline_panel.draw_rewrite(view)
        controls.draw_review(view)
    plan_panel.draw(view)


def _render_warnings(view: RunSnapshot) -> str:
    """What a person should not miss, whichever tab is open."""
    disputes = sum(conflict.status == "open" for conflict in view.state.conflicts.values())
    unreadable = view_cache.get_or_compute(
        view, "unreadable", lambda: unreadable_pages.count_failed_requests(view.state)
    )
    conflicts = badges.render(format_count(disputes, "open conflict"), "bad") if disputes else ""
    return conflicts + (badges.render(format_count(unreadable, "unavailable source")) if unreadable else "")


def _list_engines(view: RunSnapshot) -> dict[str, str]:
    """The engines that a changed decision may use, with their labels."""
    live = view.run.settings.world == "live"
    own = {"duckduckgo": "the world's own index"}
    engines = client.workbench().active_configuration().engines if live else own
    return {name: label for name, label in engines.items() if name in (view.run.settings.engines or engines)}
