"""How a run stands, in one line made in one place: what it is, one sentence with the reason and what to do
next; at its end the sources, the time, and the cost where there is one."""

from __future__ import annotations

from collections.abc import Mapping

from agent.evidence.conclusion import conclude
from agent.llm.recorded import RECORDED
from agent.text.plurals import format_count
from agent.types import Answer, Settings, Status
from agent.workbench import RunSnapshot
from pages.widgets.run import pause_prompt
from pages.widgets.shell import badges, escape, labels

READY = (Status.REVIEW, Status.DONE)


def render(view: RunSnapshot, hints: Mapping[Status, str]) -> str:
    """The line as HTML."""
    answer = view.state.answers[-1] if view.state.answers else None
    ready = answer if view.run.status in READY else None
    chip, told = _describe_answer(ready) if ready else _describe_work(view, hints)
    if view.run.status is Status.DONE and view.run.is_accepted:
        chip += badges.render("Accepted", "good")
    imported = badges.render("imported", "warn") if view.run.imported else ""
    meta = f'<span class="figures-line small soft">{_render_figures(view, ready)}</span>'
    line = f"{chip}{imported}{told}{meta}"
    status = "paused" if pause_prompt.describe_outage(view) else view.run.status
    return f'<div class="ts-now" data-status="{status}" role="status" aria-live="polite">{line}</div>'


def _describe_answer(answer: Answer) -> tuple[str, str]:
    end = conclude(answer)
    verdict = badges.render(labels.VERDICT[answer.verdict], labels.VERDICT_TONE[answer.verdict])
    number = f" ({labels.format_percent(answer.confidence)})"
    told = " ".join(filter(None, (end.open, end.reason.replace(number, ""), end.next_act)))
    level = (
        f' title="Confidence {labels.format_percent(answer.confidence)}"'
        if answer.confidence is not None
        else ""
    )
    return verdict, f'<span class="say"{level}>{escape.html(told)}</span>'


def _describe_work(view: RunSnapshot, hints: Mapping[Status, str]) -> tuple[str, str]:
    status = badges.render(labels.describe_status(view.run), labels.STATUS_TONE[view.run.status])
    if pause_prompt.describe_outage(view):
        return badges.render("Paused", "warn"), '<span class="say soft">no answer from the model</span>'
    if view.activity:
        activity = escape.html(escape.shorten(view.activity, 140))
        return status, f'<span class="pulse" aria-hidden="true"></span><span class="say">{activity}</span>'
    hint = view.run.error or hints.get(view.run.status, "It could not continue.")
    return status, f'<span class="say">{escape.html(hint)}</span>'


def _render_figures(view: RunSnapshot, answer: Answer | None) -> str:
    """The sources, the time and the cost of a run, and what it reads that is not the web."""
    sources = len(answer.sources) if answer else view.state.pages_read_count
    noun = "source" if answer else "page"
    cost = view.usage.cost_usd or 0.0
    parts = [
        format_count(sources, noun) + ("" if answer else " read"),
        labels.format_duration(view.usage.seconds),
        labels.format_money(cost) if cost else "",
        describe_world(view.run.settings),
    ]
    return " · ".join(filter(None, parts))


def describe_world(settings: Settings) -> str:
    """What a run reads and who answers where that is not the web and one's own model, as HTML; "" else."""
    if settings.world == "live":
        return ""
    world = (
        "demo world" if settings.world == "demo" else f"pages of the {labels.describe_world(settings.world)}"
    )
    means = (
        "Invented pages: nothing here is about the real world."
        if settings.world == "demo"
        else ("Nothing here comes from the live web.")
    )
    recorded = settings.model == RECORDED
    means += " A strong model’s replies to this example, recorded." * recorded
    told = escape.html(world + ", recorded model" * recorded)
    return f'<span class="world" title="{escape.html(means)}">{told}</span>'
