"""Cases of private notes: the hashes of them in bundles, and what is left where they were erased."""

from __future__ import annotations

import hashlib
import json
import tempfile
from pathlib import Path

from agent.actions.bundles import import_bundle, verify_bundle
from agent.actions.export import export_run
from agent.export import bundle
from agent.llm.structured_call import compute_call_key
from agent.store.backup import write_backup
from bench.trust.scorecard import Bench, Result, case
from tests.web.private_run import CANARIES, NOTES, find_canaries, private_runs


@case(
    "S9.2",
    "A bundle without its private texts",
    "verifies, is imported, and holds no hash of them that can be guessed",
    quick=True,
)
def bundles(bench: Bench) -> Result:
    misses, count = [], 0
    with tempfile.TemporaryDirectory() as folder, private_runs(Path(folder)) as made:
        for run_id in made.runs:
            data = export_run(made.bench, run_id, "bundle")
            found = verify_bundle(data)
            misses += [f"{run_id}: {problem}" for problem in found.problems]
            contents = bundle.read_bundle(data)
            told = "".join(step.model_dump_json() for step in contents.steps)
            told += "".join(call.model_dump_json() for call in contents.calls)
            prompts = [
                call for call in made.bench.calls(run_id) if find_canaries(json.dumps(call.prompt).encode())
            ]
            keys = [call.key for call in prompts]
            keys += [compute_call_key(c.run_id, c.step, c.attempt, c.prompt) for c in prompts]
            hashes = [hashlib.sha256(text.encode()).hexdigest() for text in (*NOTES.values(), *CANARIES)]
            count += len(hashes) + len(keys)
            misses += [f"{run_id}: holds {guess}" for guess in (*hashes, *keys) if guess in told]
            again = export_run(made.bench, import_bundle(made.bench, data).run_id, "bundle")
            misses += [f"{run_id} imported: {problem}" for problem in verify_bundle(again).problems]
    return Result(count, f"{len(misses)} of {count} hashes found, or problems", misses)


@case(
    "S9.3",
    "Private notes that were erased",
    "0 of their words in any run, model call, draft, byte of the database or backup made after",
    quick=True,
)
def erased(bench: Bench) -> Result:
    misses, count = [], 0
    for keyless in (False, True):
        with tempfile.TemporaryDirectory() as folder, private_runs(Path(folder), keyless=keyless) as made:
            data = made.bench.config.data_folder
            made.bench.store.draft(f"back:{made.run}", NOTES["send_back"])
            for run_id in made.runs:
                for note in made.bench.snapshot(run_id).state.notes:
                    if note.private and note.text in NOTES.values():
                        made.bench.act(run_id, "erase_note", step=note.step)
            write_backup(data, Path(folder) / "after.zip")
            places = {path.name: path.read_bytes() for path in data.glob("touchstone.db*")}
            places["backup"] = (Path(folder) / "after.zip").read_bytes()
            for run_id in made.runs:
                view, calls = made.bench.snapshot(run_id), made.bench.calls(run_id)
                places[f"steps of {run_id}"] = "".join(s.model_dump_json() for s in view.steps).encode()
                places[f"calls of {run_id}"] = "".join(c.model_dump_json() for c in calls).encode()
                found = verify_bundle(export_run(made.bench, run_id, "bundle"))
                misses += [f"{run_id}: {problem}" for problem in found.problems]
            count += len(places)
            misses += [
                f"{name}: {', '.join(f)}" for name, body in places.items() if (f := find_canaries(body))
            ]
    return Result(count, f"{len(misses)} of {count} places hold one", misses)
