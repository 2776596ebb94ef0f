"""Views: folded once, kept, told anew when a run moved; a look ahead finds nothing it may not."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from agent.engine import snapshots
from agent.engine.snapshots import SnapshotCache
from agent.flows import FLOWS, STEP_LABELS
from agent.workbench import Workbench

pytestmark = pytest.mark.usefixtures("on_both_databases")


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
