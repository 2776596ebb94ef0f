"""A workbench that may read this machine, and one short way to ask a site."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from agent.settings import config
from agent.types import Settings, Status, Turn
from agent.workbench import RunSnapshot, Workbench
from tests.agent.flows.site.cases import QUESTION, START


@pytest.fixture
def bench() -> Iterator[Workbench]:
    opened = Workbench(config.read_config({"FETCH_ALLOW": "127.0.0.1", "FETCH_GAP": "0"}))
    yield opened
    opened.shutdown()


@pytest.fixture
def ask(bench: Workbench) -> Callable[..., RunSnapshot]:
    def asked(
        question: str = QUESTION,
        *starts: str,
        follow: str = "",
        history: list[Turn] | None = None,
        **more: Any,
    ) -> RunSnapshot:
        settings = Settings(
            **{
                "flow": "site",
                "world": "demo",
                "model": "keyless",
                "start_urls": list(starts) or [START],
                **more,
            }
        )
        run_id = (
            bench.follow_up(follow, question)
            if follow
            else bench.start(question, settings, history=history or [])
        )
        assert bench.drive(run_id) is Status.REVIEW, bench.snapshot(run_id).run.error
        return bench.snapshot(run_id)

    return asked
