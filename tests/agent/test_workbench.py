"""What a person may do with a run, over the demo world and keyless: each word is a step, and only the first
of two counts."""

from __future__ import annotations

import pytest

from agent.errors import ConcurrentChange, UsageError
from agent.llm.detect import DetectedModel
from agent.types import Status
from agent.workbench import Workbench
from tests.tables import by_table
from tests.web.demo_runs import DEMO, SOLAR, reviewed
from tests.web.notes import rule_out
from tests.web.researching_model import ASK, END, ROOF, Script, crawl
from tests.web.scripted import ScriptedModel

pytestmark = pytest.mark.slow


def waiting(bench: Workbench, question: str = SOLAR) -> str:
    run_id = bench.start(question, DEMO.model_copy(update={"mode": "step"}))
    assert bench.drive(run_id) is Status.WAITING
    return run_id


def test_accept_ends_the_run_once(bench):
    run_id = reviewed(bench)
    head = bench.snapshot(run_id).head
    bench.act(run_id, "accept", head)
    assert bench.snapshot(run_id).run.status is Status.DONE
    with pytest.raises(ConcurrentChange):
        bench.act(run_id, "accept", head)


def test_send_back_goes_on_with_everything_learnt(bench):
    run_id = reviewed(bench)
    before = bench.snapshot(run_id).state
    with pytest.raises(UsageError, match="say in the note"):
        bench.act(run_id, "send_back", note="  ")
    bench.act(run_id, "send_back", note="Also say how much electricity the roof gives in a year.")
    assert bench.drive(run_id) is Status.REVIEW
    after = bench.snapshot(run_id).state
    assert [answer.n for answer in after.answers] == [1, 2]
    assert after.notes[0].kind == "send_back" and set(before.facts) <= set(after.facts)
    assert any("electricity" in action.query_or_url for action in after.actions_this_round + after.actions)


def test_a_note_that_rules_a_source_out_is_obeyed(bench):
    run_id = reviewed(bench, "In which year was Älvmora Mejeri founded?")
    state = bench.snapshot(run_id).state
    assert any("norrviddawiki.example" in source.url for source in state.answer.sources)
    rule_out(bench, run_id, "norrviddawiki.example")
    assert bench.drive(run_id) is Status.REVIEW
    after = bench.snapshot(run_id).state
    assert "1979" in after.answer.text and "1974" not in after.answer.text
    assert not any("norrviddawiki" in source.url for source in after.answer.sources)
    assert not any("norrviddawiki" in action.query_or_url for action in after.actions[len(state.actions) :])


def test_a_send_back_after_a_spent_budget_has_a_budget_of_its_own(bench):
    run_id = reviewed(bench, max_seconds=1e-9)
    assert bench.snapshot(run_id).state.stop_reason == "budget" and not bench.snapshot(run_id).state.actions
    bench.store.ledger.update_run(run_id, settings=DEMO.model_dump_json())
    bench.act(run_id, "send_back", note="Go on with this, please.")
    assert bench.drive(run_id) is Status.REVIEW
    assert bench.snapshot(run_id).state.actions


def test_step_by_step_a_decision_can_be_approved_edited_and_skipped(bench):
    run_id = waiting(bench)
    bench.act(run_id, "approve")
    assert bench.drive(run_id) is Status.WAITING
    proposed = bench.snapshot(run_id).state.pending
    assert proposed.next_action == "crawl_url"
    bench.act(run_id, "skip")
    assert bench.drive(run_id) is Status.WAITING
    assert bench.snapshot(run_id).state.pending.query_or_url != proposed.query_or_url
    bench.act(run_id, "edit", next_action="search_duckduckgo", query_or_url="solar roof dairy")
    assert bench.drive(run_id) is Status.WAITING
    last = bench.snapshot(run_id).state.actions[-1]
    assert (last.query_or_url, last.by) == ("solar roof dairy", "person")
    bench.act(run_id, "edit", next_action="send_to_hitl", query_or_url="")
    assert bench.drive(run_id) is Status.REVIEW


@by_table
def test_an_impossible_edit_is_told_and_changes_nothing(bench, action, text, told):
    run_id = waiting(bench)
    head = bench.snapshot(run_id).head
    with pytest.raises(UsageError, match=told):
        bench.act(run_id, "edit", head, next_action=action, query_or_url=text)
    assert bench.snapshot(run_id).head == head


def test_a_note_while_it_waits_makes_it_decide_anew(bench):
    run_id = waiting(bench)
    bench.act(run_id, "steer", note=f"Look at {ROOF} first.")
    assert bench.drive(run_id) is Status.WAITING
    assert bench.snapshot(run_id).state.pending.query_or_url == ROOF


@pytest.mark.parametrize("role", ["decision", "report"])
def test_a_note_given_while_the_last_word_is_being_found_is_obeyed(bench, monkeypatch, role):
    noted = "Look for the municipal food inspections, too."
    script = Script(ASK, crawl(ROOF), confidence=0.3 if role == "decision" else 0.95)
    search = {**ASK, "query_or_url": "municipal food inspections"}

    def answer(messages, shape):
        prompt, reply = messages[-1]["content"], script.scripted(messages, shape)
        if script.prompts[-1][0] == role and not bench.snapshot(run_id).state.notes:
            if role == "report" or reply == END:
                bench.act(run_id, "steer", note=noted)
        elif script.prompts[-1][0] == "decision" and noted in prompt and search not in told:
            told.append(reply := search)
        return reply

    told: list[dict] = []
    model = DetectedModel(ScriptedModel(answer), "")
    monkeypatch.setattr(bench.worker.model_search, "found", model)
    run_id = bench.start(SOLAR, DEMO.model_copy(update={"model": "auto"}))
    assert bench.drive(run_id) is Status.REVIEW, bench.snapshot(run_id).run.error
    actions = bench.snapshot(run_id).state.actions
    assert told and any("inspections" in action.query_or_url for action in actions)


def test_a_note_to_a_stopped_run_is_heeded_before_what_was_proposed(bench):
    run_id = waiting(bench)
    bench.act(run_id, "stop")
    bench.act(run_id, "steer", note=f"Look at {ROOF} first.")
    bench.act(run_id, "resume")
    assert bench.drive(run_id) is Status.WAITING
    assert bench.snapshot(run_id).state.pending.query_or_url == ROOF


def test_a_word_that_the_run_overtakes_changes_nothing(bench, monkeypatch):
    run_id, append = bench.start(SOLAR, DEMO), bench.store.ledger.append_person_step

    def overtaken(*step, **more):
        monkeypatch.undo()
        bench.drive(run_id)  # the run reaches its review between the look and the word
        return append(*step, **more)

    monkeypatch.setattr(bench.store.ledger, "append_person_step", overtaken)
    with pytest.raises(ConcurrentChange):
        bench.act(run_id, "resume")
    assert bench.snapshot(run_id).run.status is Status.REVIEW and bench.store.ledger.list_claimable() == []


def test_nothing_can_be_said_to_a_run_in_the_bin(bench):
    run_id = reviewed(bench)
    bench.delete(run_id)
    with pytest.raises(ConcurrentChange, match="bin"):
        bench.act(run_id, "send_back", note="Which year?")


def test_pause_stop_resume_and_finish(bench):
    run_id = waiting(bench)
    bench.act(run_id, "stop")
    assert bench.snapshot(run_id).run.status is Status.STOPPED
    bench.act(run_id, "resume")
    assert bench.snapshot(run_id).run.status is Status.WAITING
    with pytest.raises(ConcurrentChange):
        bench.act(run_id, "pause")
    bench.act(run_id, "finish")
    assert bench.drive(run_id) is Status.REVIEW
    assert bench.snapshot(run_id).state.answer.verdict == "no_evidence"


def test_a_question_follows_only_its_own_kind(bench):
    run_id = reviewed(bench)
    with pytest.raises(UsageError, match="its own kind"):
        other = {"flow": "site", "start_urls": ["https://kallsteg.example/"]}
        bench.follow_up(run_id, "And the next?", DEMO.replace(**other))


def test_the_budget_of_steps_leads_to_an_answer(bench):
    run_id = reviewed(bench, "What is the maximum depth of lake Granvattnet?", max_steps=2)
    state = bench.snapshot(run_id).state
    assert len(state.actions) == 2 and state.stop_reason == "budget"
