"""What a chat remembers: the turns of its thread, across restarts and in no other thread; and which message
answers a question asked back."""

from __future__ import annotations

import pytest

from agent.errors import NotFound, UsageError
from agent.settings import config
from agent.types import Settings, Status
from agent.workbench import Workbench
from tests.web.chatting_model import ASKED, TICKET, Script, Talk, Turned, stocked

pytestmark = pytest.mark.slow


def reopened(bench: Workbench) -> Workbench:
    """The same database in a new process, as far as memory goes."""
    bench.shutdown()
    return Workbench(config.read_config())


def test_the_thread_is_remembered_after_a_restart(bench: Workbench) -> None:
    stocked(bench)
    first = Talk(bench, script=Script()).say("Tell me about the Brannvik ferry.")
    later = reopened(bench)
    try:
        turn = Talk(later, thread=first.id, script=Script(router="DIRECT_ANSWER")).say("What was the price?")
        assert turn.state.own.route_decision == "DIRECT_ANSWER" and TICKET[0] in turn.text
        assert turn.seed["messages"][:2] == [
            {"role": "user", "content": first.state.question},
            {"role": "assistant", "content": first.text},
        ]
        assert later.thread(turn.id) == [first.id, turn.id]
        assert {fact.id for fact in turn.state.own.prior} <= set(first.state.facts) and turn.state.own.prior
    finally:
        later.shutdown()


def test_a_question_asked_back_waits_for_its_answer_over_a_restart(bench: Workbench) -> None:
    stocked(bench)
    asked = Talk(bench, script=Script(router="ASK_CLARIFICATION")).say("Who built it?")
    later = reopened(bench)
    try:
        assert later.snapshot(asked.id).run.status is Status.WAITING
        later.act(asked.id, "drop_model")  # the model of then is not set up here
        later.act(asked.id, "respond", text="the Brannvik ferry")
        later.drive(asked.id)
        turn = Turned(later, asked.id)
        assert "Olga Lindmark" in turn.text and turn.status is Status.DONE
    finally:
        later.shutdown()


def test_threads_do_not_leak_into_each_other(bench: Workbench) -> None:
    stocked(bench)
    high = "The lighthouse is 31 metres high."
    script = Script(generate=[[TICKET], [(high, high)]] * 2)
    ferry, light = Talk(bench, script=script), Talk(bench, script=script)
    ferry.say("Tell me about a ticket of the Brannvik ferry.")
    light.say("Tell me about the Skarholm lighthouse.")
    one, two = ferry.say("What does a ticket cost?"), light.say("How high is the lighthouse?")
    assert "38 kronor" in one.text and "31 metres" in two.text
    assert "lighthouse" not in str(one.seed["messages"]) and "38 kronor" not in str(two.seed["messages"])
    for turn, name in ((one, "kb:ferry.md"), (two, "kb:light.md")):
        assert {doc.source_id for doc in turn.state.own.prior_docs} == {name}


def test_a_choice_that_is_picked_answers_what_was_asked_back(bench: Workbench) -> None:
    stocked(bench)
    talk = Talk(bench, script=Script(router={"route": "ASK_CLARIFICATION"}))
    asked = talk.say("Who built it?")
    assert asked.state.own.choices == ["the ferry", "the lighthouse"]
    turn = talk.say("2")
    assert turn.id == asked.id and turn.state.own.queries[0] == "Who built it? the lighthouse"


def test_a_turn_that_cannot_be_changes_nothing(bench: Workbench) -> None:
    stocked(bench)
    asked = Talk(bench).say("What colour is the moon of Zanzibar?")
    with pytest.raises(UsageError):
        bench.send_chat_message(asked.id, f"What {'x' * 20_000}?")
    with pytest.raises(UsageError):
        bench.send_chat_message(asked.id, "  ")
    with pytest.raises(NotFound):
        bench.send_chat_message("nowhere", "What is that?")
    assert bench.snapshot(asked.id).head == asked.view.head and len(bench.thread(asked.id)) == 1


def test_a_chat_takes_chat_turns_only(bench: Workbench) -> None:
    stocked(bench)
    turn = Talk(bench, script=Script()).say(ASKED)
    with pytest.raises(UsageError, match="only follow one of its own kind"):
        bench.send_chat_message(turn.id, "And now?", Settings(flow="research"))
