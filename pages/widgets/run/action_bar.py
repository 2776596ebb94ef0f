"""The bar that is always in view: what a person may do with the run now, and the box for a further
question."""

from __future__ import annotations

import streamlit as st

from agent.types import Settings, Status
from agent.workbench import RunSnapshot
from pages.widgets.forms import form_page
from pages.widgets.research import revision_panel
from pages.widgets.run import controls, pause_prompt
from pages.widgets.shell import client, drafts, polling

THREADED_FLOWS = ("research", "site")
"""Those whose runs take a further question."""
RESTS = (Status.REVIEW, Status.DONE)


def draw(view: RunSnapshot) -> None:
    """The acts that fit how the run stands."""
    with st.container(key="run-bar"):
        pause_prompt.draw(view, in_bar=True)
        if view.run.settings.flow == "research" and view.state.answers and not view.run.is_accepted:
            revision_panel.draw_understood(view)
        if view.run.status not in RESTS or not view.state.answers:
            controls.draw(view)
            return
        if view.run.status is Status.REVIEW:
            controls.draw_other_model(view)
            controls.draw_recorded_act(view)
        with st.container(horizontal=True, vertical_alignment="center", key="research-review"):
            controls.draw_answer_acts(view)
            if view.run.settings.flow not in THREADED_FLOWS:
                return
            with st.container(key="run-bar-ask"):
                _draw_further_question(view)
    drafts.track_chat_box(f"follow:{view.run.id}")


def _draw_further_question(view: RunSnapshot) -> None:
    draft, key = f"follow:{view.run.id}", f"ask-{view.run.id}"
    settings = form_page.choose_next_model(view)
    if key not in st.session_state:
        drafts.restore(key, draft)
    st.chat_input(
        "Ask a further question",
        key=key,
        on_submit=_ask,
        args=(view.run.id, key, draft, settings),
    )


def _ask(run_id: str, key: str, draft: str, settings: Settings) -> None:
    text = st.session_state.get(key) or ""
    client.workbench().store.draft(draft, text)  # it stands in the box again where it is refused
    form_page.start_run(client.workbench().follow_up, run_id, text, settings, sent=[draft])
    drafts.restore(key, draft)
    st.session_state[polling.SWITCHED_KEY] = True
