"""Who may speak to the server: other machines, other names, other origins; files and uploads of others."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Mount
from starlette.testclient import TestClient
from streamlit import config as streamlit_config
from streamlit.runtime import Runtime
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.web.server.server_util import get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

from agent.accounts.people import LOCAL, Person
from agent.bot.routes import RULES, find_rule
from agent.http.app import make_app
from agent.settings.config import ROOT, read_config
from agent.workbenches import Workbenches
from pages.widgets.shell import client, http_gate, server
from tests.agent.accounts.conftest import make_claims
from tests.tables import by_table
from tests.web.login import LOGIN, sign_in

HOST = "127.0.0.1:8501"


def ask(
    path: str,
    *,
    kind: str = "http",
    sender: str = "127.0.0.1",
    method: str = "",
    body: int = 0,
    **headers: str,
) -> int:
    """The status that the gate answers with, 200 when it lets through; 403 for a refused websocket."""
    answered: list[int] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await receive()
        answered.append(200)

    async def receive() -> Any:
        return {"type": "http.request", "body": b"x" * (body // 2)}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            answered.append(message["status"])
        if message["type"] == "websocket.close":
            answered.append(403)

    named = {"host": HOST, **headers}
    scope = {
        "type": kind, "path": path, "client": (sender, 5), "query_string": b"",
        "method": method or next(iter(find_rule(path.removeprefix("/team/tools")).methods), "POST"),
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in named.items() if value]
    }  # fmt: skip
    try:
        asyncio.run(http_gate.HttpGate(app)(scope, receive, send))
    except HTTPException as refused:
        answered.append(refused.status_code)
    return answered[0]


@pytest.fixture(autouse=True)
def _allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {"server.allowedHosts": ["127.0.0.1", "localhost", "*.lan"]}
    former = streamlit_config.get_option
    monkeypatch.setattr(streamlit_config, "get_option", lambda name: names.get(name) or former(name))


@pytest.fixture
def team(monkeypatch: pytest.MonkeyPatch) -> Iterator[Workbenches]:
    """A server with a login."""
    opened = Workbenches(read_config(LOGIN))
    monkeypatch.setattr(client, "_benches", [opened])
    yield opened
    opened.close()


def cookie_of(name: str, at: int = 100, secret: str = "", **more: Any) -> str:
    text = json.dumps({**make_claims(name, at), "is_logged_in": True, **more})
    return f"_streamlit_user={create_signed_value(secret or get_cookie_secret(), '_streamlit_user', text).decode()}"


@pytest.mark.parametrize(
    "sender", ["10.0.0.7", "192.0.2.1", "::ffff:192.0.2.1", "fe80::1%eth0", "2001:db8::1", "?"]
)
@pytest.mark.parametrize(
    ("path", "kind"), [("/", "http"), ("/healthz", "http"), ("/_stcore/stream", "websocket")]
)
def test_another_machine_is_refused_without_a_login(sender: str, path: str, kind: str, monkeypatch) -> None:
    assert ask(path, kind=kind, sender=sender) == 403
    open_to_all = [Workbenches(read_config({"ALLOW_PUBLIC_WITHOUT_LOGIN": "true"}))]
    monkeypatch.setattr(client, "_benches", open_to_all)
    assert ask(path, kind=kind, sender=sender) == 200


@by_table
@pytest.mark.parametrize(
    ("path", "kind"), [("/", "http"), ("/media/x", "http"), ("/_stcore/stream", "websocket")]
)
def test_a_foreign_name_is_refused(host: str, path: str, kind: str) -> None:
    assert ask(path, kind=kind, host=host) == 403


def test_a_known_name_is_answered_and_a_token_may_come_by_any() -> None:
    assert ask("/", host="research.lan") == 200
    assert ask("/reply", host="evil.example") == ask("/metrics", host="a{b.evil.example") == 403
    assert ask("/reply", host="evil.example", authorization="Bearer x") == 200, "the route checks the token"
    assert ask("/", host="evil.example", authorization="Bearer x") == 403
    assert ask("/readyz", host="evil.example") == 200, "a probe learns of health alone"


def test_a_method_or_a_body_that_is_not_in_the_table_is_refused() -> None:
    assert ask("/reply", method="PUT") == ask("/", method="POST") == ask("/media/x", method="PUT") == 405
    assert ask("/reply", method="GET") == 200, "the screen of that name"
    assert ask("/reply", method="GET", host="evil.example") == 403
    most = find_rule("/reply").max_body or 0
    assert ask("/reply", body=most) == 200 and ask("/reply", body=most + 2) == 413
    assert ask("/", body=2) == 413 and ask("/_stcore/upload_file/s/f", body=2_000_000) == 200
    assert ask("/_stcore/agent/mcp") == 404, "nobody may"


def test_the_api_takes_bodies_up_to_a_size_and_its_contract_is_no_secret() -> None:
    assert ask("/api/v1/runs", method="POST", body=50_000_000, authorization="Bearer x") == 413
    assert ask("/api/v1/runs/r/acts/stop", method="POST", body=5_000_000, host="evil.example") == 403
    assert ask("/api/v1/library/documents", method="POST", body=40_000_000) == 200, "documents are larger"
    assert ask("/api/v1/runs", method="DELETE") == 200, "it refuses by itself what it has not"
    assert ask("/mcp", method="DELETE", authorization="Bearer x") == 405
    assert ask("/api/v1/runs", host="evil.example", authorization="Bearer x") == 200, "it checks the token"
    assert ask("/api/v1/docs", host="evil.example", authorization="Bearer x") == 403


def test_a_body_of_50_mb_is_refused_in_words() -> None:
    app = Starlette(routes=[Mount("/api/v1", app=make_app(client.benches))])
    caller = TestClient(http_gate.HttpGate(app), base_url=f"http://{HOST}", client=("127.0.0.1", 5))
    token = client.benches().token_accounts.tokens.create(LOCAL, "big", ["research", "library"])[1]
    sent = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    refused = caller.post("/api/v1/runs", content=b'{"question": "' + b"x" * 50_000_000, headers=sent)
    told = refused.json()
    assert refused.status_code == told["status"] == 413 and "6,000,000 bytes" in told["detail"]
    assert refused.headers["content-type"] == "application/problem+json"
    assert client.benches().local().runs() == []
    odd = caller.get("/api/v1/runs/a%0Ab", headers={"authorization": sent["authorization"]})
    assert odd.status_code == 404 and odd.headers["content-type"] == "application/problem+json"


def test_every_route_of_the_server_has_its_row_with_its_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Runtime, "_instance", None)
    app = st.App(str(ROOT / "app.py"), routes=server.ROUTES)
    served = app._build_starlette_app().routes
    paths = [getattr(route, "path", "") for route in served]
    assert {"/reply", "/media/{file_id:path}", "/_stcore/stream", "/oauth2callback"} <= set(paths)
    contract = make_app(client.benches).state.contract()["paths"]
    mounted = [f"/api/v1{path}" for path in contract]
    assert len(mounted) > 40 and not any(find_rule(path).methods for path in mounted)
    paths += [*mounted, "/api/v1/docs", "/api/v1/openapi.json"]
    for route in server.ROUTES:
        if isinstance(route, Mount):
            assert find_rule(f"{route.path}/x").caller == "token"
            continue
        own = RULES.get(route.path, find_rule(route.path))
        assert own is not RULES["/*"] and set(route.methods or ()) == set(own.methods), route.path
    assert RULES.keys() - set(paths) == {name for name in RULES if "*" in name or " " in name}, (
        "no row without a route"
    )
    for path in filter(None, paths):  # the one without is the mount of the screens
        rule = find_rule(path)
        assert rule is not RULES["/*"], f"{path} needs a row of its own"
        allowed = {m for route in served if route.path == path for m in getattr(route, "methods", None) or ()}
        assert rule.caller == "nobody" or not rule.methods or allowed <= set(rule.methods), path


@by_table
@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/_stcore/stream", "websocket"),
        ("/_stcore/upload_file/s/f", "http"),
        ("/reply", "http"),
        ("/", "http"),
    ],
)
def test_a_page_of_another_origin_or_port_is_refused(origin: str, path: str, kind: str) -> None:
    assert ask(path, kind=kind, origin=origin) == 403


@pytest.fixture
def file(team: Workbenches) -> Person:
    """Bo, for whom a file was made and who has a session."""
    sign_in(team, "ann")
    bo = sign_in(team, "bo")
    http_gate._remember_file("/media/abc123.md", bo.id)
    http_gate._remember(http_gate._sessions, "s1", bo.id)
    return bo


PATHS = ("/media/abc123.md", "/media/abc123", "/_stcore/upload_file/s1/f")


@pytest.mark.parametrize("path", PATHS)
def test_a_file_is_for_whom_it_was_made(path: str, file: Person) -> None:
    assert ask(path, cookie=cookie_of("bo")) == 200
    assert ask(path, cookie=cookie_of("ann")) == 404
    assert ask(path) == 404
    assert ask(path.replace("abc123", "abc124").replace("s1", "s2"), cookie=cookie_of("bo")) == 404


@pytest.mark.parametrize("path", PATHS)
def test_below_a_base_path_a_file_is_for_whom_it_was_made_too(path: str, file: Person, monkeypatch) -> None:
    former = streamlit_config.get_option
    base = {"server.baseUrlPath": "team/tools/"}
    monkeypatch.setattr(streamlit_config, "get_option", lambda name: base.get(name) or former(name))
    assert ask(f"/team/tools{path}", cookie=cookie_of("bo")) == 200
    assert ask(f"/team/tools{path}", cookie=cookie_of("ann")) == 404
    assert ask("/team/tools/_stcore/metrics") == 404


def test_a_sign_in_in_parts_opens_nothing(file: Person) -> None:
    text = json.dumps({**make_claims("bo"), "is_logged_in": True})
    parts = {"_streamlit_user": "chunks-2", "_streamlit_user_1": text[:40], "_streamlit_user_2": text[40:]}
    signed = {
        name: create_signed_value(get_cookie_secret(), name, part).decode() for name, part in parts.items()
    }
    for gap in ("; ", ";", " ;\t", ";\xa0", ";\x85"):
        assert ask(PATHS[0], cookie=gap.join(f"{name}={value}" for name, value in signed.items())) == 404
    signed["_streamlit_user"] = cookie_of("bo").partition("=")[2]  # what an older sign-in left does no harm
    assert ask(PATHS[0], cookie="; ".join(f"{name}={value}" for name, value in signed.items())) == 200


@pytest.mark.parametrize("path", PATHS)
def test_a_forged_an_old_or_a_blocked_cookie_opens_nothing(
    path: str, file: Person, team: Workbenches
) -> None:
    good = cookie_of("bo")
    for cookie in (
        cookie_of("bo", secret="another-secret-of-somebody-else"),
        cookie_of("bo", is_logged_in=False),
        good[:-2],
        good.replace("_streamlit_user=", "_streamlit_user_tokens="),
        "_streamlit_user=",
        f"_streamlit_user={json.dumps(make_claims('bo'))}",
    ):
        assert ask(path, cookie=cookie) == 404
    people = team.accounts.people  # type: ignore[union-attr]
    people.sign_out_everywhere(file, file.id)
    assert ask(path, cookie=good) == 404 and ask(path, cookie=cookie_of("bo", at=101)) == 200
    people.set_blocked(people.list()[0], file.id, blocked=True)
    assert ask(path, cookie=cookie_of("bo", at=102)) == 404


def test_files_are_remembered_for_who_is_signed_in_when_they_are_made(team: Workbenches, monkeypatch) -> None:
    manager = MediaFileManager(MemoryMediaFileStorage("/media"))
    http_gate.track_files(manager)
    sign_in(team, "ann")
    monkeypatch.setattr(client, "read_claims", lambda: make_claims("bo"))
    picture = manager.add(b"picture", "image/png", "1")
    announced = manager.add_deferred(lambda: b"report", "text/markdown", "2", "report.md")
    monkeypatch.setattr(client, "read_claims", dict)
    made = manager.execute_deferred(announced)
    for path in (picture, made):
        assert ask(path, cookie=cookie_of("bo")) == 200 and ask(path, cookie=cookie_of("ann")) == 404
    monkeypatch.setattr(client, "read_claims", lambda: make_claims("ann"))
    assert manager.add(b"picture", "image/png", "1") == picture
    assert ask(picture, cookie=cookie_of("ann")) == 200, "the same picture was made for both"
