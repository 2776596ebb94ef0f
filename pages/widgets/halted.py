"""What a run asks its person when it rests by itself: a budget is used up, or sources disagree. Every answer carries the head it was given to."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from agent import budgeting
from agent.flows.budget import caps
from agent.types import Cap, Halt, Status
from agent.wording import counted
from agent.workbench import View
from pages.widgets import chips, conflicts, door, limits, safe, words

ASKS = {"conflict": "It asks you: sources disagree.", "": "It asks you: one of its budgets is used."}


def asked(view: View) -> Halt | None:
    """Why it rests and asks; None when it does not."""
    return view.state.halt if view.run.status is Status.PAUSED else None


def sentence(halt: Halt) -> str:
    """What is expected of the reader, in a few words."""
    return ASKS.get(halt.kind, ASKS[""])


def rest(view: View, usual: Mapping[Status, str]) -> dict[Status, str]:
    """What is expected of the reader at each rest: as usual, unless the run asks something."""
    halt = asked(view)
    return {**usual, Status.PAUSED: sentence(halt)} if halt else dict(usual)


def draw(view: View) -> None:
    """The question with its answers; nothing when none is asked."""
    halt = asked(view)
    if halt is None:
        return
    with st.container(border=True, key="research-halt"):
        if halt.kind == "conflict":
            _conflict(view, halt)
        else:
            _cap(view, halt)


def _conflict(view: View, halt: Halt) -> None:
    found = [view.state.conflicts[name] for name in halt.conflicts if name in view.state.conflicts]
    blocks = "".join(conflicts.block(conflict, view.state.facts, view.run.id) for conflict in found)
    st.html(f'<div class="ts"><h2 class="ts-section">Sources disagree</h2>{blocks or _said(halt)}</div>')
    bench, run_id = door.workbench(), view.run.id
    with st.container(horizontal=True):
        st.button(
            "Go on until the next one", type="primary", icon=":material/play_arrow:", key="research-halt-on", on_click=door.tell,
            args=(bench.resume, run_id),
        )  # fmt: skip
        _write(view)
    st.caption("It goes on as it is, or settle it first, under Conflicts below: what you say stands, whatever is read later.")


def _cap(view: View, halt: Halt) -> None:
    name: Cap = halt.kind  # type: ignore[assignment]
    kept = " The tenth that was kept back pays for the answer." if name in budgeting.KEPT else ""
    st.html(f'<div class="ts"><h2 class="ts-section">A budget is used: {words.BUDGET[name].lower()}</h2>{_said(halt)}{so_far(view)}</div>')
    key = f"research-halt-{view.head}"
    most = budgeting.suggested(halt)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        with st.container(width=220):
            wanted = limits.field(name, key, most, least=budgeting.least(halt))
        st.button(
            "Raise it and go on", type="primary", icon=":material/play_arrow:", key="research-halt-raise", on_click=_raise, args=(view, halt, key),
        )  # fmt: skip
        _write(view)
    more = [words.BUDGET[other].lower() for other in raised(view, name, wanted, halt) if other != name]
    with_it = f" Its budget of {' and '.join(more)} is raised with it." if more else ""
    st.caption(f"It goes on exactly where it stood.{with_it} Or have the answer written from what was found.{kept}")


def _raise(view: View, halt: Halt, key: str) -> None:
    """By what stands in the field now: it may have been typed a moment before."""
    name: Cap = halt.kind  # type: ignore[assignment]
    wanted = float(st.session_state.get(key) or 0) * limits.scale(name)
    door.tell(budgeting.raise_caps, door.workbench(), view.run.id, raised(view, name, wanted, halt), view.head)


def raised(view: View, name: Cap, wanted: float, halt: Halt) -> dict[Cap, float]:
    """The caps to set: the one that was met; with the steps the pages, too, when they stood no higher and would be met at once."""
    pages = caps(view.run.settings).get("pages", 0.0)
    return {"steps": wanted, "pages": wanted} if name == "steps" and pages <= halt.cap < wanted else {name: wanted}


def so_far(view: View) -> str:
    """What there is already, as HTML."""
    state = view.state
    facts = sum(fact.verified for fact in state.facts.values())
    marks = [(counted(facts, "fact"), "good" if facts else ""), (counted(state.pages_read, "page") + " read", "")]
    marks.append((f"confidence {words.percent(state.level)} of {words.percent(view.run.settings.threshold)}", ""))
    open_ones = sum(conflict.status == "open" for conflict in state.conflicts.values())
    marks += [(counted(open_ones, "open conflict"), "bad")] if open_ones else []
    return f'<div class="chips">{chips.row(marks)}</div>'


def _said(halt: Halt) -> str:
    told = halt.why[:1].upper() + halt.why[1:]
    return f"<p>{safe.html(told)}{'' if told.endswith('.') else '.'}</p>"


def _write(view: View) -> None:
    st.button(
        "Write the answer now", icon=":material/edit_note:", key="research-halt-write", on_click=door.tell,
        args=(budgeting.write_up, door.workbench(), view.run.id, view.head), help="From what was found so far",
    )  # fmt: skip
