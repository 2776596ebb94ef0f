"""The command line of `reply`: what is printed, what is told on the side, and the exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.cli.main import main
from agent.engine.worker import Worker
from agent.llm.detect import ReplyModel
from tests.tables import by_table
from tests.web import model_server as web
from tests.web.model_server import ModelServer
from tests.web.replying_model import Script
from tests.web.scripted import ScriptedModel

pytestmark = pytest.mark.slow

Told = pytest.CaptureFixture[str]


BOAT = "The boat to the island leaves at seven."
QUESTION = "When does the boat to the island leave?"


@pytest.fixture
def kb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A folder with one document, and a model that quotes it, once with words of its own."""
    (tmp_path / "kb").mkdir()
    (tmp_path / "kb" / "boats.md").write_text(f"# Boats\n\n{BOAT}\n", encoding="utf-8")
    said = Script(select=["kb:boats.md"], write=[(BOAT, BOAT), ("It is blue.", "It is blue.")])
    monkeypatch.setattr(ReplyModel, "client", lambda self, name="auto": (ScriptedModel(said), ""))
    monkeypatch.setattr(Worker, "model_client", lambda self, name, fast="": (ScriptedModel(said), ""))
    return str(tmp_path / "kb")


def test_a_reply_is_printed_and_what_was_left_out_is_told(capsys: Told, tmp_path: Path, kb: str) -> None:
    assert main(["reply", QUESTION, "--kb", kb, "--json", str(tmp_path / "o.json")]) == 0
    out, err = capsys.readouterr()
    assert out == f"{BOAT}\n\nSources:\n- Boats\n" and "should it answer: yes" in err
    data = json.loads((tmp_path / "o.json").read_text(encoding="utf-8"))
    assert data["should_reply"] is True and data["left_out"] == ["It is blue."]
    assert data["path"] == ["gate", "select", "load", "write", "replied"]


@pytest.mark.parametrize("wrap", [False, True])
def test_a_conversation_goes_before_the_question(
    capsys: Told, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kb: str, wrap: bool
) -> None:
    script = Script(select=["kb:boats.md"], write=[(BOAT, BOAT)])
    monkeypatch.setattr(ReplyModel, "client", lambda self, name="auto": (ScriptedModel(script), ""))
    said = [{"role": "user", "text": "Which boats are there?"}, {"role": "bot", "text": "One to the island."}]
    path = tmp_path / "talk.json"
    path.write_text(json.dumps({"conversation": said} if wrap else said), encoding="utf-8")
    assert main(["reply", "When does it leave?", "--kb", kb, "--conversation", str(path)]) == 0
    assert BOAT in capsys.readouterr().out and "One to the island." in script.of("writing")[-1]
    path.write_text(json.dumps([*said, {"role": "user", "text": QUESTION}]), encoding="utf-8")
    assert main(["reply", "--kb", kb, "--conversation", str(path)]) == 0
    assert BOAT in capsys.readouterr().out and QUESTION in script.of("writing")[-1]


def test_without_a_model_nothing_is_printed_but_why(capsys: Told, tmp_path: Path) -> None:
    assert main(["reply", QUESTION, "--kb", str(tmp_path), "--model", "keyless"]) == 1
    out, err = capsys.readouterr()
    assert out == "" and "failed (gate -> silent): A reply needs a model" in err


@by_table
def test_a_file_that_is_no_conversation_is_refused(
    capsys: Told, tmp_path: Path, text: str, told: str
) -> None:
    (tmp_path / "talk.json").write_text(text, encoding="utf-8")
    assert main(["reply", "x", "--conversation", str(tmp_path / "talk.json")]) == 2
    assert told in capsys.readouterr().err
    assert main(["reply", "x", "--conversation", str(tmp_path / "gone.json")]) == 2 and main(["reply"]) == 2
    assert main(["reply", "x", "--kb", str(tmp_path / "gone")]) == 2


def test_a_failure_is_exit_code_1(capsys: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer(lambda _: web.status(401)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("MODEL", "m")
        assert main(["reply", "How do I fix error E31?", "--kb", "demo"]) == 1
        out, err = capsys.readouterr()
        assert out == "" and "failed (gate -> silent)" in err and "401" in err


def test_a_file_of_settings_that_does_not_fit_is_wrong_usage(
    capsys: Told, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "c.yaml").write_text("ai_response: {max_source: 3}", encoding="utf-8")
    monkeypatch.setenv("CONFIG_FILE", str(tmp_path / "c.yaml"))
    assert main(["reply", "x"]) == 2
    assert "ai_response.max_source: there is no such name" in capsys.readouterr().err
