"""What a reply leaves behind: nothing of the conversation, unless `store_conversations` says so."""

from __future__ import annotations

import logging
import threading
from pathlib import Path

import pytest

from agent.bot.responder import ReplyService
from agent.errors import NotFound
from agent.types import Status
from agent.types.reply import Conversation, Message, RequestContext
from tests.agent.bot.replies import NIGHT, SAID, Open, counted, rise
from tests.waiting import wait_for
from tests.web.replying_model import Script
from tests.web.scripted import ScriptedModel

SECRET = "Quillfeather"
TALK = Conversation(
    messages=[
        Message(role="user", text=f"I am {SECRET}, hello."),
        Message(role="user", text="When do backups run?"),
    ]
)
PERSON = RequestContext(platform="forum", channel="help", user=SECRET)


def script() -> ScriptedModel:
    """A model that repeats the secret wherever it gives a reason."""
    gate = {"should_reply": True, "reasoning": f"{SECRET} asks."}
    return ScriptedModel(Script(gate=gate, write=[(SAID, SAID)]))


def files_with(text: str, service: ReplyService) -> list[str]:
    """The files of the data folder that hold a text, the write-ahead log included."""
    folder = Path(service.bench.config.data_folder)
    return [str(path) for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


@pytest.mark.parametrize("with_model", [True, False])
def test_nothing_of_a_conversation_is_in_any_file_of_the_store(opened: Open, with_model: bool) -> None:
    service = opened(client=script() if with_model else None)
    outcome = service.reply(TALK, PERSON)
    assert outcome.result.should_reply is with_model and outcome.usage.llm_calls == (3 if with_model else 0)
    assert files_with(SECRET, service) == [] and service.bench.runs() == []
    assert service.bench.unstored.stores() == []
    with pytest.raises(NotFound):
        service.bench.snapshot(outcome.run_id)


def test_with_the_setting_on_the_whole_conversation_is_stored(opened: Open) -> None:
    service = opened(client=script(), stored=True)
    outcome = service.reply(TALK, PERSON)
    assert files_with(SECRET, service) and [run.id for run in service.bench.runs()] == [outcome.run_id]
    assert SECRET in service.bench.calls(outcome.run_id)[0].prompt[-1]["content"]


def test_a_failed_reply_leaves_nothing_either(opened: Open) -> None:
    service = opened(client=ScriptedModel(Script(gate=lambda _: 1 / 0)))
    assert service.reply(TALK, PERSON).failed
    assert files_with(SECRET, service) == [] and service.bench.unstored.stores() == []


def test_requests_are_counted_and_logged_without_what_was_said(
    opened: Open, caplog: pytest.LogCaptureFixture
) -> None:
    said = {"should_reply": False, "reasoning": f"{SECRET} only chats."}
    service, before = opened(client=ScriptedModel(Script(gate=said))), counted()
    with caplog.at_level(logging.DEBUG, "agent"):
        outcome = service.reply(TALK, PERSON)
    assert SECRET in outcome.reason and SECRET not in caplog.text and "gate -> silent" in caplog.text
    found = rise(before)
    assert found['ai_requests_total{result="skip"}'] == found['ai_gate_total{decision="not_answerable"}'] == 1
    assert found['ai_tokens_total{kind="prompt"}'] == outcome.usage.prompt_tokens > 0


def test_the_ledger_of_a_reply_can_be_read_while_it_is_made_and_for_a_while_after(opened: Open) -> None:
    asked, go_on = threading.Event(), threading.Event()

    def waits(_prompt: str) -> list[str]:
        asked.set()
        assert go_on.wait(20)
        return ["kb:backups.md"]

    service = opened(client=ScriptedModel(Script(select=waits, write=[(SAID, SAID)])))
    bench = service.bench
    run_id = service.start_reply(TALK, PERSON)
    assert asked.wait(20)
    view = bench.snapshot(run_id)
    assert (view.run.status, [step.name for step in view.steps]) == (Status.RUNNING, ["ask", "gate"])
    assert bench.unstored.ended_runs() == []
    go_on.set()
    wait_for(lambda: bench.unstored.ended_runs())
    assert [run.id for run in bench.unstored.ended_runs()] == [run_id]
    assert bench.snapshot(run_id).state.own.result.reply_text == NIGHT  # type: ignore[attr-defined]
    assert bench.as_json(run_id)["statements"]["backed"] == 1 and len(bench.calls(run_id)) == 3
    assert files_with(SECRET, service) == []
