"""What Batch draws, as HTML: nothing of a table becomes markup; the meter says in words what it shows."""

from __future__ import annotations

import threading

from agent import asking_many
from agent.question_sheet import read
from agent.types import Allowance, Settings
from agent.workbench import Workbench
from pages.widgets import batch_ask, batch_run

DEMO = Settings(world="demo", model="keyless", max_steps=2)
NASTY = (
    b"question,<b>x</b>,flow\nOn what date did the Stenfors bridge reopen to traffic?,<img src=x onerror=alert(1)>,\n"
    b"<script>alert(2)</script>,,dance\n"
)


def test_the_preview_escapes_what_it_shows() -> None:
    drawn = batch_ask.preview(read(NASTY, DEMO))
    assert "<img" not in drawn and "<script" not in drawn and "<b>x" not in drawn and "&lt;img" in drawn
    assert "1 question to ask" in drawn and "1 row cannot be asked" in drawn and "flow (setting)" in drawn and "Row 3 cannot be asked" in drawn


def test_the_preview_of_many_rows_is_short() -> None:
    drawn = batch_ask.preview(read(("question\n" + "".join(f"Who was number {n}?\n" for n in range(40)) + "same?\n" * 30).encode(), DEMO))
    assert drawn.count("<tr>") == 1 + batch_ask.SHOWN and "and 64 more rows" in drawn and "and 21 more remarks" in drawn


def test_rows_meter_and_figures() -> None:
    bench = Workbench()
    batch_id = asking_many.create(bench, "<i>n</i>", read(NASTY, DEMO), DEMO, Allowance())
    now = asking_many.standing(bench, batch_id)
    assert 'aria-label="1 waiting, 1 cannot be asked"' in batch_run.meter(now) and "width:50.0000%" in batch_run.meter(now)
    now = asking_many.drive(bench, batch_id, lambda now: None, threading.Event())
    drawn = batch_run.heading(now) + batch_run.table(now.rows, asking_many.results(bench, now.rows), now.batch)
    assert "<script" not in drawn and "<i>n" not in drawn and "no flow “dance”" in drawn
    assert f'href="./?run={now.rows[0].run_id}"' in drawn and "granvattnet-courier.example" in drawn
    assert "of $10.00" in batch_run.figures(now)
    bench.shutdown()
