"""Large pages of every kind: looking for a quote takes memory that does not grow with the page, and twice the
page takes about twice the time. Measured in a process of its own by `bench/quotes.py`."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
MEGABYTES, RATIO, LEAST_SECONDS = 1, 3.5, 0.01
"""Promised are 64 MB for a page sixteen times as large. The ratio of two sizes in one run is 2 when linear, 4
when quadratic; shorter times are noise."""


def test_time_is_linear_and_memory_constant_on_any_page(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    command = [sys.executable, "-m", "bench.quotes", "--json", str(file), "--characters", "600000"]
    subprocess.run([*command, "--quotes", "1"], capture_output=True, check=False, cwd=ROOT)
    rows = json.loads(file.read_text())["pages"]
    assert len(rows) >= 12
    assert [row["kind"] for row in rows if row["megabytes"] > MEGABYTES] == []
    slow = [row for row in rows if row["seconds"] > 2 * LEAST_SECONDS]
    assert [row["kind"] for row in slow if row["ratio"] > RATIO] == []
