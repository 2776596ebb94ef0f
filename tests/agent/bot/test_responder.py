"""The reply service: silent on every failure, counted and logged, never resumed, watched from the screens."""

from __future__ import annotations

import logging
import time
from typing import Any

import pytest

from agent.bot.responder import ReplyService
from agent.engine.context import RunContext
from agent.errors import StoreError
from agent.store.ledger import new_owner_id
from agent.types import Settings, Status, Step
from agent.types.reply import AIResult, Conversation, RequestContext
from tests.agent.bot.replies import SAID, Open, counted, line_of, rise, says
from tests.records import fill
from tests.web import model_server as web
from tests.web.model_server import ModelServer
from tests.web.replying_model import Script
from tests.web.scripted import ScriptedModel

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("script", "path", "outcome"),
    [
        (Script(write=[(SAID, SAID)]), "gate -> select -> load -> write -> replied", "success"),
        (Script(gate=False), "gate -> silent", "skip"),
        (Script(select=[]), "gate -> select -> silent", "skip"),
        (Script(gate="no JSON"), "gate -> silent", "error"),
        (Script(gate=lambda _: 1 / 0), "gate", "error"),
    ],
    ids=["success", "gate", "select", "no reply", "a bug"],
)
def test_each_request_is_one_line_of_the_log_and_one_count(
    opened: Open, caplog: pytest.LogCaptureFixture, script: Script, path: str, outcome: str
) -> None:
    replying = opened(client=ScriptedModel(script), stored=True)
    before = counted()
    with caplog.at_level(logging.INFO, "agent.reply"):
        result = replying.generate_reply(
            says("When do backups run, dear secret-word?"), RequestContext(channel="help")
        )
    line: Any = line_of(caplog)
    assert (line.path, line.outcome, line.should_reply) == (path, outcome, outcome == "success")
    assert result.should_reply is line.should_reply and line.seconds > 0 and line.run
    assert path in line.getMessage() and "secret-word" not in line.getMessage()
    assert line.levelno == (logging.WARNING if outcome == "error" else logging.INFO)
    usage = replying.bench.store.calls.sum_usage(line.run)
    told = (line.prompt_tokens, line.completion_tokens, line.calls)
    assert told == (usage.prompt_tokens, usage.completion_tokens, usage.llm_calls)
    found = rise(before)
    assert found[f'ai_requests_total{{result="{outcome}"}}'] == 1 and found["ai_request_seconds_count"] == 1


def test_what_a_model_or_a_stranger_says_stays_on_its_line_of_the_log(
    opened: Open, caplog: pytest.LogCaptureFixture
) -> None:
    why = "No.\r\n2026-11-21 INFO reply 0: gate; should_reply=True\x1b[2J\u2028" + "x" * 2_000
    model = ScriptedModel(lambda messages, shape: {"should_reply": False, "reasoning": why})
    with caplog.at_level(logging.INFO, "agent.reply"):
        opened(client=model).reply(says())
    told = line_of(caplog).getMessage()
    assert len(told.splitlines()) == 1 and "\x1b" not in told and len(told) < 800


def test_whatever_breaks_is_silence_and_no_crash(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    replying = opened(stored=True)
    for trouble in (StoreError("disk full"), RuntimeError("a bug"), MemoryError()):

        def broken(*_: Any, trouble: Exception = trouble, **__: Any) -> Any:
            raise trouble

        with monkeypatch.context() as patch:
            patch.setattr(replying.bench.store.ledger, "create", broken)
            replied = replying.reply(says())
        assert replied.result == AIResult() and replied.failed and type(trouble).__name__ in replied.reason
    assert replying.generate_reply(Conversation()) == AIResult()
    assert replying.reply(says(), model="a-model-nobody-has").failed


def test_the_whole_request_has_its_time(opened: Open) -> None:
    with ModelServer(lambda _: web.stalls()) as server:
        llm = {"base_url": server.url, "model": "m", "timeout_seconds": 30}
        replying = opened({"ai_response": {"graph_timeout_seconds": 0.5, "llm": llm}}, stored=True)
        replied = replying.reply(says())  # the server would keep it 30 s a call
    assert replied.failed and replied.path == ("budget", "silent") and "time" in replied.reason
    assert replied.result == AIResult()
    assert replying.bench.snapshot(replied.run_id).run.status is Status.DONE


def test_time_in_line_counts_and_a_reply_that_is_late_is_not_given_out(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    replying = opened(client=ScriptedModel(Script(write=[(SAID, SAID)])), stored=True)
    assert replying.reply(says(), began=time.monotonic() - 500).path == ("budget", "silent")
    real = replying._build_context

    def slow(request: Any, *of: Any) -> RunContext:
        tools = real(request, *of)
        late = lambda: 500 * (replying.bench.snapshot(request.run_id).head >= 4)  # noqa: E731
        monkeypatch.setattr(time, "monotonic", lambda now=time.monotonic: now() + late())
        return tools

    monkeypatch.setattr(replying, "_build_context", slow)
    replied = replying.reply(says())
    assert replied.result == AIResult() and replied.failed and "was not sent" in replied.reason
    monkeypatch.undo()
    assert replying.bench.snapshot(replied.run_id).run.status is Status.FAILED


def test_each_model_call_has_its_time_and_its_retries(opened: Open) -> None:
    with ModelServer(lambda _: web.stalls()) as server:
        llm = {"base_url": server.url, "model": "m", "timeout_seconds": 1, "max_retries": 1}
        replied = opened({"ai_response": {"llm": llm}}).reply(says())
        assert len(server.requests) == 2
    assert replied.failed and replied.path == ("gate", "silent") and "within 1 s" in replied.reason


def test_a_model_that_is_configured_and_fails_is_never_replaced_by_rules(opened: Open) -> None:
    with ModelServer(lambda _: web.status(401)) as server:
        for settings in (
            {"file": {"ai_response": {"llm": {"base_url": server.url, "model": "m"}}}},
            {"OPENAI_BASE_URL": server.url, "MODEL": "m"},
            {"file": {"ai_response": {"llm": {"base_url": "http://127.0.0.1:9/v1"}}}},
        ):
            replied = opened(**settings).reply(says())  # type: ignore[arg-type]
            assert replied.failed and replied.result == AIResult() and replied.path == ("gate", "silent")


def left(replying: ReplyService, owner: str) -> str:
    """A run that its driver left unfinished."""
    first = fill(Step, name="ask", change={"question": "q"}, next="gate")
    return replying.bench.store.ledger.create(
        "q", Settings(flow="reply", model="keyless"), first, owner=owner
    )


def test_a_run_left_by_a_dead_process_has_failed_and_nobody_replies(opened: Open) -> None:
    replying = opened()
    host = new_owner_id().split("|")[0]
    run_id = left(replying, f"{host}|999999999|1|gone")
    assert replying.bench.store.ledger.list_claimable() == [run_id]
    assert replying.bench.drive(run_id) is Status.FAILED
    view = replying.bench.snapshot(run_id)
    assert "never resumed" in view.run.error and len(view.steps) == 1 and view.state.own.result == AIResult()  # type: ignore[attr-defined]
    assert replying.bench.store.ledger.list_claimable() == []


def test_a_run_that_somebody_drives_is_left_to_them(opened: Open) -> None:
    replying = opened()
    run_id = left(replying, new_owner_id())
    assert replying.bench.store.ledger.list_claimable() == [], "a worker of this process does not look at it"
    assert replying.bench.worker._drive(run_id) is Status.RUNNING
    assert len(replying.bench.snapshot(run_id).steps) == 1
