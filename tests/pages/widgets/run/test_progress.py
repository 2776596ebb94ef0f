"""How long a run usually takes: by those of its flow in its world, where there are enough of them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from agent.types import Settings, Usage
from pages.widgets.run import progress

TOOK = {
    ("research", "live"): [60.0, 90.0, 300.0],
    ("research", "demo"): [2.0, 3.0, 4.0, 90.0],
    ("chat", "live"): [1.0, 1.0],
}


@pytest.mark.parametrize(
    ("flow", "world", "seconds"),
    [("research", "live", 90.0), ("research", "demo", 3.5), ("chat", "live", 0.0), ("chat", "demo", 0.0)],
)
def test_the_expected_time_is_that_of_the_same_flow_in_the_same_world(
    flow: Any, world: str, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    finished = [
        SimpleNamespace(settings=Settings(flow=name, world=where), usage=Usage(seconds=took))
        for (name, where), all_took in TOOK.items()
        for took in all_took
    ]
    bench = SimpleNamespace(store=SimpleNamespace(engine=None))
    monkeypatch.setattr(progress.client, "workbench", lambda: bench)
    monkeypatch.setattr(progress, "list_finished_runs", lambda engine: finished)
    progress.find_usual_seconds.clear()
    assert progress.find_usual_seconds(flow, world, "tester") == seconds
    progress.find_usual_seconds.clear()
