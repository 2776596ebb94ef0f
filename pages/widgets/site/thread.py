"""A conversation with a site on the screen: its turns, the newest one followed while it works, what was read
for it, a box to ask a follow-up."""

from __future__ import annotations

import streamlit as st

from agent.text.plurals import format_count
from agent.types import Answer, Settings, Status
from agent.workbench import RunSnapshot
from pages.widgets.evidence import fact_card
from pages.widgets.forms import form_page, source_filter_form
from pages.widgets.run import answer_card, controls, fork_dialog, pause_prompt, run_page
from pages.widgets.shell import badges, client, drafts, escape, labels, markup, ui
from pages.widgets.site import trace

PAGE = run_page.RunPage(
    path="pages/site.py",
    flows=("site",),
    noun="conversation",
    other_flow="This run did not ask a site",
    new_label="Ask another site",
    tabs=(
        "Decisions",
        "Pages read",
        "Source graph",
        "Facts",
        "Unavailable sources",
        "Workflow",
        "Model calls",
    ),
    own_tabs={
        "Decisions": lambda view: st.html(trace.render_decisions(view.state, view.run.id)),
        "Pages read": lambda view: st.html(trace.render_pages(view.state, view.run.id)),
    },
    hints={Status.REVIEW: "Check the quotes, accept the answer, or ask a follow-up."},
)
FOLLOW_UP = "site:follow-up"


def draw(run_id: str) -> None:
    """The conversation of a run; its newest turn is drawn again every second as long as it works."""
    opened = run_page.open_thread(PAGE, run_id)
    if opened is None:
        return
    turns, newest = opened
    _draw_heading(newest)
    for earlier in turns[:-1]:
        _draw_turn(client.workbench().snapshot(earlier))
    run_page.follow(_draw_live, newest)
    _draw_follow_up(newest)


def _draw_heading(view: RunSnapshot) -> None:
    settings = view.run.settings
    ui.link(PAGE.path, PAGE.new_label, "add", {})
    run_page.draw_world_band(settings)
    sites = ", ".join(dict.fromkeys(escape.host(url) for url in settings.start_urls))
    inside = ", ".join(settings.allowed_domains) or "every domain"
    instruction = f" · {escape.html(settings.instruction)}" if settings.instruction else ""
    st.html(
        f'<div class="ts"><h1 class="ts-question">{escape.html(sites)}</h1>'
        f'<p class="small soft">Reads inside {escape.html(inside)}{instruction}</p>'
        f"{source_filter_form.render_summary(settings, allowed=False)}</div>"
    )


def _draw_turn(view: RunSnapshot) -> None:
    """An earlier turn: the question and what was answered, its quotes a click away."""
    with st.container(border=True, key=f"site-turn-{view.run.id}"):
        st.html(render_question(view))
        if view.state.answers:
            st.html(render_answer(view.state.answers[-1], view))
        else:
            status = escape.html(labels.STATUS[view.run.status])
            st.html(f'<div class="ts soft">{status}: there is no answer to this one.</div>')


def _draw_live(view: RunSnapshot) -> None:
    answers = view.state.answers
    with st.container(border=True, key="site-newest"):
        st.html(render_question(view))
        fork_dialog.draw_origin(view)
        st.html(render_status(view))
        client.show_notice("site-talk")
        controls.draw(view)
        pause_prompt.draw(view)
        fact_card.draw(view)
        with st.container():  # what follows keeps its position
            if answers:
                st.html(render_answer(answers[-1], view, newest=True))
                answer_card.draw_changes(answers)
                if not answers[-1].is_small_talk:
                    controls.draw_review(view)
        if view.run.status is not Status.RUNNING:
            fork_dialog.draw_menu(view)
    run_page.draw_tabs(PAGE, view)


def render_question(view: RunSnapshot) -> str:
    """The question of a turn as HTML, with what it was read as when the conversation added to it."""
    state = view.state
    read = f"Read as: {escape.html(state.standalone_question)}" if state.standalone_question else ""
    note = markup.paragraph(read, "small soft")
    return f'<div class="ts"><h2 class="ts-section turn">{escape.html(view.run.question)}</h2>{note}</div>'


def render_answer(given: Answer, view: RunSnapshot, *, newest: bool = False) -> str:
    """An answer as its card, that of the newest turn with a way to its facts; a refusal in its own words."""
    kind = labels.REFUSAL.get(given.reason, labels.VERDICT[given.verdict])
    return answer_card.render_turn(given, view, kind, editable=newest)


def render_status(view: RunSnapshot) -> str:
    """How the newest turn stands, as HTML."""
    state = view.state
    known = len(state.own.all_discovered_urls) - len(state.own.visited_urls)
    reused = len(state.own.reused)
    read = "".join(
        [
            badges.render(format_count(state.pages_read_count, "page") + " read"),
            badges.render(f"{reused:,} of them from the library") if reused else "",
            badges.render(f"{known:,} addresses not read") if known else "",
        ]
    )
    polite = bool(state.answers) and state.answers[-1].is_small_talk
    rest = {
        **pause_prompt.build_rest_hints(view, PAGE.hints),
        **({Status.DONE: "Ask a follow-up at any time."} if polite else {}),
    }
    return f'<div class="ts">{run_page.render_status(view, rest, read)}</div>'


def _draw_follow_up(view: RunSnapshot) -> None:
    """The box for a further question; it waits while an answer is on its way."""
    busy = view.run.status in (Status.RUNNING, Status.PAUSED)
    with st.container(key="site-ask-on"):
        hint = "e.g. And for international orders?"
        drafts.text_area("Ask a follow-up", FOLLOW_UP, placeholder=hint, height=80)
        ui.button(
            "Ask",
            "site-follow",
            _send_follow_up,
            view.run.id,
            form_page.choose_next_model(view),
            icon="forum",
            type="primary",
            disabled=busy,
            help="The previous answer is still being written" if busy else None,
        )


def _send_follow_up(run_id: str, settings: Settings) -> None:
    question = drafts.read(FOLLOW_UP)
    form_page.start_run(client.workbench().follow_up, run_id, question, settings, sent=[FOLLOW_UP])
