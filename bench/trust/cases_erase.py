"""Cases of private notes that are erased by another process than the server."""

from __future__ import annotations

import tempfile
from pathlib import Path

from agent.workbench import Workbench
from bench.trust.scorecard import Bench, Result, case
from tests.web.private_run import NOTES, find_canaries, private_runs


@case(
    "S9.7",
    "Private notes erased by the command line while a server holds their runs, which are asked further",
    "0 of their words in what the server holds, in a byte of the database or in a copy of an upgrade",
    quick=True,
)
def erased_elsewhere(bench: Bench) -> Result:
    with tempfile.TemporaryDirectory() as folder, private_runs(Path(folder), keyless=True) as made:
        data = made.bench.config.data_folder
        (data / "touchstone.db.before-m099").write_text(NOTES["steer"])
        for run_id in made.runs:
            made.bench.snapshot(run_id)
        command = Workbench(made.bench.config)
        for run_id in made.runs:
            for note in command.snapshot(run_id).state.notes:
                if note.private and note.text in NOTES.values():
                    command.act(run_id, "erase_note", step=note.step)
        command.shutdown()
        asked = made.bench.follow_up(made.run, "How wide is it?")
        made.bench.drive(asked)
        made.bench.store.purge()
        places = {path.name: path.read_bytes() for path in data.glob("touchstone.db*")}
        for run_id in (*made.runs, asked):
            places[run_id] = made.bench.snapshot(run_id).state.model_dump_json().encode()
    misses = [
        f"{name}: {', '.join(found)}" for name, body in places.items() if (found := find_canaries(body))
    ]
    return Result(len(places), f"{len(misses)} of {len(places)} places hold one", misses)
