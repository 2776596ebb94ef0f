"""A further question on the command line: only what was typed differs from the thread, and another model or server
than it had is used only when a person chose it (trust case S9.5)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.cli.main import main
from agent.settings.config import read_config
from agent.types import Settings, Status
from agent.workbench import Workbench
from tests.web.model_server import ModelServer
from tests.web.researching_model import Script

pytestmark = pytest.mark.slow
SITE = "https://www.alvmora-mejeri.example/"
PANELS = "How many solar panels are there?"
WHERE = ["--start", SITE, "--world", "demo"]
FIRST = {
    "research": ["research", PANELS, "--world", "demo", "--max-steps", "2"],
    "site": ["site", PANELS, *WHERE, "--instruction", "Only figures", "--batch", "2"],
    "chat": ["chat", "When was the ferry Vinga launched?", "--world", "demo", "--add", "FERRY"],
}
MORE = {
    "research": ["research", "And since when?", "--follow"],
    "site": ["site", "And since when?", "--start", SITE, "--follow"],
    "chat": ["chat", "And who built it?", "--thread"],
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    with ModelServer(lambda request: "{}") as served:
        monkeypatch.setenv("OPENAI_BASE_URL", served.url)
        monkeypatch.setenv("OLLAMA_URL", "")
        yield served


def newest() -> tuple[str, Settings, Status]:
    bench = Workbench()
    run = bench.runs(limit=1)[0]
    bench.shutdown()
    return run.id, run.settings, run.status


def ask(flow: str, folder: Path, *more: str) -> None:
    ferry = folder / "ferry.md"
    ferry.write_text("# Ferries\n\nThe ferry Vinga was launched in 1956.\n")
    assert main([str(ferry) if word == "FERRY" else word for word in FIRST[flow]] + list(more)) in (0, 1)


@pytest.mark.parametrize("flow", FIRST)
def test_no_model_and_the_other_settings_of_the_thread_hold(
    server: ModelServer, tmp_path: Path, flow: str
) -> None:
    ask(flow, tmp_path, "--model", "keyless")
    before, own, _ = newest()
    main([*MORE[flow], before])
    after, settings, _ = newest()
    assert after != before and server.requests == []
    assert settings.replace(thread_id="") == own.replace(thread_id="")


def test_what_is_typed_is_what_changes(server: ModelServer, tmp_path: Path) -> None:
    ask("site", tmp_path, "--model", "keyless")
    before, own, _ = newest()
    main([*MORE["site"], before, "--ahead", "3", "--instruction", "In one line"])
    _, settings, _ = newest()
    changed = own.replace(site=own.site.replace(crawl_ahead=3), instruction="In one line")
    assert settings.replace(thread_id="") == changed.replace(thread_id="")
    main([*MORE["site"], before, "--model", "auto"])
    assert newest()[1].model == "auto" and server.requests, "a model is used when it is typed"


@pytest.mark.parametrize("flow", FIRST)
def test_a_thread_asks_before_another_server_is_used(
    server: ModelServer, tmp_path: Path, flow: str, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    ask(flow, tmp_path)
    before, own, _ = newest()
    assert own.served_by
    with ModelServer(lambda request: "{}") as other:
        monkeypatch.setenv("OPENAI_BASE_URL", other.url)
        assert main([*MORE[flow], before]) == 2 and newest()[0] == before
        assert "another model or server" in (told := capsys.readouterr().err) and "--model auto" in told
        assert other.requests == []
        main([*MORE[flow], before, "--model", "keyless"])
        assert newest()[1].model == "keyless" and other.requests == []


@pytest.mark.parametrize("model", ["", "keyless", "auto"])
def test_a_run_that_rests_goes_on_by_a_choice(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch, capsys, model: str
) -> None:
    bench = Workbench(read_config())
    run_id = bench.start(PANELS, Settings(world="demo", at_cap="report", max_steps=2))
    bench.drive(run_id, bench.worker.shutdown_event.set)
    bench.shutdown()
    with ModelServer(Script().served) as other:
        monkeypatch.setenv("OPENAI_BASE_URL", other.url)
        bench = Workbench(read_config())
        assert bench.drive(run_id) is Status.PAUSED
        bench.shutdown()
        code = main(["runs", "--resume", run_id, *(["--model", model] if model else [])])
        assert code == (0 if model else 2) and bool(other.requests) is (model == "auto")
        told = capsys.readouterr()
        assert newest()[2] is (Status.REVIEW if model else Status.PAUSED)
        assert model or "--model keyless" in told.err
