"""What of a run may leave: nothing of private notes, in whatever form."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.actions.bundle_verify import verify_bundle
from agent.actions.export import export_run
from tests.web.private_run import CANARIES, find_canaries, list_ways_out, private_runs

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
