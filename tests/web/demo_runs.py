"""Runs of the demo world without a model, driven to where a person reviews their answer."""

from __future__ import annotations

from agent.types import Settings, Status
from agent.workbench import Workbench

SOLAR = "How many solar panels are there on the roof of Älvmora Mejeri?"
DEMO = Settings(world="demo", model="keyless")


def reviewed(bench: Workbench, question: str = SOLAR, **settings: object) -> str:
    """The id of a run whose answer waits for a review."""
    run_id = bench.start(question, DEMO.model_copy(update=settings))
    assert bench.drive(run_id) is Status.REVIEW, bench.snapshot(run_id).run.error
    return run_id
