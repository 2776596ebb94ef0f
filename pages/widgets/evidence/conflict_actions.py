"""What a person may do about a conflict: rule on it with a reason, open it again, or have the run look for
what would settle it."""

from __future__ import annotations

import streamlit as st

from agent.actions import acts, conflict_rulings
from agent.flows.research.policy import settling_query
from agent.types import Conflict, Status
from agent.workbench import RunSnapshot
from pages.widgets.evidence import fact_actions
from pages.widgets.shell import client, escape, ui


def draw(view: RunSnapshot, conflict: Conflict) -> None:
    """The row of buttons below a conflict."""
    with st.container(horizontal=True, vertical_alignment="center", key=f"conflict-doors-{conflict.id}"):
        label = "Overturn" if conflict.settled_by == "model" else "Resolve"
        with ui.popover(label, _resolve_key(conflict), "gavel"):
            _draw_resolve_form(view, conflict)
        if acts.is_possible("look", view):
            with ui.popover("Look for more evidence", _search_key(conflict), "travel_explore"):
                _draw_search_form(view, conflict)
        if conflict.status == "settled":  # last: the menus before it keep their position
            given = {"conflict": conflict.id, "ruling": "open"}
            key = f"conflict-reopen-{conflict.id}"
            ui.act(view, "settle", key, "Reopen", icon="lock_open", given=given)


def _resolve_key(conflict: Conflict) -> str:
    return f"conflict-settle-{conflict.id}"


def _search_key(conflict: Conflict) -> str:
    return f"conflict-look-{conflict.id}"


def _draw_resolve_form(view: RunSnapshot, conflict: Conflict) -> None:
    choice, reason = f"conflict-choice-{conflict.id}", f"conflict-reason-{conflict.id}"
    takes = (escape.md(f"Take “{escape.shorten(value.text, 80)}”") for value in conflict.values)
    names = {f"take {n}": take for n, take in enumerate(takes)}
    names |= {"both": "Both are correct", "neither": "Neither is correct"}
    st.radio("Which is correct?", list(names), index=None, key=choice, format_func=names.__getitem__)
    most, hint = conflict_rulings.MAX_REASON_CHARS, "e.g. The register is the first source."
    st.text_input("Why? (shown in the answer)", key=reason, max_chars=most, placeholder=hint)
    args = (_resolve, view, conflict, choice, reason)
    ui.button("Save decision", f"conflict-send-{conflict.id}", *args, type="primary")


def _resolve(view: RunSnapshot, conflict: Conflict, choice: str, reason: str) -> None:
    option, because = st.session_state.get(choice), st.session_state.get(reason) or ""
    if not option:
        client.set_notice("warning", "Choose what holds first.")
        return
    ruling = option if option in ("both", "neither") else "take"
    value = conflict.values[int(option.split()[1])].text if ruling == "take" else ""

    client.act(
        view.run.id,
        "settle",
        conflict=conflict.id,
        ruling=ruling,
        value=value,
        because=because,
        done=f"Settled. {fact_actions.describe_consequence(view)}".strip(),
        then=lambda _: ui.close_popover(_resolve_key(conflict)),
    )


def _draw_search_form(view: RunSnapshot, conflict: Conflict) -> None:
    key = f"conflict-query-{conflict.id}"
    st.text_input(
        "Words to search for",
        value=settling_query(view.state, conflict),
        key=key,
        max_chars=conflict_rulings.MAX_REASON_CHARS,
    )
    ended = view.run.status in (Status.REVIEW, Status.DONE)
    st.caption(
        "The run goes on with this search and then writes a new answer."
        if ended
        else "This is the next search of the run."
    )
    args = (_request_search, view, conflict, key)
    ui.button("Search for this", f"conflict-search-{conflict.id}", *args, type="primary")


def _request_search(view: RunSnapshot, conflict: Conflict, key: str) -> None:
    then = {"then": lambda _: ui.close_popover(_search_key(conflict)), "done": "This is searched for next."}
    client.act(view.run.id, "look", conflict=conflict.id, words=st.session_state.get(key) or "", **then)
