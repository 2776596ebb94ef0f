"""The client against the app itself, and over a socket."""

from __future__ import annotations

import importlib
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.routing import Mount

from agent.bot.http import RequestRefused
from agent.client import Touchstone
from agent.http.programs import NotPossible
from agent.types import Settings
from tests.agent.http.conftest import DEMO, QUESTION, Server
from tests.waiting import wait_for

pytestmark = pytest.mark.slow


@pytest.fixture
def url(local: Server) -> Iterator[str]:
    """The address of the server, on this machine."""
    app = Starlette(routes=[Mount("/api/v1", app=local.app)])
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    wait_for(lambda: server.started)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()


def test_a_run_is_asked_watched_and_answered(local: Server, url: str) -> None:
    with Touchstone(url, local.make_token(name="notebook")) as t:
        run = t.research(QUESTION, **DEMO)
        driver = threading.Thread(target=local.bench().drive, args=(run.id,))
        driver.start()
        steps = list(run.steps())
        driver.join()
        assert [step.n for step in steps] == [*range(local.bench().snapshot(run.id).head + 1)]
        assert steps[0].program == "notebook" and run.wait().status == "review"
        answer = run.answer
        assert "2 November 2026" in answer.text
        evidence = run.evidence(answer.sentences[0].id)
        assert evidence.quotes[0].sha256 == local.bench().page(evidence.quotes[0].page).sha256
        assert run.act("send_back", note="Which year?").step == len(steps)
        assert b"Stenfors" in run.export("md")
        assert [one.id for one in t.list(flow="research")] == [run.id]
        assert t.add_document("a.md", b"# Bolts\n\nThe bolts are blue.").title == "Bolts"
        assert t.search_library("blue bolts", k=1).hits[0].title == "Bolts"
        assert t.ask_table("question\nWhere?\n", **DEMO).state == "running"
        assert t.check_text("Red [a](https://a.example/).", **DEMO).read().flow == "check_text"


def test_a_client_that_others_generate_from_the_contract_runs_the_example(
    local: Server, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contract = tmp_path / "openapi.json"
    contract.write_bytes(httpx2.get(f"{url}/api/v1/openapi.json").content)
    command = [sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none"]
    command += ["--path", str(contract), "--output-path", str(tmp_path / "generated_api")]
    made = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert "Unable to parse" not in made.stdout, made.stdout
    monkeypatch.syspath_prepend(str(tmp_path))
    client = importlib.import_module("generated_api").AuthenticatedClient(
        base_url=f"{url}/api/v1", token=local.make_token(name="generated")
    )
    models = importlib.import_module("generated_api.models")

    def call(name: str, *given: str, **more: Any) -> Any:
        answer = importlib.import_module(f"generated_api.api.runs.{name}").sync(*given, client=client, **more)
        assert not hasattr(answer, "detail"), answer
        return answer

    asked = models.RunRequest.from_dict({"question": QUESTION, "settings": DEMO})
    run = call("start_run", body=asked)
    driver = threading.Thread(target=local.bench().drive, args=(run.id,))
    driver.start()
    while call("get_run", run.id, wait=25).status == "running":
        pass
    driver.join()
    answer = call("get_answer", run.id)
    assert "2 November 2026" in answer.text
    quote = call("get_evidence", run.id, answer.sentences[0].id).quotes[0]
    assert quote.verified and quote.quote in local.bench().page(quote.page).text
    assert local.bench().snapshot(run.id).steps[0].change["program"] == "generated"


def test_what_the_server_refuses_is_raised_with_what_to_do_next(local: Server, url: str) -> None:
    with (
        Touchstone(url, "tst_wrong") as t,
        pytest.raises(RequestRefused, match="touchstone token") as refused,
    ):
        t.research(QUESTION)
    assert refused.value.status == 401
    with Touchstone(url, local.make_token()) as t:
        run = t.research(QUESTION, key="k", **DEMO)
        assert t.research(QUESTION, key="k", **DEMO).id == run.id
        with pytest.raises(NotPossible) as impossible:
            run.act("accept")
        assert "pause" in impossible.value.possible
        with pytest.raises(RequestRefused, match="there is no run"):
            t.open("none").read()


def test_100_readers_that_break_and_resume_lose_and_double_no_step(local: Server, url: str) -> None:
    """Each connection of each reader breaks after a few steps, while the run works."""
    token, bench = local.make_token(), local.bench()
    run_id = bench.start(QUESTION, Settings(**DEMO))
    read: list[list[int]] = []

    def follow(n: int) -> None:
        with Touchstone(url, token, http=BreakingClient(after=1 + n % 7, timeout=60)) as t:
            read.append([step.n for step in t.open(run_id).steps()])

    readers = [threading.Thread(target=follow, args=(n,)) for n in range(100)]
    for one in readers:
        one.start()
    bench.drive(run_id)
    for one in readers:
        one.join()
    assert len(read) == 100 and all(seen == [*range(bench.snapshot(run_id).head + 1)] for seen in read)


class BreakingClient(httpx2.Client):
    """A client whose streams break after some steps, as connections do."""

    def __init__(self, after: int, timeout: float) -> None:
        super().__init__(
            timeout=timeout, verify=False
        )  # it reads no certificates: they take longer than the run
        self.after = after

    def stream(self, *given: object, **more: object):  # type: ignore[no-untyped-def]
        """The stream, which breaks."""
        return _Breaking(super().stream(*given, **more), self.after)  # type: ignore[arg-type]


class _Breaking:
    def __init__(self, inner, after: int) -> None:  # type: ignore[no-untyped-def]
        self.inner, self.after = inner, after

    def __enter__(self):  # type: ignore[no-untyped-def]
        response = self.inner.__enter__()
        lines = response.iter_lines

        def break_off() -> Iterator[str]:
            told = 0
            for line in lines():
                yield line
                told += line.startswith("data:")
                if told > self.after:
                    raise httpx2.ReadError("the connection broke")

        response.iter_lines = break_off
        return response

    def __exit__(self, *given: object) -> None:
        self.inner.__exit__(*given)
