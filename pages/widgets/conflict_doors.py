"""What a person may do about a conflict: rule on it with a reason, open it again, or have the run look for what would settle it."""

from __future__ import annotations

import streamlit as st

from agent import settling as doors
from agent.flows import settling
from agent.types import Conflict, Status
from agent.workbench import View
from pages.widgets import door, ledger_doors, safe

BOTH, NEITHER = "Both hold", "Neither holds"


def draw(view: View, conflict: Conflict) -> None:
    """The row of buttons below a conflict."""
    with st.container(horizontal=True, vertical_alignment="center", key=f"conflict-doors-{conflict.id}"):
        if conflict.status == "settled":
            args = (doors.settle, door.workbench(), view.run.id, conflict.id, "open")
            st.button("Reopen", icon=":material/lock_open:", key=f"conflict-reopen-{conflict.id}", on_click=door.tell, args=args)
        with st.popover("Settle it", icon=":material/gavel:", key=ledger_doors.key(_settle(conflict)), on_change="rerun"):
            _ruling(view, conflict)
        if view.run.settings.flow in doors.LOOKING:
            with st.popover("Look for more evidence", icon=":material/travel_explore:", key=ledger_doors.key(_look(conflict)), on_change="rerun"):
                _search(view, conflict)


def _settle(conflict: Conflict) -> str:
    return f"conflict-settle-{conflict.id}"


def _look(conflict: Conflict) -> str:
    return f"conflict-look-{conflict.id}"


def _ruling(view: View, conflict: Conflict) -> None:
    choice, reason = f"conflict-choice-{conflict.id}", f"conflict-reason-{conflict.id}"
    values = [value.text for value in conflict.values]
    options = [*(f"take {n}" for n in range(len(values))), "both", "neither"]
    st.radio("What holds?", options, index=None, key=choice, format_func=lambda option: _worded(option, values))
    st.text_input("Why? (it stands in the answer)", key=reason, max_chars=settling.LONGEST, placeholder="e.g. The register is the first source.")
    st.button("Settle", type="primary", key=f"conflict-send-{conflict.id}", on_click=_send, args=(view, conflict, choice, reason))


def _worded(option: str, values: list[str]) -> str:
    if option in ("both", "neither"):
        return BOTH if option == "both" else NEITHER
    return safe.md(f"Take “{safe.shorten(values[int(option.split()[1])], 80)}”")


def _send(view: View, conflict: Conflict, choice: str, reason: str) -> None:
    option, because = st.session_state.get(choice), st.session_state.get(reason) or ""
    if not option:
        door.notice("warning", "Choose what holds first.")
        return
    ruling = option if option in ("both", "neither") else "take"
    value = conflict.values[int(option.split()[1])].text if ruling == "take" else ""

    def rule() -> int:
        return doors.settle(door.workbench(), view.run.id, conflict.id, ruling, value=value, because=because)  # type: ignore[arg-type]

    door.tell(rule, done=f"Settled. {ledger_doors.follows(view)}".strip(), then=lambda _: ledger_doors.close(_settle(conflict)))


def _search(view: View, conflict: Conflict) -> None:
    key = f"conflict-query-{conflict.id}"
    st.text_input("Words to search for", value=settling.query(view.state, conflict), key=key, max_chars=settling.LONGEST)
    ended = view.run.status in (Status.REVIEW, Status.DONE)
    st.caption("The run goes on with this search and then writes a new answer." if ended else "This is the next search of the run.")
    st.button("Search for this", type="primary", key=f"conflict-search-{conflict.id}", on_click=_wish, args=(view, conflict, key))


def _wish(view: View, conflict: Conflict, key: str) -> None:
    asked = (doors.look, door.workbench(), view.run.id, conflict.id, st.session_state.get(key) or "")
    door.tell(*asked, done="This is searched for next.", then=lambda _: ledger_doors.close(_look(conflict)))
