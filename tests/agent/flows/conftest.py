"""What the tests of the flows share: a workbench, and one short way to ask it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from agent.settings import config
from agent.types import Settings, Status
from agent.workbench import RunSnapshot, Workbench

Ask = Callable[..., RunSnapshot]


@pytest.fixture
def bench() -> Iterator[Workbench]:
    opened = Workbench(config.read_config())
    yield opened
    opened.shutdown()


@pytest.fixture
def ask(bench: Workbench) -> Ask:
    """Ask a question and drive the run until it rests: in the demo world, keyless, unless settings say
    otherwise."""

    def asked(question: str, *, rests: Status = Status.REVIEW, **settings: Any) -> RunSnapshot:
        run_id = bench.start(question, Settings(**{"world": "demo", "model": "keyless", **settings}))
        assert bench.drive(run_id) is rests, bench.snapshot(run_id).run.error
        return bench.snapshot(run_id)

    return asked
