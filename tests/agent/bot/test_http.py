"""`reply` over HTTP behind a real server: what is answered, what is refused and how, and the metrics."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import requests
import uvicorn
from prometheus_client.parser import text_string_to_metric_families
from starlette.applications import Starlette
from starlette.datastructures import Headers

from agent.bot import http as http_module
from agent.bot.http import ReplyHttp
from agent.bot.metrics import OperationsHttp
from agent.bot.responder import ReplyService
from agent.llm.detect import ReplyModel
from agent.settings.config import read_config
from agent.types.reply import Conversation
from agent.workbenches import Workbenches
from tests.waiting import wait_for
from tests.web.replying_model import Script, stocked
from tests.web.scripted import ScriptedModel

pytestmark = pytest.mark.slow

NIGHT = "Backups run at night, at half past two."
ASKED = {"conversation": [{"role": "user", "text": "When do backups run?"}]}
Post = Callable[..., requests.Response]


def is_local_name(headers: Headers) -> bool:
    return headers["host"].partition(":")[0] in ("localhost", "127.0.0.1")


@pytest.fixture
def http(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ReplyHttp]:
    """The routes, with a stocked workbench that is opened at the first request and stores conversations."""
    benches: list[Workbenches] = []
    (tmp_path / "config.yaml").write_text('{"ai_response": {"store_conversations": true}}', encoding="utf-8")
    monkeypatch.setenv("CONFIG_FILE", str(tmp_path / "config.yaml"))

    said = Script(gate=lambda prompt: "backups" in prompt.split("To be judged:")[-1], write=[(NIGHT, NIGHT)])
    monkeypatch.setattr(ReplyModel, "client", lambda self, name="auto": (ScriptedModel(said), ""))

    def open_benches() -> Workbenches:
        if not benches:
            benches.append(Workbenches(read_config()))
            stocked(benches[0].local())
        return benches[0]

    made = ReplyHttp(open_benches, is_local_name)
    yield made
    made.close()
    for opened in benches:
        opened.close()


@pytest.fixture
def address(http: ReplyHttp) -> Iterator[str]:
    """A server with these routes."""
    server = uvicorn.Server(
        uvicorn.Config(
            Starlette(routes=[*http.routes, *OperationsHttp(http._open_benches, is_local_name).routes]),
            port=0,
            log_level="error",
            lifespan="off",
        )
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    wait_for(lambda: server.started)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(10)


@pytest.fixture
def post(address: str) -> Post:
    def posted(path: str, body: Any, **headers: str) -> requests.Response:
        data = body if isinstance(body, bytes | str) else json.dumps(body)
        named = {
            "content-type": "application/json",
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        return requests.post(address + path, data=data, headers=named, timeout=30)

    return posted


def test_the_server_waits_for_no_workbench_that_opens_slowly(
    post: Post, http: ReplyHttp, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, end, open_benches = threading.Event(), threading.Event(), http._open_benches

    def open_slowly() -> Workbenches:
        asked.set()
        end.wait(30)
        return open_benches()

    monkeypatch.setattr(http, "_open_benches", open_slowly)
    answers: list[int] = []
    asking = threading.Thread(target=lambda: answers.append(post("/reply", ASKED).status_code))
    asking.start()
    try:
        assert asked.wait(30)
        assert requests.get(address + "/healthz", timeout=10).status_code == 200
    finally:
        end.set()
        asking.join()
    assert answers == [200]


def test_a_conversation_is_answered(post: Post, http: ReplyHttp) -> None:
    answer = post("/reply", {**ASKED, "channel": "help", "user": "ann"})
    assert answer.status_code == 200 and set(answer.json()) == {"should_reply", "reply_text"}
    assert answer.json()["should_reply"] is True and NIGHT in answer.json()["reply_text"]
    state = http._open_benches().local().snapshot(answer.headers["x-touchstone-run"]).state
    assert state.own.context.channel == "help" and state.own.context.user == "ann"  # type: ignore[attr-defined]


def test_silence_is_an_answer_too(post: Post) -> None:
    answer = post("/reply", {"conversation": [{"role": "user", "text": "hello everybody"}]})
    assert answer.status_code == 200 and answer.json() == {"should_reply": False, "reply_text": ""}


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("{not json", "not JSON"),
        ("[" * 100_000, "not JSON"),
        (b"\xff\xfe", "not JSON"),
        ([], "valid dictionary"),
        ({}, "conversation: Field required"),
        ({"conversation": []}, "conversation: "),
        ({"conversation": [{"role": "robot", "text": "x"}]}, "conversation.0.role: .*'user' or 'bot'"),
        ({"conversation": [{"role": "user"}]}, "conversation.0: .*text or an image"),
        ({"conversation": [{"role": "user", "text": 3}]}, "conversation.0.text: .*string"),
        (
            {"conversation": [{"role": "user", "text": "x", "images": ["file:///etc/passwd"]}]},
            "conversation.0.images.0: .*http",
        ),
        (
            {"conversation": [{"role": "user", "text": "x", "images": ["https://a.example/1.png"] * 7}] * 3},
            "may hold 20 images",
        ),
        ({**ASKED, "model": "x"}, "model: there is no such name"),
        ({**ASKED, "channel": "c" * 201}, "channel: .*200 characters"),
        ({"conversation": [{"role": "user", "text": "x" * 20_001}]}, "text: .*20000 characters"),
        ({"conversation": [{"role": "user", "text": "x"}] * 201}, "conversation: .*200 items"),
    ],
)
def test_what_may_not_be_is_refused_with_a_sentence(post: Post, body: Any, told: str) -> None:
    answer = post("/reply", body)
    assert answer.status_code == 400
    assert re.search(told, answer.json()["error"]), answer.json()


def test_only_json_is_read(post: Post) -> None:
    assert post("/reply", ASKED, content_type="text/plain").status_code == 415
    assert post("/reply", ASKED, content_type="application/json; charset=utf-8").status_code == 200


def test_other_methods_are_refused(address: str) -> None:
    for method in ("GET", "PUT", "PATCH", "DELETE"):
        for path in ("/reply", "/messages"):
            answer = requests.request(method, address + path, json=ASKED, timeout=30)
            assert answer.status_code == 405 and answer.headers["allow"] == "POST"
    assert requests.post(address + "/metrics", json=ASKED, timeout=30).status_code == 405


def test_without_a_token_only_names_of_this_machine_are_served(post: Post) -> None:
    for host in ("evil.example", "a{b.evil.example", "localhost@evil.example"):
        assert post("/reply", ASKED, host=host).status_code == 403
    assert post("/reply", ASKED, host="localhost:8501").status_code == 200


def test_the_counters_are_what_prometheus_reads(post: Post, address: str) -> None:
    for text in ("When do backups run?", "hello everybody"):
        post("/reply", {"conversation": [{"role": "user", "text": text}]})
    text = requests.get(address + "/metrics", timeout=30).text
    told = {family.name: family for family in text_string_to_metric_families(text)}
    kinds = {name: family.type for name, family in told.items() if name.startswith("ai_")}
    counters = dict.fromkeys(("ai_requests", "ai_gate", "ai_tokens"), "counter")
    assert kinds == {**counters, "ai_request_seconds": "histogram"}
    assert all(family.documentation for family in told.values())


def test_messages_within_the_window_are_answered_once(
    monkeypatch: pytest.MonkeyPatch, http: ReplyHttp, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setenv("REPLY_WINDOW", "1")
    post: Post = request.getfixturevalue("post")
    answers: dict[str, dict[str, Any]] = {}
    before = [{"role": "user", "text": "Hi"}, {"role": "bot", "text": "Hello."}]

    def send(text: str, more: dict[str, Any]) -> None:
        answers[text] = post("/messages", {"channel": "help", "user": "ann", "text": text, **more}).json()

    first = threading.Thread(target=send, args=("I have a question", {"conversation": before}))
    first.start()
    wait_for(lambda: http._opened and http._opened[""].debouncer._open)
    send("When do backups run?", {})
    first.join(20)
    assert answers["I have a question"] == {"should_reply": False, "reply_text": "", "merged": True}
    assert answers["When do backups run?"]["should_reply"] is True
    assert answers["When do backups run?"]["merged"] is False
    [run] = http._open_benches().local().runs()
    said = [
        message.text
        for message in http._open_benches().local().snapshot(run.id).state.own.conversation.messages
    ]  # type: ignore[attr-defined]
    assert said == ["Hi", "Hello.", "I have a question", "When do backups run?"]


def test_waiting_in_line_counts_as_time_of_the_request_and_a_window_does_not(
    post: Post, http: ReplyHttp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REPLY_WINDOW", "0.2")
    began: list[float] = []
    real = ReplyService.reply

    def watched(self: ReplyService, *more: Any, **named: Any) -> Any:
        began.append(named["began"])
        return real(self, *more, **named)

    monkeypatch.setattr(ReplyService, "reply", watched)
    message = {"channel": "help", "user": "ann", "text": "When do backups run?"}
    sent = time.monotonic()
    assert post("/messages", message).json()["merged"] is False and began[0] >= sent + 0.2
    opened = http._opened[""]
    going, let_go = threading.Semaphore(0), threading.Event()
    with ThreadPoolExecutor(1) as pool:
        for _ in range(http_module.MAX_PARALLEL):
            opened.threads.submit(lambda: (going.release(), let_go.wait(20)))
            assert going.acquire(timeout=20)
        waiting = pool.submit(post, "/reply", ASKED)
        wait_for(lambda: opened.threads._work_queue.qsize())
        in_line = time.monotonic()
        let_go.set()
        assert waiting.result(20).status_code == 200 and began[1] < in_line


def test_a_message_needs_a_channel_and_a_user(post: Post) -> None:
    for body in (
        {"text": "x", "user": "a"},
        {"text": "x", "channel": "c", "user": ""},
        {"channel": "c", "user": "a"},
        {"text": "x", "role": "bot"},
    ):
        assert post("/messages", body).status_code == 400


def test_one_slow_reply_does_not_hold_up_the_others(
    post: Post, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    going, let_go = threading.Event(), threading.Event()
    real = ReplyService.reply

    def slow(self: ReplyService, talk: Conversation, *more: Any, **named: Any) -> Any:
        if talk.question == "slow":
            going.set()
            let_go.wait(20)
        return real(self, talk, *more, **named)

    monkeypatch.setattr(ReplyService, "reply", slow)
    thread = threading.Thread(
        target=post, args=("/reply", {"conversation": [{"role": "user", "text": "slow"}]})
    )
    thread.start()
    assert going.wait(20)
    assert post("/reply", ASKED).json()["should_reply"] is True
    assert requests.get(address + "/metrics", timeout=30).status_code == 200
    let_go.set()
    thread.join(20)
