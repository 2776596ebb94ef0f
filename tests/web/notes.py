"""What a model would read in a note, recorded as a step of a run that has no model."""

from __future__ import annotations

from agent.engine.state import to_jsonable
from agent.types import Note, NoteReading, Status
from agent.workbench import Workbench
from tests.records import fill


def rule_out(bench: Workbench, run_id: str, site: str) -> None:
    """A note that rules a site out, as a model read it; the answer is written again."""
    step = bench.snapshot(run_id).head + 1
    note = Note(step=step, text=f"Leave out {site}.", kind="send_back")
    reading = fill(NoteReading, note=step, step=step, by="model", excluded_sites=[site])
    change = to_jsonable({"notes": [note], "readings": [reading]})
    bench.store.ledger.append_person_step(
        run_id, "send_back", change, next="report", among=tuple(Status), status=Status.RUNNING
    )
