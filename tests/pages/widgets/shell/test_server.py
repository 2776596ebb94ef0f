"""A page with `?run=` is asked for: its run is folded while the browser loads."""

from __future__ import annotations

import asyncio
import gc
import logging
import weakref
from unittest.mock import Mock

import pytest
from streamlit import logger as streamlit_logger

from agent import logs
from agent.settings.config import read_config
from pages.widgets.shell import client, server
from tests.web.login import LOGIN

QUERIES = [
    (b"run=abc&x=1", ["abc"]),
    (b"", []),
    (b"run=", []),
    (b"run=" + b"z" * 500, ["z" * 64]),
    (b"\xff=%", []),
]


@pytest.mark.parametrize(("query", "told"), QUERIES)
def test_what_is_looked_ahead_for(bench, monkeypatch, query, told):
    asked: list[str] = []
    monkeypatch.setattr(bench.snapshots, "prefetch", asked.append)
    passed: list[str] = []

    async def app(scope, receive, send):
        passed.append(scope["type"])

    asyncio.run(server.PrefetchMiddleware(app)({"type": "http", "query_string": query}, None, None))  # type: ignore[arg-type]
    asyncio.run(server.PrefetchMiddleware(app)({"type": "websocket", "query_string": b"run=abc"}, None, None))  # type: ignore[arg-type]
    assert asked == told and passed == ["http", "websocket"]


@pytest.mark.parametrize(
    ("address", "is_secure"), [("https://r.example", True), ("http://127.0.0.1:8501", False)]
)
def test_a_cookie_goes_over_tls_alone_where_people_sign_in_over_tls(bench, monkeypatch, address, is_secure):
    config = read_config({**LOGIN, "OIDC_REDIRECT_URI": f"{address}/oauth2callback"})
    monkeypatch.setattr(client.benches(), "config", config)
    sent: list[list[tuple[bytes, bytes]]] = []

    async def app(scope, receive, send):
        await send({"type": "http.response.start", "headers": [(b"Set-Cookie", b"a=1"), (b"x", b"y")]})

    async def send(message):
        sent.append(message["headers"])

    asyncio.run(server.SecurityHeadersMiddleware(app)({"type": "http"}, None, send))  # type: ignore[arg-type]
    assert ((b"Set-Cookie", b"a=1; Secure") in sent[0]) is is_secure and (b"x", b"y") in sent[0]


def test_what_old_sessions_leave_behind_is_freed_while_the_server_works(monkeypatch):
    class Session:
        def __init__(self) -> None:
            self.itself = self

    session = Session()
    gc.collect()  # old by now: only a full collection looks at it
    left = weakref.ref(session)
    del session
    waits = iter((False, True))

    class Ending:
        def wait(self, seconds: float) -> bool:
            assert seconds == server.COLLECT_EVERY_S
            return next(waits)

    libc = Mock()
    monkeypatch.setattr(server, "_GLIBC", libc)
    monkeypatch.setattr(server, "_warm_up", lambda: None)
    server._look_after_memory(Ending())  # type: ignore[arg-type]
    assert left() is None and next(waits, "ended") == "ended"
    libc.malloc_trim.assert_called_once_with(0)


def test_the_start_and_end_of_the_server_pass_every_middleware():
    seen: list[object] = []

    async def app(scope, receive, send):
        seen.append(scope["type"])

    for layer in reversed(server.MIDDLEWARE):
        app = layer.cls(app, *layer.args, **layer.kwargs)  # type: ignore[assignment]
    asyncio.run(app({"type": "lifespan", "state": {}}, None, None))  # type: ignore[arg-type]
    assert seen == ["lifespan"]


def test_what_streamlit_tells_stands_in_our_log(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root, known = logging.getLogger(), dict(streamlit_logger._loggers)
    monkeypatch.setattr(root, "handlers", root.handlers[:])
    monkeypatch.setattr(root, "level", root.level)
    monkeypatch.setattr(streamlit_logger, "_loggers", known)
    monkeypatch.setattr(streamlit_logger, "setup_formatter", server._join_log)
    for one in known.values():
        monkeypatch.setattr(one, "handlers", one.handlers[:])
        monkeypatch.setattr(one, "propagate", one.propagate)
    logs.set_up("readable", "WARNING")
    streamlit_logger.update_formatter()
    for name in ("streamlit.web.server.starlette.starlette_auth_routes", "streamlit.first_used_later"):
        streamlit_logger.get_logger(name).error("Error during authentication: %s", "\x1b[2J" + "x" * 60_000)
        [line] = capsys.readouterr().err.splitlines()
        assert "Error during authentication: \\x1b[2Jxxx" in line and len(line) < 4_200
