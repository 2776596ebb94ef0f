"""Batches: rows as ordinary runs, side by side within a budget; stopped, killed, resumed; nothing is started
twice."""

from __future__ import annotations

import csv
import io
import itertools
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agent.batch import jobs
from agent.batch.csv_input import read_sheet
from agent.batch.jobs import BatchStatus, create, drive, export_csv, export_json, get_status, resume, stop
from agent.engine.batch_scheduler import BUDGET_REASON_PREFIX
from agent.errors import NotFound, UsageError
from agent.llm.detect import DetectedModel
from agent.types import BatchBudget, Settings, Status
from agent.workbench import Workbench
from tests.waiting import wait_for
from tests.web.researching_model import ASK, Script
from tests.web.scripted import ScriptedModel

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
DEMO = Settings(world="demo", model="keyless", max_steps=3, max_pages=3)
TABLE = (
    "question;id\nHow many people does Älvmora Mejeri employ?;=1+1\nOn what date did the Stenfors bridge reopen to traffic?;b\n"
    "In which year was Älvmora Mejeri founded?;c\nhow many people does älvmora mejeri employ?;d\nWho?;e\n;lost\n"
).encode()


def quiet(_now: BatchStatus) -> None:
    """Nobody looks."""


def begun(bench: Workbench, settings: Settings = DEMO, **allowance: float) -> str:
    return create(bench, "test", read_sheet(TABLE, settings), settings, BatchBudget(**allowance))  # type: ignore[arg-type]


def at_work(now: BatchStatus) -> int:
    return len({row.run_id for row in now.rows if row.state == "running"})


def once(watch: Callable[[BatchStatus], bool], stopping: threading.Event) -> Callable[[BatchStatus], None]:
    return lambda now: stopping.set() if watch(now) else None


def test_a_table_goes_in_and_a_table_comes_out(bench: Workbench) -> None:
    batch_id = begun(bench)
    seen: list[int] = []
    now = drive(bench, batch_id, lambda now: seen.append(at_work(now)), threading.Event())
    assert (
        now.batch.state == "done"
        and now.state_counts == {"done": 5, "refused": 1}
        and max(seen) <= 2
        and not now.can_resume
    )
    rows = list(csv.DictReader(io.StringIO(export_csv(bench, batch_id))))
    assert [row["id"] for row in rows] == ["'=1+1", "b", "c", "d", "e", "lost"]
    assert (
        "2 November 2026" in rows[1]["answer"]
        and rows[1]["sources"].startswith("https://")
        and rows[1]["backed"] == rows[1]["statements"]
    )
    assert rows[3]["run"] == rows[0]["run"] and rows[3]["remark"] == "the same as row 2"
    assert rows[5]["state"] == "cannot be asked" and "is empty" in rows[5]["why stopped"]
    assert len({row["run"] for row in rows if row["run"]}) == 4 == len(bench.runs())
    told = json.loads(export_json(bench, batch_id))
    assert (
        told["rows"][0]["given"] == {"question": "How many people does Älvmora Mejeri employ?", "id": "=1+1"}
        and told["batch"]["state"] == "done"
    )
    assert told["rows"][0]["confidence"] == rows[0]["confidence"] == ""


def test_no_row_is_started_twice_by_rivals(bench: Workbench) -> None:
    batch_id = begun(bench, side_by_side=3)
    with ThreadPoolExecutor(8) as rivals:
        started = [
            run_id
            for found in rivals.map(lambda _: bench.worker.batch_scheduler.schedule_all(), range(24))
            for run_id in found
        ]
    now = get_status(bench, batch_id)
    assert len(started) == len(set(started)) == 3 == at_work(now) == len(bench.runs()), (
        "three may work side by side"
    )


def test_stop_rests_and_go_on_goes_on(bench: Workbench) -> None:
    batch_id, stopping = begun(bench, side_by_side=2), threading.Event()
    now = drive(bench, batch_id, once(lambda now: now.state_counts["running"] > 0, stopping), stopping)
    assert (
        now.batch.state == "stopped"
        and now.state_counts["resting"] + now.state_counts["done"] >= 2
        and now.state_counts["waiting"]
        and now.can_resume
    )
    before = {row.n: row.run_id for row in now.rows if row.run_id}
    resume(bench, batch_id)
    now = drive(bench, batch_id, quiet, threading.Event())
    assert now.batch.state == "done" and now.state_counts["done"] == 5
    assert before.items() <= {row.n: row.run_id for row in now.rows}.items(), "the same runs went on"


def test_go_on_takes_back_a_stop_that_a_run_has_not_heard_yet(bench: Workbench) -> None:
    batch_id = begun(bench, side_by_side=1)
    assert len(bench.worker.batch_scheduler.schedule_all()) == 1
    stop(bench, batch_id)
    resume(bench, batch_id)
    now = drive(bench, batch_id, quiet, threading.Event())
    assert now.batch.state == "done" and now.state_counts == {"done": 5, "refused": 1}


def test_a_row_is_taken_up_at_once_or_stays_to_be(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    batch_id = begun(bench, side_by_side=1)
    [run_id] = bench.worker.batch_scheduler.schedule_all()
    stop(bench, batch_id)
    bench.drive(run_id)
    resume(bench, batch_id)
    with monkeypatch.context() as killed:
        killed.setattr(
            "agent.store.batches.insert_person_step", lambda *a, **k: (_ for _ in ()).throw(SystemExit)
        )
        with pytest.raises(SystemExit):
            bench.worker.batch_scheduler.schedule_all()
    assert get_status(bench, batch_id).rows[0].again, "nothing was lost with the process"
    now = drive(bench, batch_id, quiet, threading.Event())
    assert now.batch.state == "done" and now.state_counts == {"done": 5, "refused": 1}


def test_what_a_person_did_with_a_row_stands(bench: Workbench) -> None:
    batch_id = begun(bench, side_by_side=1)
    [run_id] = bench.worker.batch_scheduler.schedule_all()
    stop(bench, batch_id)
    bench.drive(run_id)
    resume(bench, batch_id)
    bench.act(run_id, "resume")
    assert bench.worker.batch_scheduler.schedule_all() == [] and not get_status(bench, batch_id).rows[0].again
    assert get_status(bench, batch_id).rows[0].state == "running"


def test_the_budget_of_a_batch_that_came_to_its_end_binds_no_more(bench: Workbench) -> None:
    batch_id = begun(bench, max_minutes=1e-6)
    now = drive(bench, batch_id, quiet, threading.Event())
    assert now.batch.state == "spent" and now.exhausted_budget
    row = next(row for row in now.rows if row.state == "done")
    bench.act(row.run_id, "send_back", row.steps, note="Look for more, please.")
    bench.drive(row.run_id)
    after = bench.snapshot(row.run_id).state
    assert after.actions and not after.why_stopped.startswith(BUDGET_REASON_PREFIX)


def test_a_batch_is_spent_when_nobody_works_on_it_any_more(bench: Workbench) -> None:
    batch_id = begun(bench, side_by_side=2, max_minutes=1e-6)
    [first, second] = bench.worker.batch_scheduler.schedule_all()
    bench.drive(first)
    assert (
        bench.worker.batch_scheduler.schedule_all() == []
        and get_status(bench, batch_id).batch.state == "running"
    )
    bench.drive(second)
    assert bench.snapshot(second).state.why_stopped.startswith(BUDGET_REASON_PREFIX), (
        "the budget bound it to its end"
    )
    bench.worker.batch_scheduler.schedule_all()
    assert get_status(bench, batch_id).batch.state == "spent"


def test_a_batch_whose_runs_rest_is_not_done(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    model = ScriptedModel(lambda _messages, _shape: "this is no JSON")
    monkeypatch.setattr(bench.worker.model_search, "found", DetectedModel(model, ""))
    batch_id = begun(bench, DEMO.model_copy(update={"model": "auto"}), side_by_side=2)
    now = drive(bench, batch_id, quiet, threading.Event())
    assert now.state_counts["resting"] and now.batch.state == "stopped" and now.can_resume


def test_the_budget_holds_and_can_be_raised(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    tries = itertools.count()
    looks = Script(
        quotes=[], confidence=0.3, decision=lambda _: {**ASK, "query_or_url": f"Älvmora {next(tries)}"}
    )
    model = ScriptedModel(looks.scripted)
    monkeypatch.setattr(bench.worker.model_search, "found", DetectedModel(model, ""))
    settings = DEMO.model_copy(update={"model": "auto", "max_steps": 6})
    batch_id = begun(bench, settings, side_by_side=2, max_calls=10)
    now = drive(bench, batch_id, quiet, threading.Event())
    assert now.batch.state == "spent" and now.state_counts["waiting"] and now.state_counts["done"], (
        now.state_counts
    )
    assert 9 <= now.usage.llm_calls <= 10 + 2, (
        "a tenth is kept back for the answers, and what is under way may end"
    )
    cut = [
        row
        for row in now.rows
        if row.state == "done"
        and bench.snapshot(row.run_id).state.why_stopped.startswith(BUDGET_REASON_PREFIX)
    ]
    assert cut and all(bench.snapshot(row.run_id).state.answer for row in cut), (
        "the runs at work ended with an answer"
    )
    with pytest.raises(UsageError, match="raise the budget"):
        resume(bench, batch_id)
    resume(bench, batch_id, now.batch.allowance.model_copy(update={"max_calls": 2_000}))
    now = drive(bench, batch_id, quiet, threading.Event())
    assert now.batch.state == "done" and now.state_counts["done"] == 5
    stopped = [
        bench.snapshot(row.run_id).state.why_stopped
        for row in now.rows
        if row.run_id and row.verdict != "answered"
    ]
    assert not [why for why in stopped if why.startswith(BUDGET_REASON_PREFIX)], (
        "those that were cut short looked on"
    )


def test_a_failed_row_is_told_and_can_be_tried_again(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch_id = begun(bench)
    world = bench.worker.world("demo")
    with monkeypatch.context() as broken:
        broken.setattr(world, "search", lambda *a, **k: (_ for _ in ()).throw(ValueError("broken")))
        now = drive(bench, batch_id, quiet, threading.Event())
    assert now.batch.state == "done" and now.state_counts["failed"] >= 1
    failed = next(
        row for row in [jobs.describe_row(bench, row) for row in now.rows] if row["state"] == "failed"
    )
    assert "broken" in failed["why stopped"]
    resume(bench, batch_id, failed=True)
    assert drive(bench, batch_id, quiet, threading.Event()).state_counts["done"] == 5


def test_the_workers_of_a_server_take_it_up_by_themselves(bench: Workbench) -> None:
    batch_id = begun(bench, side_by_side=4)
    bench.start_workers()
    wait_for(lambda: get_status(bench, batch_id).batch.state == "done")
    assert get_status(bench, batch_id).state_counts["done"] == 5


def test_a_run_in_the_bin_holds_nobody_up(bench: Workbench) -> None:
    batch_id = begun(bench, side_by_side=1)
    [run_id] = bench.worker.batch_scheduler.schedule_all()
    bench.delete(run_id)
    now = drive(bench, batch_id, quiet, threading.Event())
    assert now.batch.state == "done" and now.state_counts["binned"] == 2


def test_what_cannot_be_is_refused_first(bench: Workbench) -> None:
    sheet = read_sheet(TABLE, DEMO)
    for wrong in (
        BatchBudget(side_by_side=0),
        BatchBudget(side_by_side=17),
        BatchBudget(max_minutes=0),
        BatchBudget(max_calls=-1),
    ):
        with pytest.raises(UsageError):
            create(bench, "x", sheet, DEMO, wrong)
    for name, endless in (
        ("max_cost_usd", float("nan")),
        ("max_cost_usd", float("inf")),
        ("max_minutes", float("inf")),
    ):
        with pytest.raises(UsageError, match="needs numbers"):
            create(bench, "x", sheet, DEMO, BatchBudget().model_copy(update={name: endless}))
    with pytest.raises(UsageError, match="a batch cannot run chat"):
        create(bench, "x", sheet, DEMO.model_copy(update={"flow": "chat"}), BatchBudget())
    with pytest.raises(UsageError, match="none of the chosen search engines"):
        create(bench, "x", sheet, DEMO.model_copy(update={"engines": ["google"]}), BatchBudget())
    with pytest.raises(NotFound):
        create(bench, "x", sheet, DEMO.model_copy(update={"world": "no such folder"}), BatchBudget())
    with pytest.raises(NotFound):
        stop(bench, "nothere")
    assert bench.store.batches.list_newest() == []


def test_a_run_that_cannot_be_read_costs_its_row_only(bench: Workbench) -> None:
    batch_id = begun(bench)
    drive(bench, batch_id, quiet, threading.Event())
    run_id = get_status(bench, batch_id).rows[0].run_id
    bench.snapshot(run_id)
    bench.store.ledger.append_person_step(run_id, "edit", {"facts": [{"id": "f1"}]})
    with pytest.raises(NotFound, match="cannot be opened: one of its stored steps"):
        bench.snapshot(run_id)
    rows = list(csv.DictReader(io.StringIO(export_csv(bench, batch_id))))
    assert "cannot be opened" in rows[0]["why stopped"] and "2 November 2026" in rows[1]["answer"]
    resume(bench, batch_id, BatchBudget(max_calls=5_000))


def test_no_batch_is_left_behind_by_many_others(bench: Workbench) -> None:
    oldest = begun(bench, side_by_side=1)
    for _ in range(51):
        other = begun(bench)
        bench.store.batches.set_state(
            other, state="running", among=("running",), allowance=BatchBudget(side_by_side=0)
        )
    [run_id] = bench.worker.batch_scheduler.schedule_all()
    assert bench.store.batches.batch_of_run(run_id) == oldest


def test_a_batch_that_cannot_be_read_costs_itself_only(
    bench: Workbench, caplog: pytest.LogCaptureFixture
) -> None:
    endless = BatchBudget().model_copy(update={"max_minutes": float("inf")})
    lost = bench.store.batches.create("lost", DEMO, endless, ["question"], read_sheet(TABLE, DEMO).rows)
    fine = begun(bench, side_by_side=2)
    assert len(bench.worker.batch_scheduler.schedule_all()) == 2 and lost in caplog.text
    assert lost not in bench.store.batches.list_running() and [
        batch.id for batch in bench.store.batches.list_newest()
    ] == [fine]
    with pytest.raises(NotFound, match="cannot be opened"):
        get_status(bench, lost)


def test_a_killed_process_leaves_a_batch_that_goes_on(bench: Workbench, tmp_path: Path) -> None:
    table = tmp_path / "q.csv"
    table.write_bytes(TABLE)
    command = [
        sys.executable,
        "-m",
        "agent",
        "batch",
        str(table),
        "--world",
        "demo",
        "--model",
        "keyless",
        "--max-steps",
        "3",
    ]
    slow = {
        **os.environ,
        "STEP_GAP": "0.3",
        "TOUCHSTONE_DATA": str(bench.config.data_folder),
        "DATABASE_URL": bench.config.database_url,
    }
    with subprocess.Popen(
        command, cwd=ROOT, env=slow, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as first:
        until = time.monotonic() + 60
        while not bench.runs() or bench.runs()[0].steps < 2:
            assert time.monotonic() < until and first.poll() is None
            threading.Event().wait(0.02)
        first.kill()
    [batch] = bench.store.batches.list_newest()
    left = get_status(bench, batch.id)
    assert left.batch.state == "running" and left.state_counts["running"] and left.state_counts["waiting"]
    now = drive(bench, batch.id, quiet, threading.Event())
    assert now.batch.state == "done" and now.state_counts["done"] == 5 and len(bench.runs()) == 4
    assert all(bench.snapshot(run.id).run.status is Status.REVIEW for run in bench.runs())


def test_texts_are_checked_by_address_or_as_they_are(bench: Workbench) -> None:
    table = (
        b"question,flow\nhttps://norrviddawiki.example/wiki/Granvattnet,check_text\n"
        b"It creates 64 jobs (https://granvattnet-courier.example/2026/08/20/kallsteg-factory).,check_text\n"
    )
    batch_id = create(bench, "texts", read_sheet(table, DEMO), DEMO, BatchBudget())
    drive(bench, batch_id, quiet, threading.Event())
    page, text = csv.DictReader(io.StringIO(export_csv(bench, batch_id)))
    assert " claims: " in page["answer"] and page["verdict"] == "checked"
    assert (text["answer"], text["backed"]) == ("1 claim: 1 not checked", "0")
