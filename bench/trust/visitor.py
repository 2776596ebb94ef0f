"""A browser without a screen at the real server with a login, and the provider of that login."""

from __future__ import annotations

import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

from joserfc import jwk, jwt
from oidc_provider_mock import User, run_server_in_thread
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect

from tests.browser.served import Served

SECRET = "cookie-secret-of-the-tests-0123456789"


@contextmanager
def serving_with_login(folder: Path, claims: dict[str, dict[str, Any]], **settings: str) -> Iterator[Served]:
    """The server, and a provider that states these claims of these people."""
    users = [
        User(sub=name, claims={"email": f"{name}@example.org", "email_verified": True, **more})
        for name, more in claims.items()
    ]
    with run_server_in_thread(user_claims=users) as provider:
        served = Served(folder / "data", **settings)
        served.settings |= {
            "OIDC_DISCOVERY_URL": f"http://localhost:{provider.server_port}/.well-known/openid-configuration",
            "OIDC_CLIENT_ID": "touchstone",
            "OIDC_CLIENT_SECRET": "known-to-both",
            "OIDC_COOKIE_SECRET": SECRET,
            "OIDC_REDIRECT_URI": f"{served.url}oauth2callback",
        }
        try:
            yield served.start()
        finally:
            served.stop()


class Visitor:
    """Someone with cookies of their own."""

    def __init__(self, served: Served) -> None:
        self.served, self.jar = served, CookieJar()
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(self.jar)
        )

    def sign_in(self, name: str) -> Visitor:
        """Sign in at the provider under this name."""
        claims = {"provider": "default", "exp": int(time.time()) + 60}
        token = jwt.encode({"alg": "HS256"}, claims, jwk.OctKey.import_key(SECRET))
        with self._opener.open(f"{self.served.url}auth/login?provider={token}", timeout=60) as form:
            address = form.geturl()
        with self._opener.open(address, urllib.parse.urlencode({"sub": name}).encode(), timeout=60) as done:
            assert done.status == 200
        return self

    def cookies(self) -> dict[str, str]:
        """The cookies that the server has set."""
        return {one.name: (one.value or "").strip('"') for one in self.jar}

    @contextmanager
    def session(self, cookies: dict[str, str] | None = None) -> Iterator[ClientConnection]:
        """A websocket with these cookies; by default one's own."""
        self._opener.open(f"{self.served.url}_stcore/health", timeout=60).close()
        sent = {**self.cookies(), **(cookies or {})}
        with connect(
            self.served.url.replace("http", "ws") + "_stcore/stream",
            subprotocols=["streamlit", sent.get("_streamlit_xsrf", "x")],  # type: ignore[list-item]
            additional_headers={"Cookie": "; ".join(f"{name}={value}" for name, value in sent.items())},
            origin=self.served.url.rstrip("/"),  # type: ignore[arg-type]
            max_size=None,
            proxy=None,
            open_timeout=60,
        ) as socket:
            yield socket

    def see(self, page: str = "", cookies: dict[str, str] | None = None) -> str:
        """What a screen shows."""
        with self.session(cookies) as socket:
            return draw(socket, page)


def draw(socket: ClientConnection, page: str = "", pressed: str = "") -> str:
    """What a screen shows in this session, once its script has ended; `pressed` is the id of a button."""
    message = BackMsg()
    message.rerun_script.page_name = page
    if pressed:
        message.rerun_script.widget_states.widgets.add(id=pressed, trigger_value=True)
    socket.send(message.SerializeToString())
    shown = []
    while True:
        answer = ForwardMsg.FromString(socket.recv(timeout=90))  # type: ignore[arg-type]
        shown += [str(answer.delta)] if answer.WhichOneof("type") == "delta" else []
        if answer.WhichOneof("type") == "script_finished":
            return "\n".join(shown)
