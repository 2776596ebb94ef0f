"""Cases of private notes that are erased while the disk is full."""

from __future__ import annotations

import tempfile
from pathlib import Path

from sqlalchemy import event

from agent.errors import StoreError
from agent.workbench import Workbench
from bench.trust.scorecard import Bench, Result, case
from tests.web.private_run import NOTES, find_canaries, private_runs


def fail_to_purge(_connection: object, _cursor: object, statement: str, *_more: object) -> None:
    """The disk is full whenever the file of the database is written anew."""
    if statement == "VACUUM":
        raise StoreError("database or disk is full")


@case(
    "S9.13",
    "Private notes erased while the disk is too full to write the database anew; then a start",
    "each erase says so; 0 of their words in a byte of the database after the start",
    quick=True,
)
def erased_on_a_full_disk(bench: Bench) -> Result:
    misses, count = [], 0
    with tempfile.TemporaryDirectory() as folder, private_runs(Path(folder), keyless=True) as made:
        event.listen(made.bench.store.engine, "before_cursor_execute", fail_to_purge)
        for run_id in made.runs:
            for note in made.bench.snapshot(run_id).state.notes:
                if not note.private or note.text not in NOTES.values():
                    continue
                count += 1
                try:
                    made.bench.act(run_id, "erase_note", step=note.step)
                    misses.append(f"{run_id} {note.step}: no word of the full disk")
                except StoreError as told:
                    misses += [] if "may still hold" in str(told) else [str(told)]
        Workbench(made.bench.config).shutdown()
        for path in made.bench.config.data_folder.glob("touchstone.db*"):
            misses += (
                [f"{path.name}: {', '.join(found)}"] if (found := find_canaries(path.read_bytes())) else []
            )
    return Result(count, f"{count} erased, {len(misses)} misses", misses)
