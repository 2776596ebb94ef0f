"""Erasing a private note for good, with what was made from it: in the steps, model calls and drafts of its
run, of branches of it and of the later turns of its conversation."""

from __future__ import annotations

import secrets
from typing import Annotated

from pydantic import Field

from agent.actions.commit import ActionContext
from agent.actions.release import find_private, release
from agent.engine.snapshots import RunSnapshot
from agent.engine.state import Change
from agent.errors import UsageError
from agent.export.hiding import is_withheld
from agent.store.database import PURGE_DUE
from agent.types import Status

ERASED = "[erased]"


def list_private(view: RunSnapshot) -> list[Change]:
    """The private notes of a run as its steps hold them, undone ones too."""
    return [note for step in view.steps for note in step.change.get("notes", ()) if note.get("private")]


def erase_note(
    bench: ActionContext,
    run_id: str,
    step: Annotated[int, Field(description="the step of the note")],
) -> None:
    """Erase a private note for good, with what was made from it; backups made before still hold it. No run
    that could have held it may be at work."""
    view, store = bench.snapshot(run_id), bench.store
    texts = [note["text"] for note in list_private(view) if note["step"] == step]
    if texts[:1] == [ERASED]:  # the purge may have failed
        bench.store.purge()
        return
    if not texts or is_withheld(texts[0]):
        raise UsageError(f"step {step} of run {run_id} holds no private note that could be erased")
    family = store.ledger.family(run_id)
    if at_work := [one for one in family if store.ledger.get(one).status is Status.RUNNING]:
        raise UsageError(f"run {at_work[0]} is at work and may hold the note: pause it, then erase the note")
    private = find_private(view.steps, store.calls.list_for_run(run_id), texts)
    only = [*texts, *private.readings]
    store.draft(PURGE_DUE, run_id)
    said = (note for one in family for s in bench.snapshot(one).steps for note in s.change.get("notes", ()))
    kept = {ERASED} | {note["text"] for note in said} - set(only)
    for key, text in store.drafts.all().items():
        if any(one in key for one in family) and (private.gives_away(text) or key.startswith("salt:")):
            store.drafts.drop(key)
    for one in sorted(family, key=lambda name: name == run_id):  # the run last: repeated, it is found again
        before = store.calls.list_for_run(one)
        found, calls = release(bench, one, lambda _text: ERASED, only, kept)
        both = [pair for pair in zip(before, calls or before, strict=True) if pair[0] != pair[1]]
        store.calls.rewrite({old.key: new.replace(key=secrets.token_hex(32)) for old, new in both})
        known = bench.snapshot(one)
        if (found.steps, found.run.error) != (known.steps, known.run.error):
            store.ledger.rewrite(one, found.steps, found.run.error)
    bench.snapshots.forget(family)
    store.purge()
