"""The first screen of Batch: a table of questions comes in, what was understood of it is shown, settings and budget are chosen."""

from __future__ import annotations

import csv
import io

import streamlit as st

from agent import asking_many, question_sheet
from agent.errors import UsageError
from agent.question_sheet import FLOWS_OF_ROWS, MOST_BYTES, Sheet
from agent.types import Allowance, BatchRow, Settings
from agent.wording import counted
from pages.widgets import ask, chips, choices, door, drafts, empty, safe, sources, words

FILE, PASTED, DRAFT = "batch-file", "batch-pasted", "batch"
SHOWN, TOLD = 6, 8
"""Rows of the preview, and remarks that are told in full."""
EXAMPLE = "Answer the questions of the demo world"


def draw() -> None:
    """The whole screen."""
    st.query_params.clear()
    st.html(
        '<div class="ts ts-hero"><h1>Many questions at once.</h1><p>Bring a table with a column “question”. Each row becomes a run you can open and '
        "check; all of them together keep to one budget, and you get your table back with answers, confidence and sources beside it.</p></div>"
    )
    door.show_notice("batch")
    drafts.keep()
    given = st.file_uploader(
        "A table of questions (CSV)", type=["csv", "tsv", "txt"], key=FILE, max_upload_size=MOST_BYTES // 1_000_000,
        help="Commas, semicolons or tabs; up to 1,000 rows. Columns called allowed_domains, blocked_domains, start_urls, since, before, dated_only, "
        "language, flow, instruction, max_steps, max_pages or threshold are settings of their row; all others come back as they were.",
    )  # fmt: skip
    if given is None:
        placeholder = "question;note\nWho runs …, and since when?;for Monday\n…"
        drafts.area("… or paste it here", PASTED, DRAFT, placeholder=placeholder, height=110, most=200_000)
    data = given.getvalue() if given else (st.session_state.get(PASTED) or "").encode()
    settings, allowance = _choices()
    if data.strip():
        _understood(data, given.name.rpartition(".")[0] if given else "Pasted questions", settings, allowance)
    else:
        st.button("Ask all", type="primary", icon=":material/playlist_add_check:", key="batch-start", disabled=True, help="Bring a table first")
        _example(allowance)
    choices.offline(settings)
    _recent()


def _choices() -> tuple[Settings, Allowance]:
    """What each row is asked with, and what all together may spend."""
    plain, allowed = Settings(), Allowance()
    st.html('<div class="ts"><h2 class="ts-section">All rows together</h2></div>')
    with st.grid(5, min_column_width=150, gap="small", key="batch-budget"):
        side = st.number_input("Side by side", 1, asking_many.MOST_AT_ONCE, allowed.side_by_side, key="batch-side", persist_state="session")
        cost = st.number_input("At most, US dollars", 0.0, 10_000.0, allowed.max_cost_usd, 1.0, key="batch-cost", persist_state="session")
        calls = st.number_input("At most, model calls", 0, 1_000_000, allowed.max_calls, 100, key="batch-calls", persist_state="session")
        tokens = st.number_input("At most, tokens", 0, 1_000_000_000, allowed.max_tokens, 1_000_000, key="batch-tokens", persist_state="session")
        minutes = st.number_input("At most, minutes of work", 1.0, 10_000.0, allowed.max_minutes, 10.0, key="batch-minutes", persist_state="session")
    with st.container(horizontal=True):
        options = st.popover("Each row", icon=":material/tune:", key="batch-options")
        chosen = sources.form("batch", searches=True)
    with options:
        flow = st.selectbox("How it is asked", FLOWS_OF_ROWS, format_func=str.capitalize, key="batch-flow", filter_mode=None, persist_state="session")
        world, model = choices.world("Where to look", "batch", persist_state="session"), choices.model("batch", persist_state="session")
        steps = st.number_input("At most this many searches and pages", 1, 60, plain.max_steps, key="batch-max-steps", persist_state="session")
        pages = st.number_input("At most this many pages read", 1, 60, plain.max_pages, key="batch-max-pages", persist_state="session")
    settings = Settings(flow=flow or "research", world=world, model=model, max_steps=int(steps), max_pages=int(pages))
    settings = settings.model_copy(update=chosen)
    limits = f"each row up to {counted(settings.max_steps, 'step')} and {counted(settings.max_pages, 'page')}"
    choices.told(settings, limits, sources.brief(settings))
    allowance = Allowance(
        side_by_side=int(side), max_calls=int(calls), max_tokens=int(tokens), max_cost_usd=float(cost), max_minutes=float(minutes)
    )
    return settings, allowance


def _understood(data: bytes, name: str, settings: Settings, allowance: Allowance) -> None:
    """What the table was read as, and the button that starts it; or why it cannot be."""
    try:
        sheet = question_sheet.read(data, settings)
    except UsageError as refused:
        st.warning(safe.md(f"{str(refused)[:1].upper()}{str(refused)[1:]}."), icon=":material/warning:")
        return
    st.html('<div class="ts"><h2 class="ts-section">What was understood</h2></div>')
    st.html(preview(sheet))
    st.button(
        f"Ask {counted(sheet.asked, 'question')}", type="primary", icon=":material/playlist_add_check:", key="batch-start",
        on_click=_start, args=(name, sheet, settings, allowance),
    )  # fmt: skip


def preview(sheet: Sheet) -> str:
    """The first rows, and what a person should know of any, as HTML."""
    marks = [(sheet.understood, ""), (f"{counted(sheet.asked, 'question')} to ask", "good")]
    bad, same = sum(bool(row.trouble) for row in sheet.rows), sum(bool(row.same_as) for row in sheet.rows)
    marks += [(f"{counted(bad, 'row')} cannot be asked", "bad")] if bad else []
    marks += [(f"{counted(same, 'row')} asked twice", "warn")] if same else []
    others = [name for name in sheet.columns if name in (sheet.rows[0].given if sheet.rows else {})]
    shown = others[:3]
    head = "".join(f"<th>{safe.html(safe.shorten(name, 40))}{' (setting)' if name in sheet.settings else ''}</th>" for name in shown)
    body = "".join(_row(row, shown) for row in sheet.rows[:SHOWN])
    more = f'<p class="small soft">and {counted(len(sheet.rows) - SHOWN, "more row")}</p>'
    remarks = "".join(f"<li>{safe.html(safe.shorten(text, 300))}</li>" for text in sheet.remarks[:TOLD])
    left = len(sheet.remarks) - TOLD
    remarks += f"<li>and {counted(left, 'more remark')}</li>" if left > 0 else ""
    table = f'<div class="scroll"><table><tr><th>Row</th><th>Question</th>{head}</tr>{body}</table></div>'
    told = f'<ul class="small">{remarks}</ul>' if remarks else ""
    return f'<div class="ts"><div class="chips">{chips.row(marks)}</div>{table}{more if len(sheet.rows) > SHOWN else ""}{told}</div>'


def _row(row: BatchRow, shown: list[str]) -> str:
    others = "".join(f"<td>{safe.html(safe.shorten(row.given.get(name, ''), 60))}</td>" for name in shown)
    return f"<tr><td>{row.n}</td><td>{safe.html(safe.shorten(row.question, 160)) or '–'}</td>{others}</tr>"


def _start(name: str, sheet: Sheet, settings: Settings, allowance: Allowance) -> None:
    def opened(batch_id: str) -> None:
        st.query_params["batch"] = batch_id
        if PASTED in st.session_state:
            drafts.sent(PASTED, DRAFT)

    door.tell(asking_many.create, door.workbench(), name, sheet, settings, allowance, then=opened)


def _example(allowance: Allowance) -> None:
    questions = ask.demo_questions()[: ask.EXAMPLES]
    if questions:
        st.html('<div class="ts"><p class="soft small">Nothing at hand? These need no key, no network and no file.</p></div>')
        st.button(EXAMPLE, key="batch-example", icon=":material/cottage:", on_click=_demo, args=(questions, allowance))


def _demo(questions: list[str], allowance: Allowance) -> None:
    out = io.StringIO()
    csv.writer(out).writerows([["question"], *([question] for question in questions)])
    settings = Settings(world="demo")
    sheet = question_sheet.read(out.getvalue().encode(), settings)

    def opened(batch_id: str) -> None:
        st.query_params["batch"] = batch_id

    door.tell(asking_many.create, door.workbench(), "Questions of the demo world", sheet, settings, allowance, then=opened)


def _recent() -> None:
    bench = door.workbench()
    st.html('<div class="ts"><h2 class="ts-section">Your latest batches</h2></div>')
    batches = bench.store.batches.newest(limit=6)
    if not batches:
        empty.draw("No batches yet", "Upload or paste a table above. Everything you start is kept here.")
        return
    with st.container(gap="xxsmall", key="batch-recent"):
        for batch in batches:
            counts = asking_many.standing(bench, batch.id).counts
            told = f"{counts['done']} of {sum(counts.values())} done, {words.ago(batch.updated_at)}"
            label = f"{safe.md(batch.name, 80)}  :gray[{safe.md(told)}]"
            st.page_link("pages/batch.py", label=label, query_params={"batch": batch.id}, icon=":material/chevron_right:")
