"""Cases of the doors of the real server with a login: sign-ins in cookies, messages of nobody, and signing out."""

from __future__ import annotations

import json
import os
import re
import secrets
import tempfile
import time
from pathlib import Path

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

from bench.trust.scorecard import Bench, Result, case
from bench.trust.visitor import SECRET, Visitor, draw, serving_with_login

USER = "_streamlit_user"
LIMIT = 8_190
"""Bytes of a line of headers that a websocket's server reads."""
LARGE = {
    "groups": {"groups": [secrets.token_hex(16) for _ in range(200)]},
    "texts": {"name": "x" * 9_000, "picture": secrets.token_hex(4_000)},
    "signs": {"name": "\U0001d504" * 9_000, "preferred_username": "\u4e00" * 9_000},
}
"""What a provider may state of people, by their names."""


def split(parts: list[str]) -> dict[str, str]:
    """Cookies as Streamlit sets them for a sign-in that it splits into these parts."""
    texts = {USER: f"chunks-{len(parts)}"} | {f"{USER}_{n}": part for n, part in enumerate(parts, 1)}
    return {name: create_signed_value(SECRET, name, text).decode() for name, text in texts.items()}


@case("S11.12", "Sign-ins of any size fit one cookie; one put together of parts is nobody's", "0", quick=True)
def cookies(bench: Bench) -> Result:
    misses, tried = [], 0
    with (
        tempfile.TemporaryDirectory() as folder,
        serving_with_login(Path(folder), {"ann": {}, **LARGE}) as served,
    ):
        ann = Visitor(served).sign_in("ann")
        misses += [] if "ann@example.org" in ann.see("you") else ["a plain sign-in was refused"]
        for name in LARGE:
            tried += 1
            person = Visitor(served).sign_in(name)
            own = person.cookies()
            parts = [one for one in own if one.removeprefix(f"{USER}_").isdigit()]
            size = sum(len(f"{one}={value}; ") for one, value in own.items())
            misses += [f"{name}: {len(parts)} parts, {size} bytes"] if parts or size > LIMIT else []
            if size <= LIMIT and f"{name}@example.org" not in person.see("you"):
                misses.append(f"{name}: signed in, and not known")
        issuer = served.settings["OIDC_DISCOVERY_URL"].partition("/.well")[0]
        whole = {"iss": issuer, "sub": "ann", "iat": int(time.time()), "exp": int(time.time()) + 3600}
        whole |= {"is_logged_in": True, "origin": served.url.rstrip("/"), "provider": "default"}
        text = json.dumps(whole)
        for count in (1, 2, 3, 7):
            tried += 1
            size = len(text) // count + 1
            put_together = split([text[n : n + size] for n in range(0, len(text), size)])
            shown = Visitor(served).see("you", put_together)
            misses += [f"{count} parts were taken for a person"] if "Tokens for programs" in shown else []
    return Result(tried, f"{len(misses)} otherwise", misses)


@case(
    "S11.10",
    "Messages of tools for developers over a websocket of who is not signed in, 60 at once",
    "0 answers, 0 calls of git",
    quick=True,
)
def messages(bench: Bench) -> Result:
    asked, beat, kinds = BackMsg(load_git_info=True), BackMsg(app_heartbeat=True), list[str]()
    with tempfile.TemporaryDirectory() as name:
        folder, calls = Path(name), Path(name) / "calls"
        calls.touch()
        (folder / "git").write_text(f"#!/bin/sh\necho call >> {calls}\n")
        (folder / "git").chmod(0o700)
        path = f"{folder}:{os.environ['PATH']}"
        with (
            serving_with_login(folder, {"ann": {}}, PATH=path) as served,
            Visitor(served).session() as socket,
        ):
            draw(socket)
            calls.write_text("")
            for message in [asked] * 60 + [BackMsg(clear_cache=True), beat]:
                socket.send(message.SerializeToString())
            while "heartbeat_ack" not in kinds:
                kinds.append(str(ForwardMsg.FromString(socket.recv(timeout=90)).WhichOneof("type")))  # type: ignore[arg-type]
            called = calls.read_text().count("call")
    misses = [f"answered with {kind}" for kind in kinds if kind == "git_info_changed"]
    misses += [f"git was called {called} times"] if called else []
    return Result(61, f"{len(kinds) - 1} answers, {called} calls", misses)


@case(
    "S11.11",
    "Signing out: other tabs, copies of the cookie, files; other browsers",
    "0 signed in, 0 others ended",
    quick=True,
)
def sign_out(bench: Bench) -> Result:
    with tempfile.TemporaryDirectory() as folder, serving_with_login(Path(folder), {"ann": {}}) as served:
        other = Visitor(served).sign_in("ann")
        until = int(time.time()) + 1
        while time.time() < until:  # a sign-in is known by its second
            time.sleep(0.05)
        ann = Visitor(served).sign_in("ann")
        copied = ann.cookies()
        with ann.session() as tab, ann.session() as second:
            shown = [draw(tab, "you"), draw(second, "you")]
            misses = [
                f"tab {n} shows nobody" for n, text in enumerate(shown) if "Tokens for programs" not in text
            ]
            [button] = set(re.findall(r'"(\$\$ID[^"]*-you-sign-out)"', shown[0]))
            after = {
                "the tab": draw(tab, "you", pressed=button),
                "another tab": draw(second, "you"),
                "a copy of the cookie": Visitor(served).see("you", copied),
            }
        misses += [f"{who} is signed in" for who, text in after.items() if "Tokens for programs" in text]
        misses += [] if "Tokens for programs" in other.see("you") else ["the other browser is signed out"]
    return Result(len(after) + 1, f"{len(misses)} otherwise", misses)
