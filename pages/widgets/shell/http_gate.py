"""Who may speak to this server: an ASGI middleware before every request and every websocket.

Without a login only this machine, unless the settings say otherwise in as many words. Always only by a name
the server is known by, and only from its own pages. With a login a file or an upload is served to the person
it was made for alone; to everybody else it does not exist."""

from __future__ import annotations

import json
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import config as streamlit_config
from streamlit import runtime
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.url_util import make_url_path
from streamlit.web.server.server_util import AUTH_COOKIE_NAME
from streamlit.web.server.starlette import starlette_websocket

from agent.bot.routes import RouteRule, find_rule, is_loopback
from agent.errors import SignInRefused
from pages.widgets.shell import client

MAX_REMEMBERED = 10_000
"""Sessions and files whose owner is remembered; the oldest are forgotten, and then served to nobody."""
_CHUNK = re.compile(rf"\s*{AUTH_COOKIE_NAME}_\d")
NOT_FOUND = PlainTextResponse("Not Found", status_code=404)
LOCAL_ONLY = PlainTextResponse(
    "This server has no login and answers its own machine only. Set up a login (docs/guide/people.md), or "
    "set ALLOW_PUBLIC_WITHOUT_LOGIN=true to serve everybody who reaches it.\n",
    status_code=403,
)
OTHER_NAME = PlainTextResponse(
    "This server is not known by this name: add it to ALLOWED_HOSTS, or call it by another.\n", 403
)
OTHER_ORIGIN = PlainTextResponse("Only pages of this server may ask this.\n", 403)

_lock = threading.Lock()
_sessions: OrderedDict[str, str] = OrderedDict()
"""The person of each session."""
_files: OrderedDict[str, set[str]] = OrderedDict()
"""The people each file was made for, by its id."""


def remember_session(person_id: str) -> None:
    """This session is that of this person."""
    if context := get_script_run_ctx():
        _remember(_sessions, context.session_id, person_id)


def end_sessions(person_id: str) -> None:
    """Nobody is signed in any more in the sessions of this person, in other tabs and browsers too."""
    with _lock:
        mine = [session for session, owner in _sessions.items() if owner == person_id]
    for session in mine:
        runtime.get_instance().clear_user_info_for_session(session)


def track_files(manager: MediaFileManager) -> None:
    """Remember for whom each picture and download is made, from now on. A file of a session is made in its
    script; a download that is made at the click is announced there under a name of its own."""
    add, announce, make = manager.add, manager.add_deferred, manager.execute_deferred

    def tracked(call: Callable[..., str]) -> Callable[..., str]:
        def called(*args: Any, **options: Any) -> str:
            made = call(*args, **options)
            _remember_file(made, client.owner_key())
            return made

        return called

    def execute_tracked(file_id: str) -> str:
        made = make(file_id)
        for owner in _owners_of(file_id):
            _remember_file(made, owner)
        return made

    manager.add, manager.add_deferred = tracked(add), tracked(announce)  # type: ignore[method-assign]
    manager.execute_deferred = execute_tracked  # type: ignore[method-assign]


class HttpGate:
    """The middleware. Refuses with 403 who may not speak here, and with 404 what is another person's."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_request = scope["type"] in ("http", "websocket")
        if is_request:
            path = scope["path"].replace("\n", "\ufffd")  # with a line break it would match no mount
            scope = {**scope, "path": path, "headers": list(map(_drop_chunks, scope["headers"]))}
        rule = find_rule(_inner_path(scope), scope.get("method", "")) if is_request else None
        if (refusal := rule and _find_refusal(scope, rule)) is None:
            await self.app(scope, _limit_body(receive, rule.max_body) if rule else receive, send)
        elif scope["type"] == "http":
            await refusal(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})


def is_known_name(headers: Headers) -> bool:
    """Do these headers call the server by a name it is known by? Read as sent: not from `request.url`."""
    hosts = headers.getlist("host")
    return starlette_websocket.is_host_allowed(hosts[0] if len(hosts) == 1 else None)


def _find_refusal(scope: Scope, rule: RouteRule) -> Response | None:
    """Why this request is refused; None when it is not."""
    headers, config = Headers(scope=scope), client.benches().config
    is_local = is_loopback((scope.get("client") or ("localhost",))[0])  # or a Unix socket
    if not (config.has_login or config.ALLOW_PUBLIC_WITHOUT_LOGIN or is_local):
        return LOCAL_ONLY
    is_open = rule.caller == "probe" or (rule.caller == "token" and "authorization" in headers)
    if not is_open and not is_known_name(headers):
        return OTHER_NAME
    host = headers.get("host", "").lower()
    if any(origin.lower().partition("://")[2] != host for origin in headers.getlist("origin")):
        return OTHER_ORIGIN
    if rule.caller == "nobody" or (config.has_login and rule.caller == "owner" and _is_of_another(scope)):
        return NOT_FOUND
    if scope["type"] == "websocket" or not rule.methods or scope["method"] in rule.methods:
        return None
    return Response(status_code=405, headers={"allow": ", ".join(rule.methods)})


def _drop_chunks(header: tuple[bytes, bytes]) -> tuple[bytes, bytes]:
    """A header without cookies that hold a part of a sign-in: each is signed by itself, so that parts of
    different sign-ins could be put together."""
    name, value = header
    kept = (one for one in value.decode("latin-1").split(";") if not _CHUNK.match(one))
    return (name, ";".join(kept).encode("latin-1")) if name.lower() == b"cookie" else header


def _limit_body(receive: Receive, most: int | None) -> Receive:
    """The same, refusing with 413 a body of more bytes."""
    read = 0

    async def limited() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if most is not None and read > most:
            raise HTTPException(413, f"A request here may have {most:,} bytes.")
        return message

    return limited


def _inner_path(scope: Scope) -> str:
    """The path below the base path that Streamlit may be set to serve from."""
    base = make_url_path(streamlit_config.get_option("server.baseUrlPath"), "")
    return "/" + scope["path"].removeprefix(base).lstrip("/")


def _is_of_another(scope: Scope) -> bool:
    """Is this a file or an upload of somebody else than who asks?"""
    _, first, *rest = _inner_path(scope).split("/")
    owners = {_sessions.get(rest[1], "")} if first == "_stcore" else _owners_of(rest[0])
    return _find_caller(Headers(scope=scope)) not in owners - {""}


def _find_caller(headers: Headers) -> str:
    """The id of the person whose cookie a request bears; "" when it bears none that holds."""
    accounts = client.benches().accounts
    try:
        return accounts.people.recognize(read_cookie(headers)).id if accounts else ""
    except SignInRefused:
        return ""


def read_cookie(headers: Headers) -> Mapping[str, Any]:
    """What the cookie of a login states, when Streamlit has signed it; else nothing."""
    cookies = cookie_parser(headers.get("cookie", ""))
    signed = starlette_websocket._get_signed_cookie_with_chunks(cookies, AUTH_COOKIE_NAME)
    claims = json.loads(signed) if signed else {}
    return claims if isinstance(claims, dict) and claims.get("is_logged_in") else {}


def _remember_file(url: str, owner: str) -> None:
    """A file, by its address or id, was made for this person."""
    _remember(_files, _file_id(url), {owner} | _owners_of(url))


def _owners_of(name: str) -> set[str]:
    with _lock:
        return set(_files.get(_file_id(name), ()))


def _file_id(url: str) -> str:
    return url.rpartition("/")[2].partition(".")[0]


def _remember(known: OrderedDict[str, Any], key: str, value: Any) -> None:
    with _lock:
        known[key] = value
        known.move_to_end(key)
        while len(known) > MAX_REMEMBERED:
            known.popitem(last=False)
