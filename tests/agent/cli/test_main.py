"""The command line: exit codes, what goes to which stream, the promised JSON, and hints instead of
tracebacks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent.cli.main import main
from tests.tables import by_table
from tests.web.folders import page, write_world
from tests.web.model_server import ModelServer
from tests.web.researching_model import Script

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
SOLAR = "How many solar panels are there on the roof of Älvmora Mejeri?"
RECORD = set(
    "run question status verdict confidence answer reason statements sources steps facts pages usage".split()
)
USAGE = {"llm_calls", "prompt_tokens", "completion_tokens", "cost_usd", "seconds", "cpu_seconds"}


def command(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The real thing: a process of its own."""
    known = {**os.environ, **environment}
    return subprocess.run(
        [sys.executable, "-m", "agent", *arguments],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=known,
        check=False,
    )


def asked(*more: str, question: str = SOLAR) -> int:
    return main(["research", question, "--world", "demo", "--model", "keyless", *more])


@pytest.mark.slow
def test_a_process_answers_on_stdout_and_tells_its_progress_on_stderr():
    done = command("research", SOLAR, "--world", "demo", "--model", "keyless")
    assert done.returncode == 0, done.stderr
    for words in ("412", "[1]", "quoted word for word", "https://"):
        assert words in done.stdout
    assert f"search {SOLAR}" in done.stderr and "read a page https://" in done.stderr
    assert "confidence" not in done.stderr, "none before there is an answer"
    assert "read a page" not in done.stdout


def test_nothing_is_written_outside_of_the_data_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOUCHSTONE_DATA", str(tmp_path / "data"))
    assert asked() == 0
    assert {path.name for path in tmp_path.iterdir()} == {"data"}


def test_json_holds_what_is_promised(tmp_path, capsys):
    file = tmp_path / "new folder" / "run.json"
    assert asked("--json", str(file)) == 0
    told = json.loads(file.read_text(encoding="utf-8"))
    assert set(told) >= RECORD
    shown = [told[name] for name in ("question", "status", "verdict", "reason")]
    assert shown == [SOLAR, "review", "passages_found", "none"]
    assert set(told["statements"]) == {"backed", "unsupported", "dropped", "unchecked"}
    assert set(told["usage"]) == USAGE
    assert all(set(source) >= {"n", "url", "title", "quote", "quotes"} for source in told["sources"])
    assert all(set(seen) >= {"url", "outcome", "found_on", "step"} for seen in told["pages"])
    assert told["steps"] and told["facts"] and told["confidence"] is None
    assert "412" in told["answer"] and "412" in capsys.readouterr().out
    assert "Älvmora" in file.read_text(encoding="utf-8"), "letters, not escapes"


def test_markdown_is_written(tmp_path, capsys):
    file = tmp_path / "report.md"
    assert asked("--markdown", str(file)) == 0
    text = file.read_text(encoding="utf-8")
    assert text.startswith(f"# {SOLAR}") and "412" in text and "## References\n\n- [1] " in text
    assert f"wrote {file}" in capsys.readouterr().err


def test_an_honest_no_evidence_is_a_success(tmp_path, capsys):
    world = write_world(tmp_path / "w", [page("https://a.example/", "Other", "Nothing of the kind.")])
    file = tmp_path / "r.json"
    assert main(["research", SOLAR, "--world", world, "--model", "keyless", "--json", str(file)]) == 0
    assert capsys.readouterr().out.startswith("No answer")
    assert json.loads(file.read_text())["verdict"] == "no_evidence"


def test_an_estimate_starts_nothing(capsys):
    assert asked("--max-pages", "3", "--max-minutes", "2", "--estimate") == 0
    assert "Stops after 12 steps, 3 pages, 2 min at most" in capsys.readouterr().out
    assert main(["runs"]) == 0 and "no runs yet" in capsys.readouterr().err


def test_a_file_that_cannot_be_written_does_not_cost_the_answer(tmp_path, capsys):
    (tmp_path / "file").write_text("x")
    assert asked("--json", str(tmp_path / "file" / "run.json")) == 2
    told = capsys.readouterr()
    assert "412" in told.out and "cannot be written" in told.err and "Traceback" not in told.err


@by_table
def test_wrong_usage_is_told_in_a_line(arguments, hint, capsys):
    assert main(arguments) == 2
    told = capsys.readouterr()
    assert hint in told.err and told.out == "" and "Traceback" not in told.err


@by_table
def test_a_command_that_cannot_be_read_exits_with_2(arguments, capsys):
    assert main(arguments) == 2
    assert "usage: ./touchstone" in capsys.readouterr().err


def test_arguments_that_are_not_utf_8_are_told_in_a_line(capsys):
    """It was a traceback of the database."""
    assert main(["research", "--world", "demo", "When did the caf\udce9 open?"]) == 2
    assert capsys.readouterr().err.startswith("touchstone: the arguments are not UTF-8 text")


def test_live_without_a_network_fails_with_a_hint(monkeypatch, capsys):
    monkeypatch.setenv("DDG_ENDPOINT", "http://127.0.0.1:9/")
    assert main(["research", "Who?"]) == 1
    told = capsys.readouterr()
    assert "no network" in told.err and "--world demo" in told.err and told.out == ""
    site = ["site", " ", "--start", "a.example"], ["site", "Who?", "--start", "a page"]
    for asked_nothing in (["research", ""], *site):
        assert main(asked_nothing) == 2, "what cannot be asked anywhere is told first"
        assert "no network" not in capsys.readouterr().err
    assert main(["runs"]) == 0 and "no runs yet" in capsys.readouterr().err, "nothing was begun"


@pytest.mark.parametrize(
    "command",
    [
        ["check-text", "https://a.example/report"],
        ["site", "Who?", "--start", "https://a.example"],
        ["collect", "news", "--start", "https://a.example"],
    ],
)
def test_a_command_that_read_no_page_without_a_network_gives_the_hint(command, monkeypatch, capsys):
    monkeypatch.setenv("DDG_ENDPOINT", "http://127.0.0.1:9/")
    main(command)
    assert "--world demo" in capsys.readouterr().err
    main([*command, "--world", "demo"])
    assert "no network" not in capsys.readouterr().err, "the demo world needs none"


def test_a_run_that_fails_says_why(monkeypatch, capsys):
    monkeypatch.setattr("agent.flows.research.analyze_pages.quote_pages", lambda *_, **__: 1 / 0)
    assert asked() == 1
    told = capsys.readouterr()
    assert "ZeroDivisionError" in told.err and told.out == ""


def test_why_the_model_did_not_speak_is_told(capsys):
    assert main(["research", SOLAR, "--world", "demo", "--model", "gpt-none"]) == 0
    assert "gpt-none was asked for" in capsys.readouterr().err


def test_a_model_is_named_on_the_command_line(monkeypatch, capsys):
    with ModelServer(Script().served) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        assert main(["research", SOLAR, "--world", "demo", "--model", "chosen"]) == 0
    assert server.requests[0].body["model"] == "chosen"


def test_runs_and_export(tmp_path, capsys):
    assert asked() == 0
    capsys.readouterr()
    assert main(["runs"]) == 0
    [line] = capsys.readouterr().out.splitlines()
    run_id = line.split()[0]
    assert "review" in line and "passages_found" in line and SOLAR in line
    assert main(["runs", "--text", "nothing like it"]) == 0 and capsys.readouterr().out == ""
    assert main(["export", run_id]) == 0
    assert capsys.readouterr().out.startswith(f"# {SOLAR}")
    assert main(["export", run_id, "--format", "json"]) == 0
    assert set(json.loads(capsys.readouterr().out)) >= RECORD
    assert main(["export", run_id, "--output", str(tmp_path / "r.md")]) == 0
    assert capsys.readouterr().out == "" and (tmp_path / "r.md").read_text(encoding="utf-8").startswith("# ")
