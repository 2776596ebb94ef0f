"""One Idempotency-Key, one run: for servers that are asked at once, and for one that is killed amid its answer."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests import postgres
from tests.agent.http.conftest import DEMO, QUESTION, Server
from tests.web.chatting_model import Script, Talk, stocked

pytestmark = pytest.mark.slow

ASKED = {"question": QUESTION, "settings": DEMO}
DIES = """
import os, signal, sys
from starlette.testclient import TestClient
from agent.http import runs
from agent.http.app import make_app
from agent.settings.config import read_config
from agent.workbench import Workbench
from agent.workbenches import Workbenches

Workbench.start_workers = lambda self: None
runs.describe_run = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
benches = Workbenches(read_config())
caller = TestClient(make_app(lambda: benches), headers={"authorization": f"Bearer {sys.argv[1]}"})
caller.post("/runs", json=%r, headers={"idempotency-key": "k"})
"""


@pytest.fixture(params=["sqlite", "postgresql"])
def serve_both(
    request: pytest.FixtureRequest, serve: Callable[..., Server]
) -> Iterator[Callable[[], Server]]:
    """Opens servers at the same database."""
    if request.param == "sqlite":
        yield serve
        return
    try:
        address = postgres.create_database()
    except postgres.NoServer as trouble:
        pytest.skip(str(trouble))
    opened = list[Server]()

    def open_() -> Server:
        opened.append(serve(DATABASE_URL=address))
        return opened[-1]

    yield open_
    for one in opened:
        one.benches.close()
    postgres.drop_database(address)


def test_a_key_starts_one_run_at_servers_that_are_asked_at_once(serve_both: Callable[[], Server]) -> None:
    servers = [serve_both() for _ in range(2)]
    token = servers[0].make_token()
    for server in servers:
        server.bench()

    def ask(n: int) -> Any:
        return servers[n % 2].call(token).post("/runs", json=ASKED, headers={"idempotency-key": "k"})

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(16)))
    assert sorted(answer.status_code for answer in answers) == [200] * 15 + [201]
    assert {answer.json()["id"] for answer in answers} == {run.id for run in servers[1].bench().runs()}
    other = servers[1].make_token(name="another")
    assert (
        servers[0].call(other).post("/runs", json=ASKED, headers={"idempotency-key": "k"}).status_code == 201
    )


def test_what_a_killed_server_started_is_found_by_its_key(serve_both: Callable[[], Server]) -> None:
    server = serve_both()
    token, config = server.make_token(), server.benches.config
    env = os.environ | {"DATABASE_URL": config.DATABASE_URL, "TOUCHSTONE_DATA": str(config.data_folder)}
    died = subprocess.run([sys.executable, "-c", DIES % ASKED, token], env=env, check=False)
    assert died.returncode == -signal.SIGKILL
    started = [run.id for run in server.bench().runs()]
    again = server.call(token).post("/runs", json=ASKED, headers={"idempotency-key": "k"})
    assert again.status_code == 200 and [again.json()["id"]] == started == [
        r.id for r in server.bench().runs()
    ]


def test_a_key_picks_a_choice_of_a_chat_once(local: Server) -> None:
    stocked(local.bench())
    asked = Talk(local.bench(), script=Script(router={"route": "ASK_CLARIFICATION"})).say("Who built it?")
    caller, key = local.call(local.make_token()), {"idempotency-key": "k"}
    answers = [
        caller.post("/runs", json={"question": "2", "follows": asked.id}, headers=key) for _ in range(2)
    ]
    assert [(one.status_code, one.json()["id"]) for one in answers] == [(201, asked.id), (200, asked.id)]
    assert len(local.bench().runs()) == 1 and local.bench().snapshot(asked.id).steps[-1].name == "respond"
    other = caller.post("/runs", json={"question": "1", "follows": asked.id}, headers=key)
    assert other.status_code == 400 and "one of its own" in other.json()["detail"]


def test_a_key_holds_for_every_way_to_start(local: Server) -> None:
    caller, run_id = local.call(local.make_token()), local.run()
    text = "The bridge is red ([the Courier](https://granvattnet-courier.example/2026/11/02/bridge-open))."
    ways: list[dict[str, Any]] = [
        {"flow": "check_text", "text": text, "settings": DEMO},
        {"flow": "check_text", "question": "https://granvattnet-courier.example/", "settings": DEMO},
        {"flow": "collect", "question": "All of https://granvattnet-courier.example/", "settings": DEMO},
        {"flow": "chat", "question": "Which bridge?", "settings": {"model": "keyless"}},
        {"question": "And why?", "follows": run_id},
    ]
    for n, asked in enumerate(ways):
        key = {"idempotency-key": f"k{n}"}
        first, again = (caller.post("/runs", json=asked, headers=key) for _ in range(2))
        assert (first.status_code, again.status_code) == (201, 200), first.text
        assert first.json()["id"] == again.json()["id"]
        caller.post(f"/runs/{first.json()['id']}/acts/stop")
    assert len(local.bench().runs()) == len(ways) + 1
    local.bench().delete(first.json()["id"])
    binned = caller.post("/runs", json=ways[-1], headers=key)
    assert binned.status_code == 404 and "in the bin" in binned.json()["detail"]
