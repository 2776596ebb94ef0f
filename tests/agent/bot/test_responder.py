"""Replying as a service: safe for many threads, silent on every failure, counted and logged, never resumed,
and with the file's model."""

from __future__ import annotations

import gc
import json
import logging
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from agent import config
from agent.bot import metrics
from agent.bot.responder import DEMO_NOTE, FLOW, MOST_PICTURES, ReplyOutcome, ReplyService
from agent.engine.context import RunContext
from agent.errors import ModelUnavailable, NotFound, StoreError, UsageError
from agent.flows import FLOWS
from agent.flows.reply.flow import REPLY
from agent.llm.model import CompletionRequest
from agent.llm.scripted import ScriptedModel
from agent.reply_config import DEMO_KB
from agent.store import tables
from agent.store.lease_owner import new_owner_id
from agent.types import Outcome, Page, Settings, Status, Step
from agent.types.reply import AIResult, Conversation, Message, RequestContext
from agent.workbench import Workbench
from tests.web import model_server as web
from tests.web.model_server import ModelServer, Request
from tests.web.replying_model import Script, place, stocked
from tests.web.site import Reply, Site, sends_to

pytestmark = pytest.mark.slow

NIGHT = "Backups run at night, at half past two."
ASKED = "When do backups run?"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)
Open = Callable[..., ReplyService]


def says(text: str = ASKED, images: list[str] | None = None) -> Conversation:
    return Conversation(messages=[Message(role="user", text=text, images=images or [])])


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """Opens a service over a small library; `file` is its config.yaml (JSON is YAML), `client` its model,
    `environment` further settings."""
    made: list[ReplyService] = []

    def open_(
        file: Any = None,
        *,
        client: Any = None,
        stock: bool = True,
        kb: Path | None = None,
        **environment: str,
    ) -> ReplyService:
        if file is not None:
            (tmp_path / "config.yaml").write_text(
                file if isinstance(file, str) else json.dumps(file), encoding="utf-8"
            )
            environment["CONFIG_FILE"] = str(tmp_path / "config.yaml")
        bench = Workbench(config.read_config({"FETCH_ALLOW": "127.0.0.1", **environment}))
        if stock:
            stocked(bench)
        made.append(ReplyService(bench, kb=kb, client=client))
        return made[-1]

    yield open_
    for replying in made:
        replying.close()
        replying.bench.shutdown()


def counted() -> dict[str, float]:
    """The counters as they stand in what GET /metrics answers."""
    lines = metrics.render_metrics().decode().splitlines()
    return {
        name: float(value)
        for name, _, value in (line.rpartition(" ") for line in lines)
        if name and not name.startswith("#")
    }


def rise(before: dict[str, float]) -> dict[str, float]:
    """What was counted since, without times and creation stamps."""
    now = counted()
    return {
        name: value - before.get(name, 0.0)
        for name, value in now.items()
        if value != before.get(name, 0.0) and not re.search(r"_created|_sum|_bucket", name)
    }


# --- many at once
# ---------------------------------------------------------------------------------------------------------


class Echo:
    """A model that answers each conversation with the sentence its marker stands for, and keeps nothing."""

    strong = fast = "echo"
    local = True

    def __init__(self) -> None:
        self.calls = 0
        self._lock = threading.Lock()

    def complete(self, request: CompletionRequest) -> Any:
        with self._lock:
            self.calls += 1
        prompt = "\n".join(message["content"] for message in request.messages)
        n = int(re.search(r"marker (\d+)", prompt)[1])  # type: ignore[index]
        quote = f"Locker {n % 40} is opened with code {1000 + n % 40}."
        said: dict[str, Any] = {
            "GateReply": {"should_reply": n % 10 != 9, "reasoning": f"marker {n}"},
            "SelectionReply": {"selected_source_ids": ["kb:lockers.md"], "reasoning": f"marker {n}"},
            "WritingReply": {
                "answer": [
                    {
                        "text": quote,
                        "quotes": [{"passage_id": place(prompt, quote), "quote": quote}],
                        "pictures": [],
                    }
                ],
                "missing": "",
                "confidence": 0.9,
            },
        }[request.schema.__name__]
        if n % 10 == 8 and request.schema.__name__ == "WritingReply":
            said = {"answer": "broken"}
        return ScriptedModel([said]).complete(request)


def alive(*kinds: type) -> int:
    gc.collect()
    return sum(issubclass(type(thing), kinds) for thing in gc.get_objects())


def storm(replying: ReplyService, numbers: range) -> list[ReplyOutcome]:
    with ThreadPoolExecutor(16) as pool:
        return list(
            pool.map(
                lambda n: replying.reply(
                    says(f"marker {n}: what is the code of the locker?"), RequestContext(channel=str(n))
                ),
                numbers,
            )
        )


def held() -> tuple[int, int]:
    """Open files (sockets and databases too) and megabytes of memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return len(list(Path("/proc/self/fd").iterdir())), pages * os.sysconf("SC_PAGE_SIZE") // 1_000_000


needs_proc = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="counts open files in /proc")


def check_storm(opened: Open, many: int) -> None:
    model = Echo()
    replying = opened({"ai_response": {"graph_timeout_seconds": 600}}, client=model)
    lockers = "# Lockers\n\n" + "\n\n".join(f"Locker {n} is opened with code {1000 + n}." for n in range(40))
    replying.bench.library.add_file("lockers.md", lockers.encode())
    storm(replying, range(16))  # connections and caches are made
    replying.bench.store.engine.dispose()  # what the pool of connections holds is not counted
    files, _ = held()
    before, threads, things, calls = (
        counted(),
        threading.active_count(),
        alive(RunContext, Conversation, FLOW.own_state, ReplyOutcome),
        model.calls,
    )
    with replying.bench.store.engine.connect() as connection:
        rows = connection.scalar(select(func.count()).select_from(tables.steps))
    told = storm(replying, range(many // 2))
    halfway = held()[1]
    told += storm(replying, range(many // 2, many))
    for n, replied in enumerate(told):
        if n % 10 == 9:
            assert (replied.path, replied.result, replied.reason) == (
                ("gate", "silent"),
                AIResult(),
                f"marker {n}",
            )
        elif n % 10 == 8:
            assert (replied.path[-2:], replied.result, replied.failed) == (
                ("write", "silent"),
                AIResult(),
                True,
            )
        else:
            assert replied.result.reply_text == f"Locker {n % 40} is opened with code {1000 + n % 40}."
    assert len({replied.run_id for replied in told}) == many
    skip, error = many // 10, many // 10
    success = many - skip - error
    expected = {
        'ai_requests_total{result="success"}': success,
        'ai_requests_total{result="skip"}': skip,
        'ai_requests_total{result="error"}': error,
        'ai_gate_total{decision="answerable"}': success + error,
        'ai_gate_total{decision="not_answerable"}': skip,
        "ai_request_seconds_count": many,
    }
    found = rise(before)
    assert {name: found[name] for name in expected} == expected
    made = skip + 3 * success + 4 * error  # a broken reply is asked for once more
    assert model.calls - calls == made and sum(replied.usage.llm_calls for replied in told) == made
    tokens = sum(replied.usage.prompt_tokens for replied in told)
    assert found['ai_tokens_total{kind="prompt"}'] == tokens
    with replying.bench.store.engine.connect() as connection:
        new = connection.scalar(select(func.count()).select_from(tables.steps)) - rows
        states = list(connection.scalars(select(tables.runs.c.status).distinct()))
    assert new == 2 * skip + 5 * (success + error), "the question, and one row a step"
    assert states == ["done"]
    del told, replied
    assert threading.active_count() <= threads + 1, "no thread is left behind"
    assert alive(RunContext, Conversation, FLOW.own_state, ReplyOutcome) <= things + 8, (
        "nothing of a request is kept"
    )
    replying.bench.store.engine.dispose()
    assert held()[0] <= files + 2, "no file is left open"
    assert held()[1] <= halfway + 40, "memory does not grow with the number of replies"


@needs_proc
def test_replies_from_16_threads_do_not_mix_and_leave_nothing_behind(opened: Open) -> None:
    check_storm(opened, 40)


@needs_proc
@pytest.mark.slow
def test_a_thousand_replies_from_16_threads(opened: Open) -> None:
    check_storm(opened, 1000)


def test_there_is_one_flow_and_it_cannot_be_changed() -> None:
    assert FLOW is REPLY is FLOWS["reply"]
    with pytest.raises(AttributeError):
        FLOW.first_step = "write"  # type: ignore[misc]


# --- log and counters
# ------------------------------------------------------------------------------------------------------


def line_of(caplog: pytest.LogCaptureFixture) -> logging.LogRecord:
    [line] = [
        record
        for record in caplog.records
        if record.name == "agent.reply" and getattr(record, "event", "") == "reply"
    ]
    return line


@pytest.mark.parametrize(
    ("script", "path", "outcome"),
    [
        (Script(write=[(NIGHT, NIGHT)]), "gate -> select -> load -> write -> replied", "success"),
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
    replying = opened(client=ScriptedModel(script))
    before = counted()
    with caplog.at_level(logging.INFO, "agent.reply"):
        result = replying.generate_reply(
            says("When do backups run, dear secret-word?"), RequestContext(channel="help")
        )
    line = line_of(caplog)
    assert (line.path, line.outcome, line.should_reply) == (
        path,
        outcome,
        outcome == "success",
    ) and result.should_reply is line.should_reply  # type: ignore[attr-defined]
    assert (
        line.seconds > 0 and line.run and path in line.getMessage() and "secret-word" not in line.getMessage()
    )  # type: ignore[attr-defined]
    usage = replying.bench.store.calls.sum_usage(line.run)  # type: ignore[attr-defined]
    assert (line.prompt_tokens, line.completion_tokens, line.calls) == (
        usage.prompt_tokens,
        usage.completion_tokens,
        usage.llm_calls,
    )  # type: ignore[attr-defined]
    found = rise(before)
    assert found[f'ai_requests_total{{result="{outcome}"}}'] == 1 and found["ai_request_seconds_count"] == 1


@pytest.mark.parametrize(
    ("script", "path"),
    [
        (Script(gate=ModelUnavailable("down")), "gate -> silent"),
        (Script(select=ModelUnavailable("down")), "gate -> select -> silent"),
        (Script(write=ModelUnavailable("down")), "gate -> select -> load -> write -> silent"),
        (
            Script(write=[(NIGHT, NIGHT)], verify=ModelUnavailable("down")),
            "gate -> select -> load -> write -> verify -> silent",
        ),
        (Script(write="[]"), "gate -> select -> load -> write -> silent"),
    ],
    ids=["gate", "select", "write", "verify", "no json"],
)
def test_whichever_step_fails_the_log_tells_the_way_as_a_warning(
    opened: Open, caplog: pytest.LogCaptureFixture, script: Script, path: str
) -> None:
    with caplog.at_level(logging.INFO, "agent.reply"):
        replied = opened({"ai_response": {"enable_verification": True}}, client=ScriptedModel(script)).reply(
            says()
        )
    line = line_of(caplog)
    assert replied.failed and replied.result == AIResult() and line.levelno == logging.WARNING
    assert (
        path in line.getMessage()
        and "should_reply=False (error)" in line.getMessage()
        and line.reason in line.getMessage()
    )  # type: ignore[attr-defined]


def test_what_a_model_or_a_stranger_says_stays_on_its_line_of_the_log(
    opened: Open, caplog: pytest.LogCaptureFixture
) -> None:
    why = "No.\r\n2026-11-21 INFO reply 0: gate; should_reply=True\x1b[2J\u2028" + "x" * 2_000
    model = ScriptedModel(lambda messages, shape: {"should_reply": False, "reasoning": why})
    with caplog.at_level(logging.INFO, "agent.reply"):
        opened(client=model).reply(says())
    told = line_of(caplog).getMessage()
    assert len(told.splitlines()) == 1 and "\x1b" not in told and len(told) < 800


def test_every_counter_is_there_from_the_beginning() -> None:
    now = counted()
    assert {
        'ai_requests_total{result="success"}',
        'ai_requests_total{result="skip"}',
        'ai_requests_total{result="error"}',
    } <= set(now)
    assert {'ai_gate_total{decision="answerable"}', 'ai_gate_total{decision="not_answerable"}'} <= set(now)


# --- failures
# -------------------------------------------------------------------------------------------------------------


def test_whatever_breaks_is_silence_and_no_crash(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    replying = opened()
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
        file = {
            "ai_response": {
                "graph_timeout_seconds": 0.5,
                "llm": {"base_url": server.url, "model": "m", "timeout_seconds": 30},
            }
        }
        replying = opened(file)
        replied = replying.reply(says())  # the server would keep it 30 s a call
    assert (
        replied.failed
        and replied.path == ("budget", "silent")
        and "time" in replied.reason
        and replied.result == AIResult()
    )
    assert replying.bench.snapshot(replied.run_id).run.status is Status.DONE


def test_time_in_line_counts_and_a_reply_that_is_late_is_not_given_out(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    replying = opened()
    assert replying.reply(says(), began=time.monotonic() - 500).path == ("budget", "silent")
    real = replying._build_context

    def slow(request: Any, *of: Any) -> RunContext:
        tools = real(request, *of)
        monkeypatch.setattr(
            time,
            "monotonic",
            lambda now=time.monotonic: (
                now() + (500 if replying.bench.snapshot(request.run_id).head >= 4 else 0)
            ),
        )
        return tools

    monkeypatch.setattr(replying, "_build_context", slow)
    replied = replying.reply(says())
    assert replied.result == AIResult() and replied.failed and "not given out" in replied.reason
    monkeypatch.undo()
    assert replying.bench.snapshot(replied.run_id).run.status is Status.FAILED


def test_each_model_call_has_its_time_and_its_retries(opened: Open) -> None:
    with ModelServer(lambda _: web.stalls()) as server:
        file = {
            "ai_response": {
                "llm": {"base_url": server.url, "model": "m", "timeout_seconds": 0.3, "max_retries": 1}
            }
        }
        replied = opened(file).reply(says())
        assert len(server.requests) == 2
    assert replied.failed and replied.path == ("gate", "silent") and "0.3 s" in replied.reason


def test_a_model_that_is_configured_and_fails_is_never_replaced_by_rules(opened: Open) -> None:
    with ModelServer(lambda _: web.status(401)) as server:
        for settings in (
            {"file": {"ai_response": {"llm": {"base_url": server.url, "model": "m"}}}},
            {"OPENAI_BASE_URL": server.url, "MODEL": "m"},
            {"file": {"ai_response": {"llm": {"base_url": "http://127.0.0.1:9/v1"}}}},
        ):
            replied = opened(**settings).reply(says())  # type: ignore[arg-type]
            assert replied.failed and replied.result == AIResult() and replied.path == ("gate", "silent")


def test_with_no_model_configured_it_is_keyless_throughout(opened: Open) -> None:
    replied = opened().reply(says())
    assert NIGHT in replied.result.reply_text and replied.usage.llm_calls == 0


# --- never resumed
# ---------------------------------------------------------------------------------------------------------


def left(replying: ReplyService, owner: str) -> str:
    """A run that its driver left unfinished."""
    first = Step(n=0, name="ask", change={"question": "q"}, next="gate")
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
    assert (
        replying.bench.worker._advance(run_id) is Status.RUNNING
        and len(replying.bench.snapshot(run_id).steps) == 1
    )


def test_other_flows_are_resumed_as_ever(opened: Open) -> None:
    bench = opened().bench
    first = Step(
        n=0,
        name="ask",
        change={"question": "When?", "settings": {"world": "demo", "model": "keyless"}},
        next="decide",
    )
    settings = Settings(world="demo", model="keyless")
    run_id = bench.store.ledger.create(
        "When was Älvmora Mejeri founded?",
        settings,
        first,
        owner=f"{new_owner_id().split('|')[0]}|999999999|1|gone",
    )
    assert bench.drive(run_id) is Status.REVIEW


# --- the model of the file
# ---------------------------------------------------------------------------------------------------


def speaks(request: Request) -> Any:
    """The script behind a real server, whatever form the reply is asked for in."""
    name = (
        request.body["tools"][0]["function"]["name"]
        if "tools" in request.body
        else request.body["response_format"]["json_schema"]["name"]
    )
    said = Script(write=[(NIGHT, NIGHT)])(request.body["messages"], type(name, (), {}))
    if "tools" not in request.body:
        return said
    return web.says(
        None,
        tool_calls=[
            {"id": "1", "type": "function", "function": {"name": name, "arguments": json.dumps(said)}}
        ],
    )


@pytest.mark.parametrize("method", ["json_schema", "function_calling"])
def test_the_file_goes_before_the_environment_and_says_how_to_ask(opened: Open, method: str) -> None:
    with ModelServer(speaks) as server, ModelServer() as other:
        llm = {
            "base_url": server.url,
            "api_key": "own",
            "model": "crynux",
            "vram_limit": 24.5,
            "structured_output_method": method,
        }
        replying = opened(
            {"ai_response": {"llm": llm}}, OPENAI_BASE_URL=other.url, OPENAI_API_KEY="env", MODEL="env"
        )
        replied = replying.reply(says())
        assert replied.result.reply_text == NIGHT and len(server.requests) == 3 and other.paths == []
        for request in server.requests:
            assert (
                request.body["model"] == "crynux"
                and request.body["vram_limit"] == 24.5
                and request.headers["authorization"] == "Bearer own"
            )
            assert ("tools" in request.body) is (method == "function_calling")
        assert replied.usage.prompt_tokens == 33 and replied.usage.completion_tokens == 21


def test_a_model_for_the_knowledge_base_changes_no_reply(opened: Open) -> None:
    with ModelServer() as server:
        replied = opened({"kb": {"llm": {"base_url": server.url, "model": "describer"}}}).reply(says())
        assert NIGHT in replied.result.reply_text and replied.usage.llm_calls == 0 and server.paths == []


def test_a_file_that_does_not_fit_is_told_at_once(opened: Open) -> None:
    with pytest.raises(UsageError, match=r"ai_response\.max_source is no key"):
        opened({"ai_response": {"max_source": 3}})


# --- pictures
# --------------------------------------------------------------------------------------------------------------

ENABLED = {
    "ai_response": {
        "llm_enable_image": True,
        "image_download_max_retries": 1,
        "image_download_timeout_seconds": 2,
    }
}


def test_pictures_are_fetched_before_the_flow_and_reach_the_model_in_order(opened: Open) -> None:
    script = Script(write=[(NIGHT, NIGHT)])
    model = ScriptedModel(script)
    with Site({"/1.png": Reply(200, PNG + b"1"), "/2.png": Reply(200, PNG + b"2")}) as site:
        replying = opened(ENABLED, client=model)
        talk = Conversation(
            messages=[
                Message(role="user", text="first", images=[site.url("/2.png")]),
                Message(role="user", text=ASKED, images=[site.url("/1.png")]),
            ]
        )
        assert replying.reply(talk).result.reply_text == NIGHT
        assert site.paths() == ["/2.png", "/1.png"]
    for asked in model.requests:
        content = asked.messages[-1]["content"]
        urls = [part["image_url"]["url"] for part in content if part["type"] == "image_url"]
        assert len(urls) == 2 and urls[0].startswith("data:image/png;base64,") and urls[0] != urls[1]
    calls = replying.bench.calls(replying.bench.runs()[0].id)
    assert all(
        isinstance(message["content"], str) and "base64" not in message["content"]
        for call in calls
        for message in call.prompt
    )


def test_the_adapter_of_the_settings_is_used(opened: Open) -> None:
    model = ScriptedModel(Script(gate=False))
    with Site({"/1.png": Reply(200, PNG)}) as site:
        file = {"ai_response": {**ENABLED["ai_response"], "llm_image_adapter": "openai_url"}}
        opened(file, client=model).reply(says(images=[site.url("/1.png")]))
        content = model.requests[0].messages[-1]["content"]
        assert [part["image_url"]["url"] for part in content if part["type"] == "image_url"] == [
            site.url("/1.png")
        ]


@pytest.mark.parametrize(
    "bad", [Reply(404), Reply(200, b"no picture"), Reply(500), Reply(200, PNG, ends="breaks off")]
)
def test_one_picture_that_fails_is_silence_without_asking_the_model(
    opened: Open, bad: Reply, caplog: pytest.LogCaptureFixture
) -> None:
    model = ScriptedModel(Script(write=[(NIGHT, NIGHT)]))
    with Site({"/1.png": Reply(200, PNG), "/bad": bad}) as site, caplog.at_level(logging.INFO, "agent.reply"):
        replied = opened(ENABLED, client=model).reply(says(images=[site.url("/1.png"), site.url("/bad")]))
        tries = site.paths().count("/bad")
    assert (
        replied.result == AIResult() and replied.failed and "picture" in replied.reason and model.calls == 0
    )
    assert tries == (2 if bad.status == 500 or bad.ends != "well" else 1)
    assert line_of(caplog).path == "silent" and replied.run_id  # type: ignore[attr-defined]


def test_no_picture_is_fetched_from_inside(opened: Open) -> None:
    """Neither named outright, nor by a redirect, nor by an address in another spelling; and nobody is told
    what is there."""
    model = ScriptedModel(Script(write=[(NIGHT, NIGHT)]))
    with Site(
        {"/in.png": Reply(200, PNG), "/on": sends_to("http://169.254.169.254/latest/meta-data/x.png")}
    ) as site:
        port = site.url("/").split(":")[2].strip("/")
        inside = opened(ENABLED, client=model, FETCH_ALLOW="")
        spelled = [
            f"http://{host}:{port}/in.png"
            for host in ("127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]")
        ]
        told = {
            inside.reply(says(images=[url])).reason.partition("in.png")[2].replace(port, "")
            for url in spelled
        }
        assert site.asked == [] and model.calls == 0 and all(told)
        allowed = opened(ENABLED, client=model)
        for url in (
            site.url("/on"),
            "http://169.254.169.254/latest/x.png",
            "http://10.0.0.1/x.png",
            "file:///etc/passwd",
            "ftp://127.0.0.1/x",
        ):
            replied = allowed.reply(says(images=[url]))
            assert replied.result == AIResult() and replied.failed and replied.path == ("silent",)
        assert site.paths() == ["/on"] and model.calls == 0


def test_a_conversation_may_hold_so_many_pictures_of_so_many_bytes(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ScriptedModel(Script(write=[(NIGHT, NIGHT)]))
    with Site({"/1.png": Reply(200, PNG)}) as site:
        replying = opened(ENABLED, client=model)
        many = replying.reply(says(images=[site.url("/1.png")] * (MOST_PICTURES + 1)))
        assert many.failed and "21 pictures" in many.reason and site.asked == []
        monkeypatch.setattr("agent.bot.responder.MOST_BYTES", 2 * len(PNG))
        assert "together" in replying.reply(says(images=[site.url("/1.png")] * 3)).reason and model.calls == 0
        assert replying.reply(says(images=[site.url("/1.png")] * 2)).result.reply_text == NIGHT


def test_switched_off_pictures_are_not_even_fetched(opened: Open) -> None:
    model = ScriptedModel(Script(write=[(NIGHT, NIGHT)]))
    with Site({}) as site:
        replied = opened(client=model).reply(says(images=[site.url("/gone.png")]))
        assert replied.result.reply_text == NIGHT and site.asked == []
    assert all(isinstance(asked.messages[-1]["content"], str) for asked in model.requests)


def test_pictures_use_up_the_requests_time_too(opened: Open) -> None:
    with Site({"/slow": Reply(200, PNG, ends="stalls")}) as site:
        file = {
            "ai_response": {
                **ENABLED["ai_response"],
                "graph_timeout_seconds": 0.4,
                "image_download_timeout_seconds": 30,
            }
        }
        replied = opened(file, client=ScriptedModel(Script())).reply(says(images=[site.url("/slow")]))
    assert replied.failed and "time" in replied.reason and replied.result == AIResult()


# --- the knowledge base
# ------------------------------------------------------------------------------------------------------


def test_the_folders_of_the_file_are_the_knowledge_base_and_stay_current(
    opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.bot.responder.SYNC_S", 0.0)
    docs = tmp_path / "docs"
    (docs / "team").mkdir(parents=True)
    (docs / "boats.md").write_text("# Boats\n\nThe boat to the island leaves at seven.\n", encoding="utf-8")
    (docs / "team" / "tokens.txt").write_text(
        "Test tokens\n\nTest tokens are given out on Mondays.\n", encoding="utf-8"
    )
    replying = opened({"kb": {"sources_dir": "docs"}}, stock=False)
    assert (
        "leaves at seven"
        in replying.generate_reply(says("When does the boat to the island leave?")).reply_text
    )
    assert {entry.source_id for entry in replying.library.index()} == {"kb:boats.md", "team:tokens.txt"}
    assert "on Mondays" in replying.generate_reply(says("When are test tokens given out?")).reply_text
    (docs / "boats.md").write_text(
        "# Boats\n\nThe boat to the island leaves at nine in winter now.\n", encoding="utf-8"
    )
    assert (
        "nine in winter"
        in replying.generate_reply(says("When does the boat to the island leave?")).reply_text
    )


def test_a_folder_that_takes_long_to_read_holds_nobody_up(
    opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "boats.md").write_text(
        "# Boats\n\nThe boat to the island leaves at seven.\n", encoding="utf-8"
    )
    replying = opened(
        {"kb": {"sources_dir": "docs"}, "ai_response": {"graph_timeout_seconds": 0.3}}, stock=False
    )
    real, let_go, looks = replying.library.sync, threading.Event(), list[int]()

    def slow() -> Any:
        looks.append(1)
        let_go.wait(30)
        return real()

    monkeypatch.setattr(replying.library, "sync", slow)
    for _ in range(2):
        replied = replying.reply(says("When does the boat to the island leave?"))
        assert replied.failed and "time" in replied.reason and "knowledge base" in replied.reason
    assert looks == [1], "it is being looked at; nobody begins again"
    let_go.set()
    until = time.monotonic() + 20
    while replying._sync_future is not None and time.monotonic() < until:
        threading.Event().wait(0.01)
    assert {entry.source_id for entry in replying.library.index()} == {"kb:boats.md"}


def test_a_folder_that_cannot_be_read_at_all_is_silence(
    opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "docs").mkdir()
    replying = opened({"kb": {"sources_dir": "docs"}}, stock=False)

    def broken() -> None:
        raise StoreError("disk full")

    with monkeypatch.context() as patch:
        patch.setattr(replying.library, "sync", broken)
        replied = replying.reply(says())
    assert replied.failed and "disk full" in replied.reason and replied.result == AIResult()
    assert replying.reply(says()).reason == "The knowledge base is empty.", "and it is looked at again"


def test_the_demo_knowledge_base_says_what_it_is_and_stays_apart(opened: Open) -> None:
    replying = opened(stock=False, kb=DEMO_KB)
    replied = replying.reply(says("How do I fix error E31?"))
    assert "timedatectl set-ntp true" in replied.result.reply_text and replied.result.reply_text.endswith(
        DEMO_NOTE
    )
    assert "team:trial-keys.txt" in {entry.source_id for entry in replying.library.index()}
    replying.bench.library.index_pending()
    assert replying.bench.library.index() == [], "nothing of it gets into the library"
    source = replying.bench.snapshot(replied.run_id).state.answer.sources[0]  # type: ignore[union-attr]
    assert source.quotes[0] in replying.bench.page(source.page_id).text, (
        "and yet every quote can be looked up"
    )


def test_the_demo_named_in_the_settings_says_so_too(opened: Open) -> None:
    replying = opened({"kb": {"sources_dir": str(DEMO_KB)}}, stock=False)
    assert replying.generate_reply(says("How do I fix error E31?")).reply_text.endswith(DEMO_NOTE)
    url = "https://a.fyr.org/x"
    replying.library.add_page(
        Page(
            url=url,
            final_url=url,
            outcome=Outcome.OK,
            text="Boats leave the harbour at seven.",
            sha256="e" * 64,
        )
    )
    assert replying.generate_reply(says("When do boats leave the harbour at seven?")).reply_text.endswith(
        f"Links:\n- {url}"
    )


def test_a_folder_that_is_not_there_is_told(opened: Open, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="there is no folder"):
        opened(kb=tmp_path / "gone")


def test_the_demo_added_to_the_library_by_hand_is_not_told_as_true(opened: Open) -> None:
    replying = opened(stock=False)
    added = replying.library.add_folder(DEMO_KB, tags=["mine"])
    assert added.sources and all(source.tags == ["demo", "mine"] for source in added.sources)
    assert not replying.reply(says("How do I fix error E31?")).result.should_reply


def test_an_empty_knowledge_base_is_silence(opened: Open) -> None:
    replied = opened(stock=False).reply(says())
    assert replied.reason == "The knowledge base is empty." and not replied.failed


# --- for the screens
# ---------------------------------------------------------------------------------------------------------


def test_a_reply_can_be_begun_and_watched(opened: Open) -> None:
    replying = opened(client=ScriptedModel(Script(write=[(NIGHT, NIGHT)])))
    run_id = replying.start_reply(says(), RequestContext(channel="screen"))
    until = time.monotonic() + 20
    while replying.bench.snapshot(run_id).run.status is Status.RUNNING and time.monotonic() < until:
        threading.Event().wait(0.02)
    view = replying.bench.snapshot(run_id)
    assert view.state.own.result.reply_text == NIGHT and view.state.own.context.channel == "screen"  # type: ignore[attr-defined]
