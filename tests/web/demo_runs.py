"""Runs of the demo world without a model, driven to where a person reviews their answer."""

from __future__ import annotations

from agent.actions.export import export_run
from agent.engine.run_state import RunState
from agent.engine.snapshots import RunSnapshot
from agent.types import Settings, Status
from agent.workbench import Workbench

SOLAR = "How many solar panels are there on the roof of Älvmora Mejeri?"
DEMO = Settings(world="demo", model="keyless")


def reviewed(bench: Workbench, question: str = SOLAR, **settings: object) -> str:
    """The id of a run whose answer waits for a review."""
    run_id = bench.start(question, DEMO.model_copy(update=settings))
    assert bench.drive(run_id) is Status.REVIEW, bench.snapshot(run_id).run.error
    return run_id


class Reviewed:
    """A run of the demo world whose answer waits for a review, and what a person does with it."""

    def __init__(self, bench: Workbench, question: str = SOLAR, **settings: object) -> None:
        self.bench, self.id = bench, reviewed(bench, question, **settings)

    @property
    def view(self) -> RunSnapshot:
        """The run as it is now."""
        return self.bench.snapshot(self.id)

    @property
    def state(self) -> RunState:
        """Its state."""
        return self.view.state

    @property
    def cited(self) -> list[str]:
        """The ids of the facts that its answer rests on, in order."""
        assert self.state.answer
        return list(dict.fromkeys(i for said in self.state.answer.sentences for i in said.fact_ids))

    def act(self, name: str, *head: int, **given: object) -> int | str:
        """Do an act."""
        return self.bench.act(self.id, name, *head, **given)

    def rewrite(self) -> RunState:
        """The state once the answer was written again."""
        assert self.bench.drive(self.id) is Status.REVIEW, self.view.run.error
        return self.state

    def export(self, name: str) -> bytes:
        """The run in a format."""
        return export_run(self.bench, self.id, name)
