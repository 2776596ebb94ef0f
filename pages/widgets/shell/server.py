"""The server around the screens: security headers, the log, warm-up, backups, and the workers' beginning and
end. It draws nothing."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import ctypes
import functools
import gc
import hashlib
import importlib
import logging
import os
import platform
import re
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import streamlit as st
from starlette.middleware import Middleware
from starlette.routing import Mount
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import logger as streamlit_logger
from streamlit import runtime
from streamlit.runtime.pages_manager import PagesManager

from agent import logs
from agent.accounts.moves import back_up
from agent.bot.feed import FeedHttp
from agent.bot.metrics import OperationsHttp
from agent.errors import SignInRefused, StoreError, TouchstoneError
from agent.mcp.server import McpHttp
from agent.settings.config import read_config
from agent.settings.saved import WrongKey
from agent.store.backup import BackupSchedule
from pages.widgets.reply import bot_services
from pages.widgets.shell import client, escape, event_loop, http_gate, polling, return_path, start_checks

log = logging.getLogger(__name__)

PRELOADED_MODULES = (
    "pandas",
    "altair",
    "networkx",
    "pyarrow",
    "streamlit.elements.echarts_chart",
    "streamlit.components.v2",
)
"""What the first screen would otherwise import while a person waits."""
PREFETCHED_RUNS = 24
"""Runs that are folded in the background at the start: those a person is most likely to open."""
PRIVATE_UMASK = 0o077
"""What the server writes is for its own user alone: databases hold what people ask and find."""
GC_THRESHOLDS = (10_000, 20, 10)
"""Python's thresholds of garbage collection: a long run is some ten thousand objects that all stay, and
looking through them as they are made costs more than making them. """
COLLECT_EVERY_S = 300.0
"""Seconds between two full collections of garbage, .04 to .3 s each. With these thresholds Python does none
in an hour of work, and what a look at a screen leaves behind is cyclic: some 40 kB for each run that is
watched."""
M_ARENA_MAX = -8
"""glibc's number (malloc.h) for the option that says how many heaps a process may have."""
HEAPS = 2
"""Heaps that glibc may have. By default there are eight a core, and each look at a screen is a thread of its
own: what it frees in one heap the next one does not use."""
_GLIBC = ctypes.CDLL(None) if platform.libc_ver()[0] == "glibc" else None


def _hash_inline_scripts() -> str:
    """The hashes of the scripts that stand in Streamlit's own index page: only these inline scripts may
    run."""
    index = Path(st.__file__).parent / "static" / "index.html"
    scripts = re.findall(r"<script>(.*?)</script>", index.read_text(encoding="utf-8"), flags=re.DOTALL)
    return " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()}'" for s in scripts
    )


CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'self'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "style-src 'self' 'unsafe-inline'",
        # blob: is how Streamlit loads the few lines of our own that keep unsent text; wasm is its chart
        # engine.
        f"script-src 'self' 'wasm-unsafe-eval' blob: {_hash_inline_scripts()}",
        "connect-src 'self'",
        "worker-src 'self' blob:",
        "frame-src 'self' blob:",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'self'",
    )
)
"""Nothing is loaded from, or sent to, another host than this one, whatever a web page or a model wrote into a
text."""

SECURITY_HEADERS = [
    (b"content-security-policy", CONTENT_SECURITY_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"SAMEORIGIN"),
    (b"referrer-policy", b"same-origin"),  # to other hosts goes none; the login learns where to lead back
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
]


class SecurityHeadersMiddleware:
    """ASGI middleware: adds HEADERS to every HTTP response."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*map(_secure_cookie, message["headers"]), *SECURITY_HEADERS]
            await send(message)

        await self.app(scope, receive, with_headers if scope["type"] == "http" else send)


def _secure_cookie(header: tuple[bytes, bytes]) -> tuple[bytes, bytes]:
    """A header as it is; a cookie goes over TLS alone where people sign in over TLS."""
    name, value = header
    is_tls = client.benches().config.OIDC_REDIRECT_URI.startswith("https:")
    return (name, value + b"; Secure") if is_tls and name.lower() == b"set-cookie" else header


class PrefetchMiddleware:
    """ASGI middleware: a page with `?run=` is asked for, so its run is about to be drawn; while the browser
    loads, it is folded."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_wanted = scope["type"] == "http" and client.benches().accounts is None
        if is_wanted and (asked := parse_qs(scope["query_string"].decode("latin-1")).get("run")):
            client.workbench().snapshots.prefetch(asked[0][:64])
        await self.app(scope, receive, send)


def _warm_up() -> None:
    """Import the heavy libraries while the first screen is drawn, then exempt them from collection."""
    for name in PRELOADED_MODULES:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)


def _look_after_memory(is_ending: threading.Event) -> None:
    """Warm up, then free what Python would not free by itself, until the server ends."""
    _warm_up()
    while not is_ending.wait(COLLECT_EVERY_S):
        gc.collect()
        if _GLIBC:
            _GLIBC.malloc_trim(0)


def _join_log(one: logging.Logger) -> None:
    """Write what Streamlit tells into our log, which cuts and redacts it."""
    one.handlers.clear()
    one.propagate = True


@contextlib.asynccontextmanager
async def lifespan(_app: Any) -> AsyncIterator[dict[str, Any]]:
    """Warm up and start the workers; at the end let every run rest where it stands."""
    # else a first visit to /collect would be given Streamlit's own list of pages instead of ours
    PagesManager.uses_pages_directory = False
    event_loop.wake_once(asyncio.get_running_loop())
    config = client.benches().config
    logs.set_up(config.LOG_FORMAT, config.LOG_LEVEL)
    streamlit_logger.setup_formatter = _join_log
    streamlit_logger.update_formatter()
    logging.getLogger("agent.reply").setLevel(logging.INFO)  # one line a reply, with the path it took
    if client.benches().accounts is None:
        bench = client.workbench()
        threading.Thread(target=client.check_network, args=(bench,), daemon=True).start()
        for run in bench.runs(limit=PREFETCHED_RUNS):
            bench.snapshots.prefetch(run.id)
    else:
        http_gate.track_files(runtime.get_instance().media_file_mgr)
    backups = BackupSchedule(config, functools.partial(back_up, config))
    backups.start()
    is_ending = threading.Event()
    threading.Thread(target=_look_after_memory, args=(is_ending,), name="memory", daemon=True).start()
    serving = asyncio.create_task(MCP.serve())
    yield {}
    serving.cancel()
    is_ending.set()
    backups.stop()
    bot_services.close()
    client.close()


def handle_script_error(trouble: Exception) -> bool:
    """A screen failed: say so in plain words, keep the details in the log. The runs go on regardless."""
    if isinstance(trouble, SignInRefused):
        st.warning("You are not signed in any more: reload the page to sign in.", icon=":material/lock:")
        return True
    log.error("a screen failed", exc_info=trouble)
    told = "This screen could not be drawn. Runs are safe and go on. Reload it; the server's log says more."
    if isinstance(trouble, StoreError | WrongKey):  # the person, or who runs the server, can mend it
        told = f"This screen could not be drawn: {escape.md(str(trouble))}."
        until = time.monotonic() + 1  # then drawn again and again
        st.fragment(lambda: time.monotonic() < until or st.rerun(), run_every=polling.IDLE_POLL_S)()
    st.error(told, icon=":material/error:")
    return True


MCP = McpHttp(client.benches)
_OPERATIONS = OperationsHttp(client.benches, http_gate.is_known_name)
_open_api = functools.cache(lambda: importlib.import_module("agent.http.app").make_app(client.benches))


async def _serve_programs(scope: Scope, receive: Receive, send: Send) -> None:
    """The API for programs, made at its first request: it imports much that the screens do not need."""
    app: ASGIApp = await asyncio.to_thread(_open_api)
    await app(scope, receive, send)


ROUTES = [
    *_OPERATIONS.routes,
    *bot_services.HTTP.routes,
    *MCP.routes,
    *FeedHttp(client.benches).routes,
    Mount("/api/v1", app=_serve_programs),
]
MIDDLEWARE = [
    Middleware(SecurityHeadersMiddleware),
    Middleware(http_gate.HttpGate),
    Middleware(return_path.ReturnPathMiddleware),
    Middleware(PrefetchMiddleware),
]


def prepare_start() -> dict[str, Any] | None:
    """Settle where the server listens and how people sign in, and open the stores; returns what Streamlit's
    login needs to know. Ends the program with one line when it may not start as it is set up."""
    os.umask(PRIVATE_UMASK)
    if _GLIBC:
        _GLIBC.mallopt(M_ARENA_MAX, HEAPS)
    try:
        config = read_config()
        config.saved.check_readable()  # before anything is saved anew
        start_checks.check_address(config)
        start_checks.allow_own_names(config)
        start_checks.forbid_address_lookup()
        start_checks.ignore_needless_messages()
        login = start_checks.make_login_secrets(config)
        client.benches()  # a damaged store or a wrong key is told now
        return login
    except TouchstoneError as refused:
        raise SystemExit(str(refused)) from None
