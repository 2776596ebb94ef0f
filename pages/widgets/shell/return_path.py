"""Where a person was going when they were asked to sign in, kept while they are at the provider: an ASGI
middleware. Streamlit's own way back leads to the first screen."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import config as streamlit_config
from streamlit.url_util import make_url_path

COOKIE = "touchstone_return"
MAX_AGE_S = 3600
"""How long somebody may take at the provider."""
MAX_CHARACTERS = 2_000
"""A longer address is not kept: browsers take cookies of 4 kB."""
_SCREEN = re.compile(r"/[a-z_]*(?:\?[!#-:<-\[\]-~]*)?")
"""The address of a screen of ours that a cookie may have: one name that is never read as another host."""


class ReturnPathMiddleware:
    """Remembers on the way to the provider from which screen a person comes, and leads there afterwards."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        base = make_url_path(streamlit_config.get_option("server.baseUrlPath"), "").rstrip("/")
        headers, path = Headers(scope=scope), str(scope["path"]).removeprefix(base)

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] in (302, 307):
                given = MutableHeaders(scope=message)
                if path == "/auth/login":
                    place, age = find_origin_screen(headers, base), MAX_AGE_S
                else:
                    place, age = "", 0
                    kept = cookie_parser(headers.get("cookie", "")).get(COOKIE, "")
                    if is_screen(kept):
                        given["location"] = base + kept
                flags = f"Path={base}/; Max-Age={age}; HttpOnly; SameSite=lax"
                given.append("set-cookie", f"{COOKIE}={place}; {flags}")
            await send(message)

        is_sign_in = scope["type"] == "http" and path in ("/auth/login", "/oauth2callback")
        await self.app(scope, receive, answer if is_sign_in else send)


def find_origin_screen(headers: Headers, base: str) -> str:
    """The screen of this server that a request comes from, with its query; "" when it is none of ours."""
    came = urlsplit(headers.get("referer", ""))
    place = came.path.removeprefix(base) + (f"?{came.query}" if came.query else "")
    return place if came.netloc == headers.get("host") and is_screen(place) else ""


def is_screen(place: str) -> bool:
    """Is this the address of a screen, and of nothing else?"""
    return len(place) <= MAX_CHARACTERS and _SCREEN.fullmatch(place) is not None
