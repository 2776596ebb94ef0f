"""How a run stands, in one line made in one place: what it is, one sentence with the reason and what to do
next; at its end the sources, the time, and the cost where there is one."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from agent.evidence.conclusion import conclude
from agent.llm.recorded import RECORDED
from agent.text.plurals import format_count
from agent.types import Answer, Settings, Status
from agent.workbench import RunSnapshot
from pages.widgets.run import answer_pane, pause_prompt, progress
from pages.widgets.shell import badges, client, escape, labels, ui

READY = (Status.REVIEW, Status.DONE)


def draw(view: RunSnapshot, hints: Mapping[Status, str]) -> None:
    """The line; where sources disagree on what is asked, with the way to settle it."""
    answer = _find_ready(view)
    conflicts = [view.state.conflicts.get(i) for i in answer.conflicts] if answer else []
    is_open = [one for one in conflicts if one and one.status == "open"]
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="run-status"):
        st.html(f'<div class="ts">{render(view, hints)}</div>', width="content")
        if is_open:
            see = f"{view.run.id}.{is_open[0].id}"
            ui.button("Settle it", "status-settle", answer_pane.open_evidence, see, type="tertiary")
        if _is_unjudged(answer) and not (view.run.is_accepted or client.has_model("auto")):
            ui.link("pages/settings.py", "Connect a model", "key")
        figures = f'<p class="small soft">{_render_figures(view, answer)}</p>'
        st.html(f'<div class="ts">{figures}</div>', width="content")


def render(view: RunSnapshot, hints: Mapping[Status, str]) -> str:
    """The verdict or status and its sentence as HTML."""
    answer = _find_ready(view)
    chip, told = describe_answer(answer) if answer else _describe_work(view, hints)
    if view.run.status is Status.DONE and view.run.is_accepted:
        chip += badges.render("Accepted", "good")
    imported = badges.render("imported", "warn") if view.run.imported else ""
    status = "paused" if pause_prompt.describe_outage(view) else view.run.status
    line = f"{chip}{imported}{told}"
    names = f'data-run="{view.run.id}" data-status="{status}"'
    return f'<div class="ts-now" {names} role="status" aria-live="polite">{line}</div>'


def _find_ready(view: RunSnapshot) -> Answer | None:
    """The newest answer, when nothing works on a next one."""
    return view.state.answers[-1] if view.state.answers and view.run.status in READY else None


def _is_unjudged(answer: Answer | None) -> bool:
    return answer is not None and answer.verdict == "passages_found"


def describe_answer(answer: Answer) -> tuple[str, str]:
    """The verdict as a chip, and its sentence: the reason, and what to do next."""
    end = conclude(answer)
    verdict = badges.render(*labels.mark_verdict(answer.verdict))
    next_act = "" if answer.conflicts or _is_unjudged(answer) else end.next_act  # there is a button
    reason = end.reason if answer.sentences else ""  # the answer itself says why there is none
    told, tip = " ".join(filter(None, (end.open, reason, next_act))), ""
    if answer.confidence is not None:  # the word is on the page, the number where somebody points at it
        percent = labels.format_percent(answer.confidence)
        told, tip = told.replace(f" ({percent})", ""), f' title="Confidence {percent}"'
    return verdict, f'<span class="say"{tip}>{escape.html(told)}</span>'


def _describe_work(view: RunSnapshot, hints: Mapping[Status, str]) -> tuple[str, str]:
    status = badges.render(*labels.mark_status(view.run))
    if pause_prompt.describe_outage(view):
        return badges.render("Paused", "warn"), '<span class="say soft">no answer from the model</span>'
    if activity := progress.describe_activity(view):
        activity = escape.html(escape.shorten(activity, 160))
        return status, f'<span class="pulse" aria-hidden="true"></span><span class="say">{activity}</span>'
    hint = view.run.error or hints.get(view.run.status, "It could not continue.")
    return status, f'<span class="say">{escape.html(hint)}</span>'


def _render_figures(view: RunSnapshot, answer: Answer | None) -> str:
    """The sources, the time and the cost of a run, and what it reads that is not the web."""
    count = len(answer.sources) if answer else view.state.pages_read_count
    read = format_count(count, "source") if answer else format_count(count, "page") + " read"
    took = labels.format_duration(view.usage.seconds) if view.usage.seconds >= 1 else ""
    cost = labels.format_money(view.usage.cost_usd) if view.usage.cost_usd else ""
    return " · ".join(filter(None, (read * bool(count), took, cost, describe_world(view.run.settings))))


def describe_world(settings: Settings) -> str:
    """What a run reads and who answers where that is not the web and one's own model, as HTML; "" else."""
    if settings.world == "live":
        return ""
    is_demo, is_recorded = settings.world == "demo", settings.model == RECORDED
    world = "demo world" if is_demo else f"pages of the {labels.describe_world(settings.world)}"
    means = "Invented pages: nothing here is about the real world."
    means = means if is_demo else "Nothing here comes from the live web."
    means += " A strong model’s replies to this example, recorded." * is_recorded
    told = escape.html(world + ", recorded model" * is_recorded)
    return f'<span class="world" title="{escape.html(means)}">{told}</span>'
