"""Runs of the demo world without a model, driven to where a person reviews their answer."""

from __future__ import annotations

from agent.engine.run_state import RunState
from agent.types import Settings, Status
from agent.workbench import Workbench

SOLAR = "How many solar panels are there on the roof of Älvmora Mejeri?"
DEMO = Settings(world="demo", model="keyless")


def reviewed(bench: Workbench, question: str = SOLAR, **settings: object) -> str:
    """The id of a run whose answer waits for a review."""
    run_id = bench.start(question, DEMO.model_copy(update=settings))
    assert bench.drive(run_id) is Status.REVIEW, bench.snapshot(run_id).run.error
    return run_id


def rewritten(bench: Workbench, run_id: str) -> RunState:
    """The state of a run once its answer was written again."""
    assert bench.drive(run_id) is Status.REVIEW, bench.snapshot(run_id).run.error
    return bench.snapshot(run_id).state


def cited(state: RunState) -> list[str]:
    """The ids of the facts that the answer rests on, in order."""
    assert state.answer
    return list(dict.fromkeys(i for sentence in state.answer.sentences for i in sentence.fact_ids))
