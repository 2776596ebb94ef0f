"""The first screen of Batch: a table of questions, what was understood of it, settings and budget."""

from __future__ import annotations

from typing import Any

import streamlit as st

from agent.batch import csv_input, jobs
from agent.batch.csv_input import BATCH_FLOWS, MOST_BYTES, QuestionSheet
from agent.errors import UsageError
from agent.export.sheets import write_csv
from agent.text.plurals import format_count
from agent.types import BatchBudget, Settings
from pages.widgets.forms import budget_fields, form_page, limit_fields, source_filter_form
from pages.widgets.shell import badges, client, drafts, escape, labels, markup, ui

FORM = form_page.Form(
    flow="batch",
    title="Many questions at once.",
    text="Bring a table with a column “question”. Each row becomes a run you can "
    "open and check; all rows share "
    "one budget, and you get your table back with answers, confidence and sources beside it.",
    recent_title="Your latest batches",
    nothing_recent=("No batches yet", "Upload or paste a table above. Everything you start is kept here."),
)
FILE_KEY, PASTED = "batch-file", "batch"
MAX_PREVIEW_ROWS, MAX_REMARKS = 6, 8
"""Rows of the preview, and remarks that are shown in full."""


def draw() -> None:
    """The whole screen."""
    st.query_params.clear()
    form_page.draw_head(FORM)
    given = st.file_uploader(
        "A table of questions (CSV)",
        type=["csv", "tsv", "txt"],
        key=FILE_KEY,
        max_upload_size=MOST_BYTES // 1_000_000,
        help="Commas, semicolons or tabs; up to 1,000 rows. Columns called allowed_domains, blocked_domains, "
        "start_urls, since, before, dated_only, language, flow, instruction, "
        "max_steps, max_pages or threshold are "
        "settings of their row; all others come back unchanged.",
    )
    if given is None:
        placeholder = "question;note\nWho runs …, and since when?;for Monday\n…"
        drafts.text_area("… or paste it here", PASTED, placeholder=placeholder, height=110, most=200_000)
    data = given.getvalue() if given else drafts.read(PASTED).encode()
    below = st.container()
    settings, budget = _draw_options()
    with below:
        if data.strip():
            name = given.name.rpartition(".")[0] if given else "Pasted questions"
            _draw_preview(data, name, settings, budget)
        else:
            label, more = "Ask the questions of the demo’s examples", (settings.model, budget)
            ui.button(label, "batch-example", _start_example, *more, icon="cottage")
        limits = f"each row up to {format_count(settings.max_steps, 'step')}"
        form_page.draw_summary(settings, limits, source_filter_form.summarize(settings))
    form_page.draw_recent(FORM, _list_recent())


def _draw_options() -> tuple[Settings, BatchBudget]:
    """What each row is asked with, and what all together may use."""
    with form_page.draw_options("batch"):
        flows = {flow: flow.capitalize().replace("_", " ") for flow in BATCH_FLOWS}
        flow = ui.select("Each row is a run of", flows, "batch-flow", persist_state="session")
        settings = Settings(flow=flow, **form_page.choose_place("batch"))
        has_model = client.has_model(settings.model)
        shown: Any = {"model": has_model, "persist_state": "session"}
        caps = budget_fields.draw_fields("batch", settings, **shown)
        settings = settings.replace(**caps, **source_filter_form.draw("batch", searches=True))
        st.caption("Limits for all rows together")
        return settings, draw_budget(BatchBudget(), "batch-all", persist_state="session")


def draw_budget(given: BatchBudget, key: str, **more: Any) -> BatchBudget:
    """The budget that all rows share, as fields; without a model its own are left out."""
    has_model = bool(client.workbench().active_configuration().model)
    without = () if has_model else ("max_calls", "max_tokens", "max_cost_usd")
    return limit_fields.draw(given, key, without=without, **more)


def _draw_preview(data: bytes, name: str, settings: Settings, budget: BatchBudget) -> None:
    """What the table was read as, and the button that starts it; or why it cannot be."""
    try:
        sheet = csv_input.read_sheet(data, settings)
    except UsageError as refused:
        st.warning(escape.md(f"{str(refused)[:1].upper()}{str(refused)[1:]}."), icon=":material/warning:")
        return
    ui.heading("What was understood")
    st.html(render_preview(sheet))
    ui.button(
        f"Ask {format_count(sheet.question_count, 'question')}",
        "batch-start",
        _start,
        name,
        sheet,
        settings,
        budget,
        PASTED,
        icon="playlist_add_check",
        type="primary",
    )


def render_preview(sheet: QuestionSheet) -> str:
    """The first rows, and what a person should know of any, as HTML."""
    bad, same = sum(bool(row.trouble) for row in sheet.rows), sum(bool(row.same_as) for row in sheet.rows)
    marks = [(sheet.summary, ""), (f"{format_count(sheet.question_count, 'question')} to ask", "good")]
    marks += [(f"{format_count(bad, 'row')} cannot be asked", "bad")] if bad else []
    marks += [(f"{format_count(same, 'row')} asked twice", "warn")] if same else []
    shown = [name for name in sheet.columns if name in (sheet.rows[0].given if sheet.rows else {})][:3]
    head = [escape.shorten(name, 40) + " (setting)" * (name in sheet.settings) for name in shown]
    cells = [
        (str(row.n), row.question, *(row.given.get(name, "") for name in shown))
        for row in sheet.rows[:MAX_PREVIEW_ROWS]
    ]
    body = [[escape.html(escape.shorten(cell, 120)) or "–" for cell in row] for row in cells]
    rest = _tell_more(len(sheet.rows) - MAX_PREVIEW_ROWS, "more row")
    remarks = [escape.html(escape.shorten(text, 300)) for text in sheet.remarks[:MAX_REMARKS]]
    remarks += filter(None, [_tell_more(len(sheet.remarks) - MAX_REMARKS, "more remark")])
    notes = f'<ul class="small">{"".join(f"<li>{text}</li>" for text in remarks)}</ul>' if remarks else ""
    table = markup.table(["Row", "Question", *map(escape.html, head)], body)
    chips = f'<div class="chips">{badges.render_row(marks)}</div>'
    return f'<div class="ts">{chips}{table}{markup.paragraph(rest)}{notes}</div>'


def _tell_more(count: int, what: str) -> str:
    return f"and {format_count(count, what)}" if count > 0 else ""


def _start(name: str, sheet: QuestionSheet, settings: Settings, budget: BatchBudget, *sent: str) -> None:
    bench = client.workbench()
    form_page.start_run(jobs.create, bench, name, sheet, settings, budget, sent=sent, parameter="batch")


def _start_example(model: str, budget: BatchBudget) -> None:
    table = write_csv(
        ["question"], [[example["question"]] for example in form_page.list_examples("research")]
    )
    settings = Settings(world="demo", model=model)
    sheet = csv_input.read_sheet(table.encode(), settings)
    _start("Questions of the demo’s examples", sheet, settings, budget)


def _list_recent() -> list[form_page.RecentLink]:
    bench, links = client.workbench(), []
    for batch in bench.store.batches.list_newest(limit=6):
        counts = jobs.get_status(bench, batch.id).state_counts
        remark = f"{counts['done']} of {sum(counts.values())} done, {labels.format_age(batch.updated_at)}"
        links.append(("pages/batch.py", {"batch": batch.id}, batch.name, remark))
    return links
