"""A server with a login, two people with a run each, and programs with tokens of theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from starlette.testclient import TestClient

from agent.accounts.people import LOCAL, Person
from agent.accounts.tokens import SCOPES
from agent.http.app import make_app
from agent.settings.config import read_config
from agent.types import Settings
from agent.workbench import Workbench
from agent.workbenches import Workbenches
from tests.web.login import LOGIN, sign_in

QUESTION = "On what date did the Stenfors bridge reopen to traffic?"
DEMO = {"world": "demo", "model": "keyless"}
EVERY = [name for name in SCOPES if name not in ("reply", "messages")]


@dataclass
class Server:
    """A server, its app and who uses it."""

    benches: Workbenches
    app: Any

    def make_token(self, person: Person = LOCAL, scopes: list[str] = EVERY, name: str = "reader") -> str:
        """The text of a new token."""
        return self.benches.token_accounts.tokens.create(person, name, scopes)[1]

    def call(self, token: str = "") -> TestClient:
        """A client that sends this token."""
        headers = {"authorization": f"Bearer {token}"} if token else {}
        return TestClient(self.app, headers=headers, raise_server_exceptions=False)

    def bench(self, person: Person = LOCAL) -> Workbench:
        """The workbench of a person."""
        return self.benches.open(person) if self.benches.accounts else self.benches.local()

    def run(self, person: Person = LOCAL, **settings: Any) -> str:
        """A run of a person that has come to its answer."""
        bench = self.bench(person)
        run_id = bench.start(QUESTION, Settings(**DEMO, **settings))
        bench.drive(run_id)
        return run_id


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Server]]:
    """Opens a server with these settings, without workers."""
    monkeypatch.setattr(Workbench, "start_workers", lambda self: None)
    opened: list[Workbenches] = []

    def open_(**settings: str) -> Server:
        opened.append(benches := Workbenches(read_config({"API_RATE": "0", **settings})))
        return Server(benches, make_app(lambda: benches))

    yield open_
    for benches in opened:
        benches.close()


@pytest.fixture
def local(serve: Callable[..., Server]) -> Server:
    """A server where nobody signs in."""
    return serve()


@pytest.fixture
def shared(serve: Callable[..., Server]) -> tuple[Server, Person, Person]:
    """A server with a login, and two people."""
    server = serve(**LOGIN)
    return server, sign_in(server.benches, "ann"), sign_in(server.benches, "bo")
