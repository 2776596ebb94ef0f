"""One batch on the screen: how far it is, what it spent, its rows in pages; it follows the batch's work."""

from __future__ import annotations

import functools
from typing import Any

import streamlit as st

from agent.batch import jobs
from agent.batch.jobs import BatchStatus
from agent.errors import NotFound
from agent.types import Batch, BatchRow, RowState
from pages.widgets.batch import form
from pages.widgets.run import export_menu, run_page, status_line
from pages.widgets.shell import (
    badges,
    client,
    escape,
    labels,
    markup,
    pagination,
    polling,
    routes,
    ui,
)

PAGE_SIZE = 25
STATES = {
    "running": ("Working", "live", "New rows start as others end."),
    "stopped": ("Stopped", "", "Nothing is lost: its runs rest where they stood."),
    "spent": (
        "Budget used up",
        "warn",
        "No more rows start. Raise the budget and continue, or export the table as it is.",
    ),
    "done": ("Done", "good", "Every row came to its end. Open one to check it, or take the table along."),
    "deleted": ("In the bin", "", "Restore it and its runs come back."),
}
"""How a batch stands: the word, its tone, what to do."""
ROW_CHIPS: dict[RowState, tuple[str, str]] = {
    "done": ("done", "good"),
    "running": ("at work", "live"),
    "waiting": ("waiting", ""),
    "resting": ("stopped", ""),
    "failed": ("failed", "bad"),
    "refused": ("cannot be asked", "bad"),
    "binned": ("in the bin", ""),
}
"""How a row stands: the words, their tone; in the order in which the meter shows them."""


def draw(batch_id: str) -> None:
    """The batch, drawn again every second as long as it works."""
    try:
        now = jobs.get_status(client.workbench(), batch_id)
    except NotFound:
        run_page.draw_missing(
            "batch",
            f"There is no batch called {escape.shorten(batch_id, 40)}",
            "pages/batch.py",
            "Ask other questions",
        )
        return
    st.set_page_config(page_title=f"{escape.shorten(now.batch.name, 50)} · Touchstone")
    polling.follow(lambda: jobs.get_status(client.workbench(), batch_id), _is_working, _draw_live, now)


def _is_working(now: BatchStatus) -> bool:
    return now.batch.state == "running" or now.state_counts["running"] > 0


def _draw_live(now: BatchStatus) -> None:
    with st.container(horizontal=True, key="run-head"):
        st.html(render_heading(now), width="stretch")
        ui.link("pages/batch.py", "Other questions", "add")
    client.show_notice("batch-run")
    st.html(render_meter(now))
    _draw_controls(now)
    batch_id, chosen = now.batch.id, now.rows
    there = [state for state in ROW_CHIPS if now.state_counts[state]]
    if len(there) > 1:
        names: dict[str, str] = {"": "All", **{state: ROW_CHIPS[state][0].capitalize() for state in there}}
        state = ui.select("Show", names, f"batch-show-{batch_id}", width=220)
        chosen = [row for row in now.rows if state in ("", row.state)]
    shown = pagination.take_page(chosen, PAGE_SIZE, f"batch-rows-{batch_id}")
    st.html(render_table(shown, [jobs.describe_row(client.workbench(), row) for row in shown], now.batch))
    pagination.draw(len(chosen), PAGE_SIZE, f"batch-rows-{batch_id}", "rows")


def render_heading(now: BatchStatus) -> str:
    """The name, how it stands, and what it has used of its budget, as HTML."""
    name, tone, told = STATES[now.batch.state]
    pulse = '<span class="pulse" aria-hidden="true"></span>' if _is_working(now) else ""
    if now.batch.state == "spent" and now.exhausted_budget:
        told = f"{now.exhausted_budget[:1].upper()}{now.exhausted_budget[1:]}. {told}"
    if now.batch.state == "done" and now.state_counts["failed"]:
        told = "Some rows failed: see why, and try them again."
    said = f'{pulse}<span class="say soft">{escape.html(told)}</span>'
    figures = f'<span class="small soft">{_render_figures(now)}</span>'
    line = f"{badges.render(name, tone)}{said}{figures}"
    return (
        f'<div class="ts"><h1 class="ts-question">{escape.html(now.batch.name)}</h1>'
        f'<div class="ts-now" role="status" aria-live="polite">{line}</div></div>'
    )


def _render_figures(now: BatchStatus) -> str:
    spent, most = now.usage, now.batch.allowance
    calls = f"{spent.llm_calls:,} of {most.max_calls:,} model calls" if spent.llm_calls else ""
    money = (labels.format_money(amount) for amount in (spent.cost_usd, most.max_cost_usd))
    cost = " of ".join(money) if spent.cost_usd else ""
    work = f"{labels.format_duration(spent.seconds)} of {most.max_minutes:g} min"
    world = status_line.describe_world(now.batch.settings)
    return " · ".join(filter(None, (calls, cost, work, world)))


def render_meter(now: BatchStatus) -> str:
    """How many rows stand how: a bar in parts, and the same in words."""
    counts, total = now.state_counts, max(1, len(now.rows))
    there = {state: f"{counts[state]:,} {name}" for state, (name, _) in ROW_CHIPS.items() if counts[state]}
    parts = "".join(f'<i class="{state}" style="width:{counts[state] / total:.4%}"></i>' for state in there)
    said = ", ".join(there.values())
    legend = "".join(f'<span><i class="{state}"></i>{told}</span>' for state, told in there.items())
    return (
        f'<div class="ts batch-meter"><div class="bar" role="img" aria-label="{said}">{parts}</div>'
        f'<div class="legend">{legend}</div></div>'
    )


def _draw_controls(now: BatchStatus) -> None:
    bench, batch_id = client.workbench(), now.batch.id
    with st.container(horizontal=True, vertical_alignment="center", key="batch-controls"):
        with st.container(horizontal=True, width="content"):  # the menu after it keeps its position
            if _is_working(now):
                ui.action("Stop", "batch-stop", jobs.stop, bench, batch_id, icon="stop")
            if now.can_resume and not now.exhausted_budget:
                go_on = (jobs.resume, bench, batch_id)
                ui.action("Continue", "batch-go-on", *go_on, icon="play_arrow", type="primary")
            if now.state_counts["failed"] and not _is_working(now) and now.batch.state != "deleted":
                again = functools.partial(jobs.resume, bench, batch_id, failed=True)
                ui.action("Try failed rows again", "batch-again", again, icon="replay")
        name = export_menu.make_file_name(now.batch.name)
        make: Any = functools.partial(jobs.export_csv, bench, batch_id)
        ui.download(
            "Table (CSV)",
            "batch-csv",
            lambda: make().encode("utf-8-sig"),
            f"{name}.answers.csv",
            "text/csv",
            icon=":material/download:",
        )
        as_json = functools.partial(jobs.export_json, bench, batch_id)
        ui.download("JSON", "batch-json", as_json, f"{name}.answers.json", "application/json")
        if not _is_working(now):
            is_in_bin = now.batch.state == "deleted"
            label, icon = ("Restore", "undo") if is_in_bin else ("Delete", "delete")
            what = (jobs.set_deleted, bench, batch_id, not is_in_bin)
            ui.action(label, "batch-delete", *what, icon=icon, type="tertiary")
    spent = bool(now.exhausted_budget)
    with st.expander(
        "Budget", spent, icon=":material/savings:", key=f"batch-raise-{batch_id}", type="compact"
    ):
        key = f"batch-raised-{batch_id}"
        wanted = form.draw_budget(now.batch.allowance, key)
        raised = (jobs.resume, bench, batch_id, wanted)
        ui.action("Set the budget and continue", f"{key}-set", *raised, type="primary")


def render_table(rows: list[BatchRow], results: list[dict[str, Any]], batch: Batch) -> str:
    """The rows as an HTML table, each with the way to its run."""
    body = "".join(_render_row(row, result, batch) for row, result in zip(rows, results, strict=True))
    head = "".join(f"<th>{name}</th>" for name in ("Row", "Question and answer", "Status", "Sources"))
    return f'<div class="ts batch-rows"><table><tr>{head}</tr>{body}</table></div>'


def _render_row(row: BatchRow, result: dict[str, Any], batch: Batch) -> str:
    flow = str(row.own.get("flow", batch.settings.flow))
    path = routes.page_for_flow(flow).removeprefix("pages/").removesuffix(".py").replace("research", "")
    question = escape.html(escape.shorten(row.question, 200)) or "(no question)"
    if row.run_id:
        question = f'<a href="./{path}?run={escape.html(row.run_id)}" target="_self">{question}</a>'
    why = row.error or row.trouble or (result["why stopped"] if row.state == "resting" else "")
    said = escape.html(escape.shorten(result["answer"] if row.state == "done" else why, 280))
    same = f"the same as row {row.same_as}" if row.same_as else ""
    name, tone = ROW_CHIPS[row.state]
    level = ""
    if row.state == "done" and row.verdict:
        name, tone = labels.mark_verdict(row.verdict)
        level = f' title="Confidence {labels.format_percent(row.confidence)}"' if row.confidence else ""
    cited = list(dict.fromkeys(escape.render_link(url, escape.host(url)) for url in result["sources"] or []))
    more = f" and {len(cited) - 3} more" if len(cited) > 3 else ""
    return (
        f'<tr><td data-name="Row">{row.n}</td><td><p class="q">{question}</p>{markup.paragraph(said, "")}'
        f"{markup.paragraph(same)}</td><td{level}>{badges.render(name, tone)}</td>"
        f'<td data-name="Sources">{", ".join(cited[:3]) or "–"}{more}</td></tr>'
    )
