"""Leads a person who signed in to the screen whose link they had opened: Streamlit leads to the first one."""

from __future__ import annotations

import re

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import config as streamlit_config
from streamlit.url_util import make_url_path

COOKIE = "touchstone_return"
MAX_AGE_S = 3600
"""How long somebody may take at the provider."""
_SCREEN = re.compile(r"/[a-z_]*(?:\?[!#-:<-\[\]-~]{0,2000})?")
"""The address of a screen of ours that a cookie may have: one name that is never read as another host."""


class ReturnPathMiddleware:
    """ASGI middleware: a cookie holds the screen from which a person goes to the provider."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        base = make_url_path(streamlit_config.get_option("server.baseUrlPath"), "").rstrip("/")
        headers, path = Headers(raw=scope.get("headers", [])), str(scope.get("path", "")).removeprefix(base)

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] in (302, 307):
                given, leaves = MutableHeaders(scope=message), path == "/auth/login"
                kept = "" if leaves else cookie_parser(headers.get("cookie", "")).get(COOKIE, "")
                if _SCREEN.fullmatch(kept):
                    given["location"] = base + kept
                value = f"{_find_screen(headers, base)}; Max-Age={MAX_AGE_S}" if leaves else "; Max-Age=0"
                given.append("set-cookie", f"{COOKIE}={value}; Path={base}/; HttpOnly; SameSite=lax")
            await send(message)

        is_sign_in = scope["type"] == "http" and path in ("/auth/login", "/oauth2callback")
        await self.app(scope, receive, answer if is_sign_in else send)


def _find_screen(headers: Headers, base: str) -> str:
    """The screen of this server that a request comes from, with its query; "" when it is none of ours."""
    here = re.escape(headers.get("host", "") + base)
    came = re.fullmatch(f"https?://{here}({_SCREEN.pattern})", headers.get("referer", ""))
    return came[1] if came else ""
