"""What a guest sees of a shared run, and what not."""

from __future__ import annotations

from dataclasses import replace

from agent.actions.export import build_report
from agent.actions.share import _leave_out_private, render_shared_run
from agent.types import Action, Note, Settings, Status

DEMO = Settings(world="demo", model="keyless", mode="auto", until="review")
QUESTION = "On what date did the Stenfors bridge reopen to traffic?"


def test_no_word_of_a_private_note_reaches_a_guest_in_what_is_said_of_it(bench) -> None:
    run_id = bench.start(QUESTION, DEMO)
    bench.drive(run_id)
    note = "search more about the cost; our client is Zebrafinch"
    bench.send_back(run_id, bench.snapshot(run_id).head, note, private=True)
    assert bench.drive(run_id) is Status.REVIEW
    assert "Zebrafinch" in bench.snapshot(run_id).state.answer.remark, "its owner is told"
    shared = render_shared_run(bench, run_id)
    assert "Zebrafinch" not in shared.document and "bridge" in shared.document


def test_a_search_refused_for_private_words_and_its_reason_are_hidden_and_others_shown(bench) -> None:
    run_id = bench.start(QUESTION, DEMO)
    bench.drive(run_id)
    report = build_report(bench, run_id)
    secret = Action(
        step=9,
        action="search_brave",
        query_or_url="Zebrafinch bridge",
        reasoning="Zebrafinch pays",
        detail="",
    )
    note = Note(step=8, text="for our client Zebrafinch", private=True)
    told = replace(report, actions=[*report.actions, secret], notes=[note])
    *others, hidden = _leave_out_private(told, []).actions
    assert (hidden.query_or_url, hidden.reasoning) == ("[hidden]", "[hidden]")
    assert others == list(report.actions)
    assert _leave_out_private(replace(told, notes=[]), ["Zebrafinch is who asks"]).actions[-1] == hidden
    assert _leave_out_private(replace(told, notes=[]), []).actions[-1] == secret
