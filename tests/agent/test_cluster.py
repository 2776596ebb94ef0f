"""Workers killed under runs at one PostgreSQL database: none lost, nothing doubled. `python -m bench.cluster`
does it with web servers, 50 runs and 500 kills."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from bench.cluster import measure_kills
from tests import postgres


@pytest.mark.slow
def test_runs_go_on_when_their_workers_are_killed(tmp_path: Path):
    try:
        postgres.find_server()
    except postgres.NoServer as trouble:
        pytest.skip(str(trouble))
    few = SimpleNamespace(web=0, workers=2, kills=5, runs=3, life=0.5, seed=1)
    found = measure_kills(tmp_path, few)
    assert found.is_met, found.told
    assert found.figures["kills"] == 5 and found.figures["runs"] >= 3
