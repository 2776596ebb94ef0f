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
from typing import Any

import pytest

from agent.batch.csv_input import read_sheet
from agent.batch.jobs import (
    BatchStatus,
    create,
    drive,
    export_csv,
    export_json,
    get_status,
    resume,
    set_deleted,
    stop,
)
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
ALL_DONE = {"done": 5, "refused": 1}


def begun(bench: Workbench, settings: Settings = DEMO, **allowance: Any) -> str:
    return create(bench, "test", read_sheet(TABLE, settings), settings, BatchBudget(**allowance))


def worked(
    bench: Workbench, batch_id: str, stops: Callable[[BatchStatus], bool] = lambda now: False
) -> BatchStatus:
    """The batch after this process has worked on it, to its end or until it is stopped."""
    stopping = threading.Event()
    return drive(bench, batch_id, lambda now: stopping.set() if stops(now) else None, stopping)


def scheduled(bench: Workbench) -> list[str]:
    return bench.worker.batch_scheduler.schedule_all()


def exported(bench: Workbench, batch_id: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(export_csv(bench, batch_id))))


def stopped_at_rest(bench: Workbench) -> tuple[str, str]:
    """A batch of which one run rests, and was told to go on; and that run."""
    batch_id = begun(bench, side_by_side=1)
    [run_id] = scheduled(bench)
    stop(bench, batch_id)
    bench.drive(run_id)
    resume(bench, batch_id)
    return batch_id, run_id


def why_stopped(bench: Workbench, run_id: str) -> str:
    return bench.snapshot(run_id).state.why_stopped


def install(bench: Workbench, monkeypatch: pytest.MonkeyPatch, reply: Callable[..., Any]) -> Settings:
    """Settings of rows that this model works on."""
    model = DetectedModel(ScriptedModel(reply), "")
    monkeypatch.setattr(bench.worker.model_search, "found", model)
    return DEMO.model_copy(update={"model": "auto", "max_steps": 6})


def test_a_table_goes_in_and_a_table_comes_out(bench: Workbench) -> None:
    batch_id, busy = begun(bench), list[int]()

    def look(now: BatchStatus) -> bool:
        busy.append(len({row.run_id for row in now.rows if row.state == "running"}))
        return False

    now = worked(bench, batch_id, look)
    assert now.batch.state == "done" and now.state_counts == ALL_DONE
    assert max(busy) <= 2 and not now.can_resume
    rows = exported(bench, batch_id)
    assert [row["id"] for row in rows] == ["'=1+1", "b", "c", "d", "e", "lost"]
    assert "2 November 2026" in rows[1]["answer"] and rows[1]["sources"].startswith("https://")
    assert rows[1]["backed"] == rows[1]["statements"]
    assert rows[3]["run"] == rows[0]["run"] and rows[3]["remark"] == "the same as row 1"
    assert rows[5]["state"] == "cannot be asked" and "is empty" in rows[5]["why stopped"]
    assert len({row["run"] for row in rows if row["run"]}) == 4 == len(bench.runs())
    told = json.loads(export_json(bench, batch_id))
    assert told["batch"]["state"] == "done"
    assert told["rows"][0]["given"] == {
        "question": "How many people does Älvmora Mejeri employ?",
        "id": "=1+1",
    }
    assert told["rows"][0]["confidence"] == rows[0]["confidence"] == ""


def test_no_row_is_started_twice_by_rivals(bench: Workbench) -> None:
    begun(bench, side_by_side=3)
    with ThreadPoolExecutor(8) as rivals:
        started = [run_id for found in rivals.map(lambda _: scheduled(bench), range(24)) for run_id in found]
    assert len(started) == len(set(started)) == 3 == len(bench.runs()), "three may work side by side"


def test_stop_rests_and_go_on_goes_on(bench: Workbench) -> None:
    batch_id = begun(bench, side_by_side=2)
    now = worked(bench, batch_id, lambda now: now.state_counts["running"] > 0)
    counts = now.state_counts
    assert now.batch.state == "stopped" and now.can_resume
    assert counts["resting"] + counts["done"] >= 2 and counts["waiting"]
    before = {row.n: row.run_id for row in now.rows if row.run_id}
    resume(bench, batch_id)
    now = worked(bench, batch_id)
    assert now.batch.state == "done" and now.state_counts == ALL_DONE
    assert before.items() <= {row.n: row.run_id for row in now.rows}.items(), "the same runs went on"


def test_go_on_takes_back_a_stop_that_a_run_has_not_heard_yet(bench: Workbench) -> None:
    batch_id = begun(bench, side_by_side=1)
    assert len(scheduled(bench)) == 1
    stop(bench, batch_id)
    resume(bench, batch_id)
    assert worked(bench, batch_id).state_counts == ALL_DONE


def test_a_row_is_taken_up_at_once_or_stays_to_be(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    batch_id, _ = stopped_at_rest(bench)
    with monkeypatch.context() as killed:
        killed.setattr(
            "agent.store.batches.insert_person_step", lambda *a, **k: (_ for _ in ()).throw(SystemExit)
        )
        with pytest.raises(SystemExit):
            scheduled(bench)
    assert get_status(bench, batch_id).rows[0].again, "nothing was lost with the process"
    assert worked(bench, batch_id).state_counts == ALL_DONE


def test_what_a_person_did_with_a_row_stands(bench: Workbench) -> None:
    batch_id, run_id = stopped_at_rest(bench)
    bench.act(run_id, "resume")
    assert scheduled(bench) == [] and not get_status(bench, batch_id).rows[0].again
    assert get_status(bench, batch_id).rows[0].state == "running"


def test_the_budget_of_a_batch_that_came_to_its_end_binds_no_more(bench: Workbench) -> None:
    now = worked(bench, begun(bench, max_minutes=1e-6))
    assert now.batch.state == "spent" and now.exhausted_budget
    row = next(row for row in now.rows if row.state == "done")
    bench.act(row.run_id, "send_back", None, note="Look for more, please.")
    bench.drive(row.run_id)
    assert bench.snapshot(row.run_id).state.actions
    assert not why_stopped(bench, row.run_id).startswith(BUDGET_REASON_PREFIX)


def test_a_batch_is_spent_when_nobody_works_on_it_any_more(bench: Workbench) -> None:
    batch_id = begun(bench, side_by_side=2, max_minutes=1e-6)
    [first, second] = scheduled(bench)
    bench.drive(first)
    assert scheduled(bench) == [] and get_status(bench, batch_id).batch.state == "running"
    bench.drive(second)
    assert why_stopped(bench, second).startswith(BUDGET_REASON_PREFIX), "the budget bound it to its end"
    scheduled(bench)
    assert get_status(bench, batch_id).batch.state == "spent"


def test_a_batch_whose_runs_rest_is_not_done(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = install(bench, monkeypatch, lambda _messages, _shape: "this is no JSON")
    now = worked(bench, begun(bench, settings, side_by_side=2))
    assert now.state_counts["resting"] and now.batch.state == "stopped" and now.can_resume


def test_the_budget_holds_and_can_be_raised(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    tries = itertools.count()
    looks = Script(
        quotes=[], confidence=0.3, decision=lambda _: {**ASK, "query_or_url": f"Älvmora {next(tries)}"}
    )
    batch_id = begun(bench, install(bench, monkeypatch, looks.scripted), side_by_side=2, max_calls=10)
    now = worked(bench, batch_id)
    assert now.batch.state == "spent" and now.state_counts["waiting"] and now.state_counts["done"]
    assert 9 <= now.usage.llm_calls <= 10 + 2, (
        "a tenth is kept back for the answers, and what is under way may end"
    )
    cut = [
        row
        for row in now.rows
        if row.state == "done" and why_stopped(bench, row.run_id).startswith(BUDGET_REASON_PREFIX)
    ]
    assert cut and all(bench.snapshot(row.run_id).state.answer for row in cut), "they ended with an answer"
    with pytest.raises(UsageError, match="raise the budget"):
        resume(bench, batch_id)
    resume(bench, batch_id, now.batch.allowance.model_copy(update={"max_calls": 2_000}))
    now = worked(bench, batch_id)
    assert now.batch.state == "done" and now.state_counts["done"] == 5
    open_ones = [row.run_id for row in now.rows if row.run_id and row.verdict != "answered"]
    reasons = [why_stopped(bench, run_id) for run_id in open_ones]
    assert not [why for why in reasons if why.startswith(BUDGET_REASON_PREFIX)], "what was cut short went on"


def test_a_failed_row_is_told_and_can_be_tried_again(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch_id = begun(bench)
    with monkeypatch.context() as broken:
        broken.setattr(
            bench.worker.world("demo"), "search", lambda *a, **k: (_ for _ in ()).throw(ValueError("broken"))
        )
        now = worked(bench, batch_id)
    assert now.batch.state == "done" and now.state_counts["failed"] >= 1
    failed = next(row for row in exported(bench, batch_id) if row["state"] == "failed")
    assert "broken" in failed["why stopped"]
    resume(bench, batch_id, failed=True)
    assert worked(bench, batch_id).state_counts == ALL_DONE


def test_the_workers_of_a_server_take_it_up_by_themselves(bench: Workbench) -> None:
    batch_id = begun(bench, side_by_side=4)
    bench.start_workers()
    wait_for(lambda: get_status(bench, batch_id).batch.state == "done")
    assert get_status(bench, batch_id).state_counts == ALL_DONE


def test_a_run_in_the_bin_holds_nobody_up(bench: Workbench) -> None:
    batch_id = begun(bench, side_by_side=1)
    [run_id] = scheduled(bench)
    bench.delete(run_id)
    now = worked(bench, batch_id)
    assert now.batch.state == "done" and now.state_counts["binned"] == 2


def test_a_batch_comes_back_from_the_bin_as_it_was(bench: Workbench) -> None:
    batch_id = begun(bench)
    worked(bench, batch_id)
    first, *others = [
        row.run_id for row in get_status(bench, batch_id).rows if row.run_id and not row.same_as
    ]
    bench.delete(first)
    before = get_status(bench, batch_id)
    for _ in range(2):  # a second time changes nothing
        set_deleted(bench, batch_id, True)
    assert bench.store.batches.list_newest() == [] and bench.runs() == []
    [gone] = bench.store.batches.list_newest(deleted=True)
    assert (gone.id, gone.state) == (batch_id, "deleted") and not get_status(bench, batch_id).can_resume
    with pytest.raises(UsageError, match="in the bin: restore it on the screen Runs"):
        resume(bench, batch_id, BatchBudget(max_calls=9_000))
    for _ in range(2):
        set_deleted(bench, batch_id, False)
    now = get_status(bench, batch_id)
    assert now.batch.state == "done" and now.state_counts == before.state_counts
    assert {run.id for run in bench.runs()} == set(others), "what a person had deleted before stays deleted"


def test_a_batch_that_worked_comes_back_stopped(bench: Workbench) -> None:
    batch_id = begun(bench, side_by_side=1)
    [run_id] = scheduled(bench)
    set_deleted(bench, batch_id, True)
    assert scheduled(bench) == [] and not bench.worker.is_busy()
    set_deleted(bench, batch_id, False)
    bench.drive(run_id)
    now = get_status(bench, batch_id)
    assert now.batch.state == "stopped" and now.state_counts["resting"] == 2, "its run starts with the batch"
    resume(bench, batch_id)
    assert worked(bench, batch_id).state_counts == ALL_DONE


def test_what_cannot_be_is_refused_first(bench: Workbench) -> None:
    wrong: list[dict[str, Any]] = [{"side_by_side": 0}, {"side_by_side": 17}, {"max_minutes": 0}]
    wrong += [{"max_calls": -1}, {"max_cost_usd": float("nan")}, {"max_minutes": float("inf")}]
    for allowance in wrong:
        with pytest.raises(UsageError, match=r"parallel runs|needs numbers"):
            create(bench, "x", read_sheet(TABLE, DEMO), DEMO, BatchBudget().model_copy(update=allowance))
    for change, error, told in (
        ({"flow": "chat"}, UsageError, "a batch cannot run chat"),
        ({"engines": ["google"]}, UsageError, "none of the chosen search engines"),
        ({"world": "no such folder"}, NotFound, "no such folder"),
    ):
        with pytest.raises(error, match=told):
            create(bench, "x", read_sheet(TABLE, DEMO), DEMO.model_copy(update=change), BatchBudget())
    with pytest.raises(NotFound):
        stop(bench, "nothere")
    assert bench.store.batches.list_newest() == []


def test_a_run_that_cannot_be_read_costs_its_row_only(bench: Workbench) -> None:
    batch_id = begun(bench)
    worked(bench, batch_id)
    run_id = get_status(bench, batch_id).rows[0].run_id
    bench.store.ledger.append_person_step(run_id, "edit", {"facts": [{"id": "f1"}]})
    with pytest.raises(NotFound, match="cannot be opened: one of its stored steps"):
        bench.snapshot(run_id)
    rows = exported(bench, batch_id)
    assert "cannot be opened" in rows[0]["why stopped"] and "2 November 2026" in rows[1]["answer"]
    resume(bench, batch_id, BatchBudget(max_calls=5_000))


def test_a_batch_that_cannot_be_read_costs_itself_only(
    bench: Workbench, caplog: pytest.LogCaptureFixture
) -> None:
    endless = BatchBudget().model_copy(update={"max_minutes": float("inf")})
    lost = bench.store.batches.create("lost", DEMO, endless, ["question"], read_sheet(TABLE, DEMO).rows)
    fine = begun(bench, side_by_side=2)
    assert len(scheduled(bench)) == 2 and lost in caplog.text
    assert lost not in bench.store.batches.list_running()
    assert [batch.id for batch in bench.store.batches.list_newest()] == [fine]
    with pytest.raises(NotFound, match="cannot be opened"):
        get_status(bench, lost)


def test_a_killed_process_leaves_a_batch_that_goes_on(bench: Workbench, tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_bytes(TABLE)
    options = "--world demo --model keyless --max-steps 3".split()
    command = [sys.executable, "-m", "agent", "batch", str(tmp_path / "q.csv"), *options]
    own = {"TOUCHSTONE_DATA": str(bench.config.data_folder), "DATABASE_URL": bench.config.database_url}
    slow, quiet = {**os.environ, "STEP_GAP": "0.3", **own}, subprocess.DEVNULL
    with subprocess.Popen(command, cwd=ROOT, env=slow, stdout=quiet, stderr=quiet) as first:
        until = time.monotonic() + 60
        while not bench.runs() or bench.runs()[0].steps < 2:
            assert time.monotonic() < until and first.poll() is None
            threading.Event().wait(0.02)
        first.kill()
    [batch] = bench.store.batches.list_newest()
    left = get_status(bench, batch.id)
    assert left.batch.state == "running" and left.state_counts["running"] and left.state_counts["waiting"]
    assert worked(bench, batch.id).state_counts == ALL_DONE and len(bench.runs()) == 4
    assert all(bench.snapshot(run.id).run.status is Status.REVIEW for run in bench.runs())


def test_texts_are_checked_by_address_or_as_they_are(bench: Workbench) -> None:
    table = (
        b"question,flow\nhttps://norrviddawiki.example/wiki/Granvattnet,check_text\n"
        b"It creates 64 jobs (https://granvattnet-courier.example/2026/08/20/kallsteg-factory).,check_text\n"
    )
    batch_id = create(bench, "texts", read_sheet(table, DEMO), DEMO, BatchBudget())
    worked(bench, batch_id)
    page, text = exported(bench, batch_id)
    assert " claims: " in page["answer"] and page["verdict"] == "checked"
    assert (text["answer"], text["backed"]) == ("1 claim: 1 not checked", "0")
