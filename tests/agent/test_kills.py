"""`kill -9` at random moments: no step lost, none doubled, every run finishes, on both databases. `python -m
bench.kills` does 200; this some."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_a_killed_run_goes_on_where_it_stood(on_both_databases: str):
    kills = "12" if on_both_databases == "sqlite" else "6"
    done = subprocess.run(
        [sys.executable, "-m", "bench.kills", "--kills", kills, "--seed", "7"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{kills} kills" in done.stdout
