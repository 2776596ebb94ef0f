"""A workbench without workers, runs of the demo world, and a bundle of one, for the tests of what leaves and
comes in."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from agent.actions.export import export_run
from agent.llm.structured_call import compute_call_key
from agent.settings import config
from agent.types import ModelCall, Settings
from agent.workbench import Workbench
from tests.records import fill

QUESTION = "On what date did the Stenfors bridge reopen to traffic?"


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """An evidence bundle of a run with a model call, made once on a workbench that is closed since."""
    own = {
        "TOUCHSTONE_DATA": str(tmp_path_factory.mktemp("made")),
        "OLLAMA_URL": "",
        "EMBEDDING_MODEL": "off",
        "CONFIG_FILE": "",
    }
    opened = Workbench(
        config.read_config({name: field.default for name, field in config.SETTINGS.items()} | own)
    )
    run_id = opened.start(QUESTION, Settings(world="demo", model="keyless"))
    opened.drive(run_id)
    prompt = [{"role": "user", "content": "What now?"}]
    key = compute_call_key(run_id, 1, 1, prompt)
    opened.store.calls.record(
        fill(
            ModelCall,
            key=key,
            run_id=run_id,
            step=1,
            role="decision",
            model="m",
            prompt=prompt,
            reply="{}",
            prompt_tokens=5,
        )
    )
    data = export_run(opened, run_id, "bundle")
    opened.shutdown()
    return data


@pytest.fixture
def bench() -> Iterator[Workbench]:
    """A workbench of the test's own."""
    opened = Workbench()
    yield opened
    opened.shutdown()


@pytest.fixture
def ran(bench: Workbench) -> Callable[..., str]:
    """Drives a run of the demo world; returns its id."""

    def drive(question: str = QUESTION, **settings: object) -> str:
        run_id = bench.start(question, Settings(world="demo", model="keyless", **settings))  # type: ignore[arg-type]
        bench.drive(run_id)
        return run_id

    return drive
