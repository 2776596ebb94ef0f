"""/healthz, /readyz and /metrics: what they say, and to whom."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from agent.bot.metrics import OperationsHttp, render_metrics
from agent.errors import StoreError
from agent.settings.config import read_config
from agent.types import Settings
from agent.workbench import Workbench
from tests.web.login import LOGIN

HERE = ("127.0.0.1", 50000)
ELSEWHERE = ("203.0.113.7", 50000)


def client(
    *benches: Workbench,
    peer: tuple[str, int] = HERE,
    token: str = "",
    host: str = "localhost",
    settings: dict[str, str] | None = None,
) -> TestClient:
    config = read_config({"METRICS_TOKEN": token, **(settings or {})})
    served = SimpleNamespace(config=config, list_open=lambda **_: benches)
    routes = OperationsHttp(
        lambda: served, lambda headers: headers["host"] in ("localhost", "research.lan")
    ).routes  # type: ignore[arg-type, return-value]
    return TestClient(Starlette(routes=routes), base_url=f"http://{host}", client=peer)


def test_alive_needs_no_store() -> None:
    assert client(peer=ELSEWHERE).get("/healthz").json() == {"status": "ok"}


def test_ready_when_the_store_can_be_written_and_workers_work(bench: Workbench) -> None:
    answer = client(bench).get("/readyz")
    assert (answer.status_code, answer.json()["faults"]) == (503, ["the workers were not started"])
    bench.start_workers()
    assert client(bench).get("/readyz").json() == {"status": "ready", "faults": []}
    assert client(bench, peer=ELSEWHERE).get("/readyz").json() == {"status": "ready"}


def test_not_ready_when_the_store_cannot_be_written(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise StoreError("the database could not be used (canary path)")

    bench.start_workers()
    monkeypatch.setattr(bench.store, "check_writable", refuse)
    assert client(bench).get("/readyz").json()["faults"] == ["the database could not be used (canary path)"]
    told = client(bench, peer=ELSEWHERE).get("/readyz")
    assert told.status_code == 503 and "canary" not in told.text


def test_an_ended_worker_is_named(bench: Workbench) -> None:
    bench.start_workers()
    bench.worker.stop()
    assert "worker-0 ended" in client(bench).get("/readyz").json()["faults"]


@pytest.mark.parametrize(
    ("settings", "headers", "status"),
    [
        ({}, {}, 200),
        ({"peer": ("::1", 1)}, {}, 200),
        ({"peer": ELSEWHERE}, {}, 401),
        ({"peer": ELSEWHERE}, {"host": "localhost"}, 401),
        ({"peer": ("unix socket", 0)}, {}, 401),
        ({"host": "rebound.example"}, {}, 401),
        ({"host": "research.lan"}, {}, 401),
        ({}, {"host": "127.0.0.1:99999"}, 401),
        ({}, {"host": "a{b.evil.example"}, 401),
        ({}, {"x-forwarded-for": "127.0.0.1"}, 401),
        *(
            ({}, {name: "127.0.0.1"}, 401)
            for name in (
                *("forwarded", "x-forwarded-host", "x-forwarded-proto", "x-client-ip", "x-real-ip", "via"),
                *("cf-connecting-ip", "true-client-ip", "x-cluster-client-ip", "x-original-forwarded-for"),
            )
        ),
        *(
            ({"settings": public}, {}, 401)
            for public in (LOGIN, {"ALLOWED_HOSTS": "localhost"}, {"ALLOW_PUBLIC_WITHOUT_LOGIN": "true"})
        ),
        ({"settings": LOGIN, "token": "t-canary"}, {"authorization": "Bearer t-canary"}, 200),
        ({"token": "t-canary"}, {}, 401),
        ({"token": "t-canary"}, {"authorization": "Bearer wrong"}, 401),
        ({"token": "t-canary", "peer": ELSEWHERE}, {"authorization": "Bearer t-canary"}, 200),
    ],
)
def test_metrics_are_for_this_machine_or_the_token(
    settings: dict[str, Any], headers: dict[str, str], status: int
) -> None:
    answer = client(**settings).get("/metrics", headers=headers)
    assert answer.status_code == status and "canary" not in answer.text
    assert ("touchstone_" in answer.text) is (status == 200)


@pytest.mark.slow
def test_metrics_count_runs_and_steps_and_name_the_engines(bench: Workbench) -> None:
    def read() -> dict[str, float]:
        lines = (line.rpartition(" ") for line in client(bench).get("/metrics").text.splitlines())
        return {name: float(number) for name, _, number in lines if name.startswith("touchstone_")}

    before = read()
    run = bench.start("Who wrote it?", Settings(world="demo", mode="auto", until="review"))
    bench.drive(run)
    bench.check_engine("duckduckgo")
    after = read()
    finished = 'touchstone_runs_total{flow="research",status="review"}'
    assert after[finished] == before.get(finished, 0) + 1
    steps = [
        name for name in after if name.startswith("touchstone_steps_total") and 'flow="research"' in name
    ]
    recorded = len(bench.snapshot(run).steps) - 1  # the question is no step of the flow
    assert sum(after[name] - before.get(name, 0) for name in steps) == recorded
    assert after['touchstone_engine_up{engine="duckduckgo"}'] == 0.0
    assert any(name.startswith('touchstone_searches_total{engine="duckduckgo"') for name in after)


def test_metrics_of_one_process_of_several_are_labelled() -> None:
    plain = render_metrics({"brave": True}).decode().splitlines()
    labelled = render_metrics({"brave": True}, "web-1:42").decode().splitlines()
    assert 'touchstone_engine_up{engine="brave",process="web-1:42"} 1.0' in labelled
    values = [line for line in labelled if not line.startswith("#")]
    assert values and all('process="web-1:42"' in line for line in values)
    assert len(labelled) == len(plain)
    assert "process=" not in "".join(plain)
