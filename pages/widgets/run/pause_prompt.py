"""What a run asks its person when it rests by itself: a budget is used up, sources disagree, a note leaves
out most of what is known, or the model server is dead. An answer carries the head it was given to."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from agent.actions import budget, conflict_rulings, page_input
from agent.actions.budget import list_caps
from agent.flows.research.policy import CHECK_PLAN
from agent.text.plurals import format_count
from agent.text.sentences import format_sentence
from agent.types import Cap, PauseRequest, Status
from agent.workbench import RunSnapshot
from pages.widgets.evidence import conflict_list
from pages.widgets.forms import budget_fields
from pages.widgets.run import answer_pane
from pages.widgets.shell import badges, client, escape, labels, places, polling, ui

MAX_RETRIED = 4
"""Failed searches and pages that are tried again at once."""
PROMPTS = {
    "conflict": "Sources disagree: which side holds?",
    "quota": "Your quota of the day is used up.",
    "model": "Its model failed, or another one is set up: choose.",
    "recorded": "Recorded until here.",
    "exclusion": "Your note leaves out most of the facts: really?",
    "": "A limit is reached: raise it, or have the answer written.",
}


def find_pause_request(view: RunSnapshot) -> PauseRequest | None:
    """Why it rests and asks; None when it does not."""
    return view.state.halt if view.run.status is Status.PAUSED else None


USUAL_HINTS = {
    Status.PAUSED: "Paused. Resume at any time.",
    Status.STOPPED: "Nothing is lost: continue, or write the answer from what was found.",
    Status.DONE: "You accepted this answer.",
}


def build_rest_hints(view: RunSnapshot, usual: Mapping[Status, str]) -> dict[Status, str]:
    """What is expected of the reader at each rest: as usual, unless the run asks something."""
    halt = find_pause_request(view)
    asked = {Status.PAUSED: PROMPTS.get(halt.kind, PROMPTS[""])} if halt else {}
    asked |= {Status.WAITING: "Check the plan."} if view.next == CHECK_PLAN else {}
    return {**USUAL_HINTS, **usual, **asked}


def is_empty(view: RunSnapshot) -> bool:
    """Whether it waits with an answer that says nothing, and no fact was found."""
    is_reviewed = view.run.status is Status.REVIEW and bool(view.state.answers)
    return is_reviewed and not (view.state.facts or view.state.answers[-1].sentences)


def draw(view: RunSnapshot, *, in_bar: bool = False) -> None:
    """The question with its answers: in the place of the answer, or in the bar where there is one, which then
    does not move."""
    if in_bar is is_answered(view):
        draw_outage(view)
        _draw_halt(view)


def is_answered(view: RunSnapshot) -> bool:
    """Whether there is an answer to read."""
    return bool(view.state.answers and view.state.answers[-1].sentences)


@places.in_place
def _draw_halt(view: RunSnapshot) -> None:
    halt = find_pause_request(view)
    if is_empty(view):
        _draw_nothing(view)
    if halt is None or (halt.kind == "model" and client.workbench().explain_other_model(view.run.settings)):
        return  # the controls have that choice
    if halt.kind == "model":
        _draw_failed_model(view, halt.why)
        return
    cards = {
        "conflict": _draw_conflict,
        "quota": _draw_quota,
        "recorded": _draw_recorded_end,
        "exclusion": _draw_exclusion,
    }
    with st.container(border=True, key="research-halt"):
        cards.get(halt.kind, _draw_budget)(view, halt)


def _draw_card(title: str, told: str, after: str = "") -> Any:
    """The words of a card; gives the row for its buttons."""
    st.html(f'<div class="ts"><h2 class="ts-section">{title}</h2>{told}{after}</div>')
    return st.container(horizontal=True, vertical_alignment="bottom")


def describe_outage(view: RunSnapshot) -> str:
    """That the run rests because its model failed; "" when it does not."""
    is_running = view.run.status is Status.RUNNING
    return client.workbench().worker.describe_rest(view.run.id) if is_running else ""


@places.in_place
def draw_outage(view: RunSnapshot) -> None:
    """That the run rests because its model failed, and goes on by itself; and the way without it."""
    if told := describe_outage(view):
        _draw_failed_model(view, f"{told} Nothing is lost or paid twice.")


def _draw_failed_model(view: RunSnapshot, told: str) -> None:
    with (
        st.container(border=True, key="run-outage"),
        _draw_card("The model does not answer", f"<p>{escape.html(told)}</p>"),
    ):
        if view.run.status is Status.RUNNING:
            try_now = partial(client.workbench().worker.try_model_now, view.run.id)
            ui.button("Try now", "run-outage-try", try_now, icon="refresh")
        hint = "Show the passages that were found, without a judgement"
        ui.act(view, "drop_model", "run-outage-on", "Go on without the model", icon="mode_off_on", help=hint)


def _draw_nothing(view: RunSnapshot) -> None:
    """What to do where nothing was found: it may be the network."""
    failed = [one.what for one in page_input.list_failed_requests(view.state) if one.can_retry]
    is_offline = view.run.settings.world == "live" and not client.is_online()
    if not failed and not is_offline:
        return
    title = "There is no network" if is_offline else "Nothing could be read"
    told = "The web cannot be read now. " * is_offline + "Try again, or ask in other words."
    with st.container(border=True, key="run-nothing"), _draw_card(title, f"<p>{told}</p>"):
        if failed:
            ui.button("Try again", "run-retry", _retry, view.run.id, failed[:MAX_RETRIED], icon="refresh")
        if is_offline:
            ui.button("Use the demo", "run-use-demo", _use_demo, icon="cottage")


def _retry(run_id: str, failed: list[str]) -> None:
    for what in failed:
        client.act(run_id, "retry", what=what)


def _use_demo() -> None:
    """The empty screen, in the demo world."""
    st.session_state["research-world"] = "demo"
    st.query_params.clear()
    st.session_state[polling.SWITCHED_KEY] = True


def _draw_conflict(view: RunSnapshot, halt: PauseRequest) -> None:
    """The values that are said and where; the way to settle it beside the answer."""
    found, told = [view.state.conflicts[i] for i in halt.conflicts if i in view.state.conflicts], ""
    for conflict in found:
        sides = "".join(
            f"<li><b>{escape.html(side.value)}</b> {escape.html(', '.join(side.sites))}</li>"
            for side in conflict_rulings.summarize_sides(conflict, view.state.facts)
        )
        told += f"{conflict_list.render_head(conflict)}<ul>{sides}</ul>"
    with _draw_card("Sources disagree", told or _render_reason(halt)):
        if found:
            see = f"{view.run.id}.{found[0].id}"
            ui.button("Settle it", "research-halt-settle", answer_pane.open_evidence, see, type="primary")
        ui.act(view, "resume", "research-halt-on", "Continue to the next conflict", icon="play_arrow")
        _draw_write_button(view)


def _draw_quota(view: RunSnapshot, halt: PauseRequest) -> None:
    with _draw_card("Quota of the day used up", _render_reason(halt), render_progress(view)):
        _draw_write_button(view)
        ui.act(view, "resume", "research-halt-on", "Continue", icon="play_arrow")
        if (owner := client.person()) and owner.is_admin:
            ui.link("pages/people.py", "Raise it under People", "group")
    st.caption(
        "Nothing is lost: write the answer from what was found, or continue when there is quota again."
    )


def _draw_recorded_end(view: RunSnapshot, halt: PauseRequest) -> None:
    """Nothing was recorded for the run as it is: the ways on."""
    told = (
        "<p>The demo’s examples are answered by recorded replies of a strong model; none was recorded for "
        "the point that this run came to. Connect a model and go on with it, or see the passages.</p>"
    )
    worker, wanted = client.workbench().worker, view.run.settings.replace(model="auto")
    with _draw_card("Recorded until here", told, render_progress(view)):
        if name := worker.name_model(wanted):
            given = {"served_by": worker.mark_model(wanted)}
            label = f"Go on with {escape.md(name)}"
            ui.act(view, "keep_model", "research-halt-model", label, icon="play_arrow", given=given)
        else:
            ui.link("pages/settings.py", "Connect a model", "key")
        hint = "Go on without a model: the passages that fit best, as quotes"
        ui.act(view, "drop_model", "research-halt-drop", "See the passages", icon="format_quote", help=hint)


def _draw_exclusion(view: RunSnapshot, halt: PauseRequest) -> None:
    with _draw_card("Leave these sources out?", _render_reason(halt)):
        ui.act(view, "leave_out", "research-halt-leave-out", type="primary")
        ui.act(view, "keep_sources", "research-halt-keep")
    st.caption("Either way the rest of your note is followed.")


def _draw_budget(view: RunSnapshot, halt: PauseRequest) -> None:
    name: Cap = halt.kind  # type: ignore[assignment]
    key = f"research-halt-{view.head}"
    title = f"A limit is reached: {labels.BUDGET[name].lower()}"
    with _draw_card(title, _render_reason(halt), render_progress(view)):
        with st.container(width=220):
            most, least = budget.suggest_cap(halt), budget.find_minimum_cap(halt)
            wanted = budget_fields.draw_field(name, key, most, least=least)
        raise_it = partial(_raise_budget, view, halt, key)
        look: Any = {"icon": "play_arrow", "type": "primary"}
        ui.button("Raise it and continue", "research-halt-raise", raise_it, **look)
        _draw_write_button(view)
    raised = plan_raised_caps(view, name, wanted, halt)
    more = [labels.BUDGET[other].lower() for other in raised if other != name]
    with_it = f" Its limit of {' and '.join(more)} is raised with it." if more else ""
    kept = " A tenth was kept for the answer." if name in budget.MODEL_BUDGETS else ""
    st.caption(f"It goes on where it paused.{with_it}{kept}")


def _raise_budget(view: RunSnapshot, halt: PauseRequest, key: str) -> None:
    """By what stands in the field now: it may have been typed a moment before."""
    name: Cap = halt.kind  # type: ignore[assignment]
    wanted = float(st.session_state.get(key) or 0) * budget_fields.get_unit_scale(name)
    client.act(view.run.id, "raise", view.head, caps=plan_raised_caps(view, name, wanted, halt))


def plan_raised_caps(view: RunSnapshot, name: Cap, wanted: float, halt: PauseRequest) -> dict[Cap, float]:
    """The caps to set: the one that was met; with the steps the pages, too, when they stood no higher and
    would be met at once."""
    pages = list_caps(view.run.settings).get("pages", 0.0)
    both = name == "steps" and pages <= halt.cap < wanted
    return {"steps": wanted, "pages": wanted} if both else {name: wanted}


def render_progress(view: RunSnapshot) -> str:
    """What there is already, as HTML."""
    state = view.state
    facts = sum(fact.verified for fact in state.facts.values())
    pages = format_count(state.pages_read_count, "page") + " read"
    marks = [(format_count(facts, "fact"), "good" if facts else ""), (pages, "")]
    if (level := state.shown_confidence) is not None:
        goal = labels.format_percent(view.run.settings.threshold)
        marks.append((f"confidence {labels.format_percent(level)} (target {goal})", ""))
    open_ones = sum(conflict.status == "open" for conflict in state.conflicts.values())
    marks += [(format_count(open_ones, "open conflict"), "bad")] if open_ones else []
    return f'<div class="chips">{badges.render_row(marks)}</div>'


def _render_reason(halt: PauseRequest) -> str:
    return f"<p>{escape.html(format_sentence(halt.why))}</p>"


def _draw_write_button(view: RunSnapshot) -> None:
    hint = "From what was found so far"
    ui.act(view, "finish", "research-halt-write", "Write the answer now", icon="edit_note", help=hint)
