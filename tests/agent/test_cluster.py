"""Workers killed under runs at one PostgreSQL database: none lost, nothing doubled. `python -m bench.cluster`
does it with web servers, 50 runs and 500 kills."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from bench.cluster import measure_kills
from tests import postgres

pytestmark = pytest.mark.slow


@pytest.mark.skipif(os.geteuid() != 0, reason="only root starts it as another user")
def test_a_server_of_root_starts_where_its_user_cannot_get_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reachable = Path(tempfile.mkdtemp())
    monkeypatch.setattr(postgres, "FOR_ROOT", reachable)
    tmp_path.chmod(0o700)
    try:
        _, stop = postgres.start_server(tmp_path / "postgres")
    except postgres.NoServer as trouble:
        assert "Permission denied" not in str(trouble)
        pytest.skip(str(trouble))
    stop()
    assert len(list(reachable.glob("*/data/PG_VERSION"))) == 1
    shutil.rmtree(reachable)


def test_runs_go_on_when_their_workers_are_killed(tmp_path: Path):
    try:
        postgres.find_server()
    except postgres.NoServer as trouble:
        pytest.skip(str(trouble))
    few = SimpleNamespace(web=0, workers=2, kills=5, runs=3, life=0.5, seed=1)
    found = measure_kills(tmp_path, few)
    assert found.is_met, found.told
    assert found.figures["kills"] == 5 and found.figures["runs"] >= 3
