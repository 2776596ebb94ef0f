"""The first screen of Batch: a table of questions comes in, what was understood of it is shown, settings and
budget are chosen."""

from __future__ import annotations

import csv
import io

import streamlit as st

from agent.batch import csv_input, jobs
from agent.batch.csv_input import BATCH_FLOWS, MOST_BYTES, QuestionSheet
from agent.errors import UsageError
from agent.text.plurals import format_count
from agent.types import BatchBudget, BatchRow, Settings
from pages.widgets.forms import form_fields, source_filter_form
from pages.widgets.research import form
from pages.widgets.shell import badges, client, drafts, empty_state, escape, labels, ui

FILE_KEY, PASTED_KEY, PASTED_DRAFT = "batch-file", "batch-pasted", "batch"
MAX_PREVIEW_ROWS, MAX_REMARKS = 6, 8
"""Rows of the preview, and remarks that are told in full."""
EXAMPLE_LABEL = "Answer the questions of the demo world"


def draw() -> None:
    """The whole screen."""
    st.query_params.clear()
    st.html(
        '<div class="ts ts-hero"><h1>Many questions at once.</h1><p>Bring a table with a column “question”. Each row becomes a run you can open and '
        "check; all of them together keep to one budget, and you get your table back with answers, confidence and sources beside it.</p></div>"
    )
    client.show_notice("batch")
    drafts.install_script()
    given = st.file_uploader(
        "A table of questions (CSV)",
        type=["csv", "tsv", "txt"],
        key=FILE_KEY,
        max_upload_size=MOST_BYTES // 1_000_000,
        help="Commas, semicolons or tabs; up to 1,000 rows. Columns called allowed_domains, blocked_domains, start_urls, since, before, dated_only, "
        "language, flow, instruction, max_steps, max_pages or threshold are settings of their row; all others come back as they were.",
    )
    if given is None:
        placeholder = "question;note\nWho runs …, and since when?;for Monday\n…"
        drafts.text_area(
            "… or paste it here", PASTED_KEY, PASTED_DRAFT, placeholder=placeholder, height=110, most=200_000
        )
    data = given.getvalue() if given else (st.session_state.get(PASTED_KEY) or "").encode()
    settings, allowance = _draw_settings()
    if data.strip():
        _draw_preview(
            data, given.name.rpartition(".")[0] if given else "Pasted questions", settings, allowance
        )
    else:
        ui.button(
            "Ask all",
            "batch-start",
            icon="playlist_add_check",
            type="primary",
            disabled=True,
            help="Bring a table first",
        )
        _draw_example(allowance)
    form_fields.draw_offline_note(settings)
    _draw_recent()


def _draw_settings() -> tuple[Settings, BatchBudget]:
    """What each row is asked with, and what all together may spend."""
    plain, allowed = Settings(), BatchBudget()
    ui.heading("All rows together")
    with st.grid(5, min_column_width=150, gap="small", key="batch-budget"):
        side = st.number_input(
            "Parallel runs",
            1,
            jobs.MAX_PARALLEL_RUNS,
            allowed.side_by_side,
            key="batch-side",
            persist_state="session",
        )
        cost = st.number_input(
            "At most, US dollars",
            0.0,
            10_000.0,
            allowed.max_cost_usd,
            1.0,
            key="batch-cost",
            persist_state="session",
        )
        calls = st.number_input(
            "At most, model calls",
            0,
            1_000_000,
            allowed.max_calls,
            100,
            key="batch-calls",
            persist_state="session",
        )
        tokens = st.number_input(
            "At most, tokens",
            0,
            1_000_000_000,
            allowed.max_tokens,
            1_000_000,
            key="batch-tokens",
            persist_state="session",
        )
        minutes = st.number_input(
            "At most, minutes of work",
            1.0,
            10_000.0,
            allowed.max_minutes,
            10.0,
            key="batch-minutes",
            persist_state="session",
        )
    with st.container(horizontal=True):
        options = st.popover("Each row", icon=":material/tune:", key="batch-options")
        chosen = source_filter_form.draw("batch", searches=True)
    with options:
        flow = st.selectbox(
            "Flow",
            BATCH_FLOWS,
            format_func=str.capitalize,
            key="batch-flow",
            filter_mode=None,
            persist_state="session",
        )
        world, model = (
            form_fields.choose_world("Search in", "batch", persist_state="session"),
            form_fields.choose_model("batch", persist_state="session"),
        )
        steps = st.number_input(
            "At most this many searches and pages",
            1,
            60,
            plain.max_steps,
            key="batch-max-steps",
            persist_state="session",
        )
        pages = st.number_input(
            "At most this many pages read",
            1,
            60,
            plain.max_pages,
            key="batch-max-pages",
            persist_state="session",
        )
    settings = Settings(
        flow=flow or "research", world=world, model=model, max_steps=int(steps), max_pages=int(pages)
    )
    settings = settings.model_copy(update=chosen)
    limits = f"each row up to {format_count(settings.max_steps, 'step')} and {format_count(settings.max_pages, 'page')}"
    form_fields.draw_summary(settings, limits, source_filter_form.summarize(settings))
    allowance = BatchBudget(
        side_by_side=int(side),
        max_calls=int(calls),
        max_tokens=int(tokens),
        max_cost_usd=float(cost),
        max_minutes=float(minutes),
    )
    return settings, allowance


def _draw_preview(data: bytes, name: str, settings: Settings, allowance: BatchBudget) -> None:
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
        _start_typed,
        name,
        sheet,
        settings,
        allowance,
        icon="playlist_add_check",
        type="primary",
    )


def render_preview(sheet: QuestionSheet) -> str:
    """The first rows, and what a person should know of any, as HTML."""
    marks = [(sheet.summary, ""), (f"{format_count(sheet.question_count, 'question')} to ask", "good")]
    bad, same = sum(bool(row.trouble) for row in sheet.rows), sum(bool(row.same_as) for row in sheet.rows)
    marks += [(f"{format_count(bad, 'row')} cannot be asked", "bad")] if bad else []
    marks += [(f"{format_count(same, 'row')} asked twice", "warn")] if same else []
    others = [name for name in sheet.columns if name in (sheet.rows[0].given if sheet.rows else {})]
    shown = others[:3]
    head = "".join(
        f"<th>{escape.html(escape.shorten(name, 40))}{' (setting)' if name in sheet.settings else ''}</th>"
        for name in shown
    )
    body = "".join(_render_row(row, shown) for row in sheet.rows[:MAX_PREVIEW_ROWS])
    more = f'<p class="small soft">and {format_count(len(sheet.rows) - MAX_PREVIEW_ROWS, "more row")}</p>'
    remarks = "".join(
        f"<li>{escape.html(escape.shorten(text, 300))}</li>" for text in sheet.remarks[:MAX_REMARKS]
    )
    left = len(sheet.remarks) - MAX_REMARKS
    remarks += f"<li>and {format_count(left, 'more remark')}</li>" if left > 0 else ""
    table = f'<div class="scroll"><table><tr><th>Row</th><th>Question</th>{head}</tr>{body}</table></div>'
    told = f'<ul class="small">{remarks}</ul>' if remarks else ""
    return f'<div class="ts"><div class="chips">{badges.render_row(marks)}</div>{table}{more if len(sheet.rows) > MAX_PREVIEW_ROWS else ""}{told}</div>'


def _render_row(row: BatchRow, shown: list[str]) -> str:
    others = "".join(f"<td>{escape.html(escape.shorten(row.given.get(name, ''), 60))}</td>" for name in shown)
    return (
        f"<tr><td>{row.n}</td><td>{escape.html(escape.shorten(row.question, 160)) or '–'}</td>{others}</tr>"
    )


def _start_typed(name: str, sheet: QuestionSheet, settings: Settings, allowance: BatchBudget) -> None:
    def opened(batch_id: str) -> None:
        st.query_params["batch"] = batch_id
        if PASTED_KEY in st.session_state:
            drafts.clear(PASTED_KEY, PASTED_DRAFT)

    client.submit(jobs.create, client.workbench(), name, sheet, settings, allowance, then=opened)


def _draw_example(allowance: BatchBudget) -> None:
    questions = form.load_demo_questions()[: form.MAX_EXAMPLES]
    if questions:
        st.html(
            '<div class="ts"><p class="soft small">Nothing at hand? These need no key, no network and no file.</p></div>'
        )
        ui.button(EXAMPLE_LABEL, "batch-example", _start_example, questions, allowance, icon="cottage")


def _start_example(questions: list[str], allowance: BatchBudget) -> None:
    out = io.StringIO()
    csv.writer(out).writerows([["question"], *([question] for question in questions)])
    settings = Settings(world="demo")
    sheet = csv_input.read_sheet(out.getvalue().encode(), settings)

    def opened(batch_id: str) -> None:
        st.query_params["batch"] = batch_id

    client.submit(
        jobs.create,
        client.workbench(),
        "Questions of the demo world",
        sheet,
        settings,
        allowance,
        then=opened,
    )


def _draw_recent() -> None:
    bench = client.workbench()
    ui.heading("Your latest batches")
    batches = bench.store.batches.list_newest(limit=6)
    if not batches:
        empty_state.draw(
            "No batches yet", "Upload or paste a table above. Everything you start is kept here."
        )
        return
    with st.container(gap="xxsmall", key="batch-recent"):
        for batch in batches:
            counts = jobs.get_status(bench, batch.id).state_counts
            told = f"{counts['done']} of {sum(counts.values())} done, {labels.format_age(batch.updated_at)}"
            label = f"{escape.md(batch.name, 80)}  :gray[{escape.md(told)}]"
            ui.link("pages/batch.py", label, "chevron_right", {"batch": batch.id})
