"""What a guest sees of a shared run, and what not."""

from __future__ import annotations

import pytest

from agent.actions.export import render_shared_run
from agent.errors import NotFound
from agent.types import Settings, Status

DEMO = Settings(world="demo", model="keyless", mode="auto", until="review")
QUESTION = "On what date did the Stenfors bridge reopen to traffic?"


def test_no_word_of_a_private_note_reaches_a_guest_in_what_is_said_of_it(bench) -> None:
    run_id = bench.start(QUESTION, DEMO)
    bench.drive(run_id)
    note = "search more about the cost; our client is Zebrafinch"
    bench.act(run_id, "send_back", bench.snapshot(run_id).head, note=note, private=True)
    assert bench.drive(run_id) is Status.REVIEW
    assert "Zebrafinch" in bench.snapshot(run_id).state.notes[-1].text, "its owner sees it"
    shared = render_shared_run(bench, run_id)
    assert "Zebrafinch" not in shared.document and "bridge" in shared.document


@pytest.mark.slow
def test_a_run_in_the_bin_is_gone_for_its_guests_however_many_are_there(bench) -> None:
    run_id = bench.start(QUESTION, DEMO)
    bench.drive(run_id)
    bench.delete(run_id)
    for _ in range(502):
        bench.delete(bench.store.ledger.create(QUESTION, DEMO, bench.snapshot(run_id).steps[0]))
    with pytest.raises(NotFound):
        render_shared_run(bench, run_id)
    bench.restore(run_id)
    assert render_shared_run(bench, run_id).document
