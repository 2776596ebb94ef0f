"""What Batch draws, as HTML: nothing of a table becomes markup; the meter says in words what it shows."""

from __future__ import annotations

import threading

from agent.batch import jobs
from agent.batch.csv_input import read_sheet
from agent.types import BatchBudget, Settings
from agent.workbench import Workbench
from pages.widgets.batch import form, run

DEMO = Settings(world="demo", model="keyless", max_steps=2)
NASTY = (
    b"question,<b>x</b>,flow\nOn what date did the Stenfors bridge reopen to traffic?,<img src=x onerror=alert(1)>,\n"
    b"<script>alert(2)</script>,,dance\n"
)


def test_the_preview_escapes_what_it_shows() -> None:
    drawn = form.render_preview(read_sheet(NASTY, DEMO))
    assert "<img" not in drawn and "<script" not in drawn and "<b>x" not in drawn and "&lt;img" in drawn
    told = ("1 question to ask", "1 row cannot be asked", "flow (setting)", "Row 2 cannot be asked")
    assert [words for words in told if words not in drawn] == []


def test_the_preview_of_many_rows_is_short() -> None:
    rows = "".join(f"Who was number {n}?\n" for n in range(40)) + "same?\n" * 30
    drawn = form.render_preview(read_sheet(f"question\n{rows}".encode(), DEMO))
    assert drawn.count("<tr>") == 1 + form.MAX_PREVIEW_ROWS
    assert "and 64 more rows" in drawn and "and 21 more remarks" in drawn


def test_rows_meter_and_figures() -> None:
    bench = Workbench()
    batch_id = jobs.create(bench, "<i>n</i>", read_sheet(NASTY, DEMO), DEMO, BatchBudget())
    meter = run.render_meter(jobs.get_status(bench, batch_id))
    assert 'aria-label="1 waiting, 1 cannot be asked"' in meter and "width:50.0000%" in meter
    now = jobs.drive(bench, batch_id, lambda now: None, threading.Event())
    drawn = run.render_heading(now) + run.render_table(
        now.rows, [jobs.describe_row(bench, row) for row in now.rows], now.batch
    )
    assert "<script" not in drawn and "<i>n" not in drawn and "“dance” cannot be flow" in drawn
    assert f'href="./?run={now.rows[0].run_id}"' in drawn and "granvattnet-courier.example" in drawn
    bench.shutdown()
