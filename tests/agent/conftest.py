"""A workbench without workers, and runs of the demo world with a model call each, for the tests of what leaves and comes in."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from agent.llm.ask import call_key
from agent.types import Call, Settings
from agent.workbench import Workbench

QUESTION = "On what date did the Stenfors bridge reopen to traffic?"


@pytest.fixture
def bench() -> Iterator[Workbench]:
    """A workbench of the test's own."""
    opened = Workbench()
    yield opened
    opened.shutdown()


@pytest.fixture
def ran(bench: Workbench) -> Callable[..., str]:
    """Drives a run of the demo world; returns its id. `call` adds a model call to it."""

    def drive(question: str = QUESTION, *, call: str = "", **settings: object) -> str:
        run_id = bench.start(question, Settings(world="demo", model="keyless", **settings))  # type: ignore[arg-type]
        bench.drive(run_id)
        if call:
            prompt = [{"role": "user", "content": call}]
            key = call_key(run_id, 1, 1, prompt)
            bench.store.calls.record(Call(key=key, run_id=run_id, step=1, role="decision", model="m", prompt=prompt, reply="{}", prompt_tokens=5))
        return run_id

    return drive
