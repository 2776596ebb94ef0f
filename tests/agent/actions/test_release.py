"""What of a run may leave: nothing of private notes, in whatever form."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.actions.bundle_verify import verify_bundle
from agent.actions.export import export_run
from agent.errors import UsageError
from tests.web.private_run import CANARIES, NOTES, find_canaries, list_ways_out, private_runs

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("keyless", [False, True], ids=["model", "rules"])
def test_no_word_of_a_private_note_is_in_anything_that_leaves(tmp_path: Path, keyless: bool) -> None:
    with private_runs(tmp_path, keyless=keyless) as made:
        if made.model:
            shown = "\n".join(prompt for _, prompt in made.model.prompts)
            assert [word for word in CANARIES if word not in shown] == [], "the model was shown each of them"
        told = {name: found for name, body in list_ways_out(made) if (found := find_canaries(body))}
        assert told == {}
        for run_id in made.runs:
            found = verify_bundle(export_run(made.bench, run_id, "bundle"))
            assert found.is_valid, (run_id, found.problems)


def test_the_owner_finds_a_private_note_by_its_words_and_erases_it(tmp_path: Path) -> None:
    with private_runs(tmp_path, keyless=True) as made:
        assert [run.id for run in made.bench.runs(text="quibblor")] == [made.fork, made.run]
        assert [run.id for run in made.bench.runs(text="Tarnmoor")] == [made.fork]
        note = next(n for n in made.bench.snapshot(made.run).state.notes if n.kind == "send_back")
        made.bench.erase_note(made.run, note.step)
        assert made.bench.runs(text="quibblor") == []
        kept = [n.text for n in made.bench.snapshot(made.fork).state.notes]
        assert NOTES["comment"] in kept and "[erased]" in kept, "the other notes stay"
        with pytest.raises(UsageError, match="holds no private note"):
            made.bench.erase_note(made.run, note.step)
        made.bench.store.ledger.update_run(made.further, status="running")
        comment = next(n for n in made.bench.snapshot(made.run).state.notes if n.kind == "comment")
        with pytest.raises(UsageError, match="pause it, then erase"):
            made.bench.erase_note(made.run, comment.step)
