"""`batch` as a command: a table in, a table out, Ctrl-C stops it in good order and tells how to go on."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agent.cli.main import main

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
DEMO = ["--world", "demo", "--model", "keyless", "--max-steps", "3"]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    file = tmp_path / "asked.csv"
    file.write_text(
        "question,id\nOn what date did the Stenfors bridge reopen to traffic?,1\n,2\nIn which year was Älvmora Mejeri founded?,3\n"
    )
    return file


def test_a_table_in_a_table_out(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out" / "answers.csv"
    assert main(["batch", str(table), *DEMO, "--out", str(out)]) == 0
    told = capsys.readouterr()
    assert told.out == "" and "Row 2 cannot be asked" in told.err and "3/3" in told.err
    assert "2 done, 1 cannot be asked" in told.err
    rows = list(csv.DictReader(out.read_text(encoding="utf-8-sig").splitlines()))
    assert [row["id"] for row in rows] == ["1", "2", "3"] and "2 November 2026" in rows[0]["answer"]
    assert main(["batch"]) == 0
    listed = capsys.readouterr().out.split()
    assert listed[2:4] == ["done", "2/3"]
    assert main(["batch", "--resume", listed[0], "--json"]) == 0
    assert [row["row"] for row in json.loads(capsys.readouterr().out)["rows"]] == [1, 2, 3]


def test_wrong_usage(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for wrong in (
        ["batch", str(tmp_path / "no.csv")],
        ["batch", str(table), "--resume", "x"],
        ["batch", "--resume", "x"],
        ["batch", str(table), *DEMO, "--side-by-side", "0"],
        ["batch", str(table), "--world", "no such folder"],
    ):
        assert main(wrong) == 2, wrong
        assert "touchstone: " in capsys.readouterr().err
    assert main(["batch"]) == 0 and "no batches yet" in capsys.readouterr().err


def test_an_interrupt_stops_it_in_good_order(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    slow = {**os.environ, "STEP_GAP": "5", "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-m", "agent", "batch", str(table), *DEMO, "--side-by-side", "1"]
    with subprocess.Popen(
        command, cwd=ROOT, env=slow, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None and process.stdout is not None
        assert process.stderr.readline().startswith("batch ")
        process.stderr.readline()
        process.send_signal(signal.SIGINT)
        told, _ = process.stderr.read(), process.stdout.read()
        assert process.wait(60) == 1
    assert "stopping: the running rows rest" in told and "./touchstone batch --resume " in told
    batch_id = told.split("--resume ")[1].split()[0]
    assert main(["batch", "--resume", batch_id]) == 0
    assert "2 done" in capsys.readouterr().err
