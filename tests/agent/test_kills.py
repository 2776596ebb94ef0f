"""`kill -9` at random moments: no step lost, none doubled, every run finishes. The script in tests/bench does
200; this a dozen."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_a_killed_run_goes_on_where_it_stood():
    script = ROOT / "tests" / "bench" / "kills.py"
    done = subprocess.run(
        [sys.executable, str(script), "--kills", "24", "--seed", "7"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "24 kills" in done.stdout
