"""Cases of what leaves a run: private notes in exports, bundles, shares, logs and requests; what is erased, by another
process and on a full disk, too; runs in the bin."""

from __future__ import annotations

import hashlib
import json
import tempfile
from pathlib import Path

from sqlalchemy import event

from agent.actions.bundles import import_bundle, verify_bundle
from agent.actions.export import export_run
from agent.errors import StoreError
from agent.export import bundle
from agent.llm.structured_call import compute_call_key
from agent.store.backup import write_backup
from agent.workbench import Workbench
from bench.trust.scorecard import Bench, Result, case
from tests.web.private_run import CANARIES, NOTES, find_canaries, list_ways_out, private_runs
from tests.web.private_threads import FLOWS, private_thread


@case(
    "S9.1",
    "Private notes (guidance, send-back, comment, branch, further questions of each flow) and a model that repeats "
    "them everywhere, or says them in other words",
    "0 of their words in any export, bundle, share, log or request; no role whose reply goes out is shown them",
    quick=True,
)
def ways_out(bench: Bench) -> Result:
    misses, count = [], 0
    for keyless in (False, True):
        with tempfile.TemporaryDirectory() as folder, private_runs(Path(folder), keyless=keyless) as made:
            for name, body in list_ways_out(made):
                count += 1
                found = find_canaries(body)
                misses += [f"{name}, {'rules' if keyless else 'model'}: {', '.join(found)}"] if found else []
    for flow in FLOWS:
        with tempfile.TemporaryDirectory() as folder, private_thread(Path(folder), flow) as thread:
            count += len(thread.model.seen)
            misses += [f"{flow}: {told}" for told in (*thread.list_told(), *thread.list_leaks())]
    return Result(count, f"{len(misses)} of {count} files, documents and prompts hold one", misses)


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
            made.bench.draft(f"back:{made.run}", NOTES["send_back"])
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
