"""Views: folded once, kept, told anew when a run moved; a look ahead finds nothing it may not."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from agent.engine import snapshots
from agent.engine.snapshots import SnapshotCache
from agent.errors import NotFound
from agent.flows import FLOWS, STEP_LABELS
from agent.types import Settings
from agent.workbench import Workbench


def test_a_run_is_folded_once_however_many_look(
    bench: Workbench, ran: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id, folded = ran(), []
    fresh = SnapshotCache(bench.store_of, FLOWS, STEP_LABELS)
    fold = snapshots.fold
    monkeypatch.setattr(
        snapshots, "fold", lambda state, steps: folded.append(len(steps)) or fold(state, steps)
    )
    fresh.prefetch(run_id)
    with ThreadPoolExecutor(8) as looking:
        found = list(looking.map(fresh.get, [run_id] * 32))
    assert len(folded) == 1 and len({id(view) for view in found}) == 1
    assert found[0].state == FLOWS["research"].fold_steps(bench.store.ledger.steps(run_id))
    fresh.close()


def test_a_look_ahead_at_nothing_does_no_harm(bench: Workbench) -> None:
    fresh, done = SnapshotCache(bench.store_of, FLOWS, STEP_LABELS), threading.Event()
    fresh.prefetch("nothere")
    fresh._prefetch_pool.submit(done.set)
    assert done.wait(30)
    with pytest.raises(NotFound):
        fresh.get("nothere")
    fresh.close()
    fresh.prefetch("nothere")


def test_only_so_many_are_kept(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "CACHE_SIZE", 2)
    runs = [bench.start(f"Who is number {n}?", Settings(world="demo")) for n in range(4)]
    fresh = SnapshotCache(bench.store_of, FLOWS, STEP_LABELS)
    for run_id in runs:
        fresh.get(run_id)
    assert list(fresh._cache) == runs[-2:]
    fresh.close()
