"""The whole log at DEBUG of flows, replies and a real server: no word that somebody asked, noted, read or proved
themselves with."""

from __future__ import annotations

import http.client
import logging
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from websockets.sync.client import connect

from agent import logs
from agent.bot.responder import ReplyService
from agent.engine import loop
from agent.settings.config import read_config
from agent.types import Settings, Status
from agent.types.reply import Conversation, Message
from agent.workbench import Workbench
from tests.browser.served import Served
from tests.web.login import LOGIN
from tests.web.model_server import ModelServer, status
from tests.web.scripted import ScriptedModel
from tests.web.site import Asked, Reply, Site, html

pytestmark = pytest.mark.slow

QUESTION, NOTE, PRIVATE, PAGE, MODEL, KEY, FAULT = (
    f"{part}feather" for part in ("quill", "goose", "swan", "crane", "heron", "ravenkey-4711-", "robin")
)
WORDS = (QUESTION, NOTE, PRIVATE, PAGE, MODEL, KEY, FAULT)
FOUND = b'{"results": [{"title": "T", "url": "http://127.0.0.1:9/", "content": "c"}]}'


@pytest.fixture
def site() -> Iterator[Site]:
    text = f"<title>{PAGE} of the day</title><article><h1>{PAGE}</h1>{'<p>A long line of text. </p>' * 40}"
    with Site({"/": html(text)}) as made:
        yield made


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[Workbench]:
    """A workbench whose engines and model are servers that refuse."""
    former, level = logging.getLogger().handlers[:], logging.getLogger().level

    def search(asked: Asked) -> Reply:
        return Reply(200, FOUND)

    with Site({}) as engine, ModelServer(lambda _: status(401, "no such key"), models=["m"]) as model:
        engine.pages.update(dict.fromkeys(("/search", "/s"), search))
        given = {
            "FETCH_ALLOW": "127.0.0.1",
            "OPENAI_BASE_URL": model.url,
            "OPENAI_API_KEY": KEY,
            "SEARXNG_URL": engine.url(""),
            "GOOGLE_API_KEY": KEY,
            "GOOGLE_CSE_ID": "cx",
            "GOOGLE_ENDPOINT": engine.url("/s"),
            "DDG_ENDPOINT": engine.url("/s"),
            "ENGINE_URLS": ",".join(f"{name}={engine.url('/s')}" for name in ("brave", "openalex")),
        }
        for name, value in given.items():
            monkeypatch.setenv(name, value)
        made = Workbench(read_config())
        yield made
        made.shutdown()
    logging.getLogger().handlers[:] = former
    logging.getLogger().setLevel(level)


def find_words(text: str) -> list[str]:
    return [line for line in text.splitlines() if any(word in line.casefold() for word in WORDS)]


def ask(bench: Workbench, **settings: Any) -> str:
    return bench.start(f"How old is {QUESTION}?", Settings(mode="auto", until="review", **settings))


def test_research_with_notes_searches_and_a_model_that_refuses(
    bench: Workbench, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.set_up("readable", "DEBUG")
    for model, end in (("", Status.PAUSED), ("keyless", Status.REVIEW)):
        run = ask(bench, world="live", model=model)
        bench.act(run, "steer", note=f"Look for {NOTE}.")
        bench.act(run, "steer", note=f"My source is {PRIVATE}.", private=True)
        assert bench.drive(run) is end
    told = [bench.check_engine(name) for name in ("google", "searxng", "duckduckgo", "brave")]
    logging.getLogger("agent.test").debug("the end")
    written = capsys.readouterr().err
    assert len(told) == 4 and "the end" in written and find_words(written) == []


def test_collecting_tells_addresses_and_no_word_of_page_or_reason(
    bench: Workbench, site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.set_up("readable", "DEBUG")
    run = ask(bench, flow="collect", world="live", model="keyless", start_urls=[site.url(f"/?q={QUESTION}")])
    bench.drive(run)
    written = capsys.readouterr().err
    assert "nav:decision http://127.0.0.1" in written and find_words(written) == []


@pytest.mark.parametrize("form", ["readable", "json"])
def test_a_run_that_fails_tells_the_place_and_not_the_message(
    form: str, bench: Workbench, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: Any) -> None:
        try:
            int(f"the {FAULT} of {QUESTION}")
        except ValueError as error:
            raise OSError(28, "No space left on device", PRIVATE) from error

    logs.set_up(form, "DEBUG")
    run = ask(bench, world="demo", model="keyless")
    monkeypatch.setattr(loop._RunDriver, "take_step", fail)
    assert bench.drive(run) is Status.FAILED
    written = capsys.readouterr().err
    assert "OSError: No space left on device" in written and "ValueError: …" in written
    assert "in fail" in written and find_words(written) == []


@pytest.mark.parametrize("reply", [{"should_reply": False, "reasoning": MODEL}, f"{MODEL} is no JSON", None])
def test_a_stored_reply_is_logged_without_what_was_said(
    reply: Any,
    bench: Workbench,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    def answer(*_: Any) -> Any:
        return reply if reply is not None else int(f"{MODEL} and {FAULT}")

    (tmp_path / "c.yaml").write_text('{"ai_response": {"store_conversations": true}}')
    monkeypatch.setenv("CONFIG_FILE", str(tmp_path / "c.yaml"))
    bench.config = read_config()
    logs.set_up("readable", "DEBUG")
    with closing(ReplyService(bench, client=ScriptedModel(answer))) as service:
        service.reply(Conversation(messages=[Message(role="user", text=f"How old is {QUESTION}?")]))
    written = capsys.readouterr().err
    assert "agent.reply" in written and find_words(written) == []


def test_a_real_server_logs_no_token_cookie_code_or_typed_text(tmp_path: Path) -> None:
    served = Served(tmp_path / "data", **LOGIN | {"LOG_LEVEL": "DEBUG", "REPLY_TOKEN": f"{KEY}reply"}).start()
    cookie = f"_streamlit_user={PRIVATE}; _streamlit_xsrf={PRIVATE}"
    query = f"?code={KEY}&state={FAULT}&token={KEY}&q={QUESTION}"
    try:
        for method, path in (
            ("GET", "/"),
            ("GET", "/oauth2callback"),
            ("GET", "/metrics"),
            ("POST", "/reply"),
        ):
            with closing(http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)) as connection:
                body = f'{{"conversation": {{"messages": [{{"role": "user", "text": "{QUESTION}"}}]}}}}'
                headers = {"Cookie": cookie, "Authorization": f"Bearer {KEY}reply"}
                connection.request(method, path + query, body if method == "POST" else None, headers)
                connection.getresponse().read()
        typed = BackMsg()
        typed.rerun_script.query_string = query
        typed.rerun_script.widget_states.widgets.add(id="$$ID-0-question", string_value=QUESTION)
        address = f"ws://127.0.0.1:{served.port}/_stcore/stream{query}"
        origin = {"Cookie": cookie, "Origin": served.url.rstrip("/")}
        with connect(address, subprotocols=["streamlit"], additional_headers=origin) as socket:  # type: ignore[list-item]
            socket.send(typed.SerializeToString())
            socket.recv(timeout=60)
            socket.send(f"\xff{PRIVATE}".encode("latin-1"))
    finally:
        served.stop()
    assert "Error deserializing" in served.log() and find_words(served.log()) == []
