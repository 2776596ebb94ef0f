"""The command line of `reply`: what is printed, what is told on the side, and the exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.cli.main import main
from tests.web import model_server as web
from tests.web.model_server import ModelServer

Told = pytest.CaptureFixture[str]


def test_a_reply_is_printed_and_its_way_told_on_the_side(capsys: Told, tmp_path: Path) -> None:
    assert main(["reply", "How do I fix error E31?", "--kb", "demo", "--json", str(tmp_path / "o.json")]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("The clock of the machine differs") and "everything in it is invented" in out
    assert (
        "gate: answerable" in err
        and "select: kb:error-codes.md (of 5 in the index)" in err
        and "load: kb:error-codes.md" in err
    )
    data = json.loads((tmp_path / "o.json").read_text(encoding="utf-8"))
    assert (
        data["should_reply"] is True
        and data["reply_text"] == out.strip()
        and data["path"] == ["gate", "select", "load", "write", "replied"]
    )
    assert data["run"]["sources"][0]["quotes"] and data["usage"]["llm_calls"] == 0


def test_silence_prints_nothing_but_why(capsys: Told) -> None:
    assert main(["reply", "hello everybody", "--kb", "demo"]) == 0
    out, err = capsys.readouterr()
    assert out == "" and "silence (gate -> silent): It is small talk." in err


def test_an_empty_knowledge_base_says_what_to_do(capsys: Told) -> None:
    assert main(["reply", "How do I install it?"]) == 0
    out, err = capsys.readouterr()
    assert out == "" and "--kb DIR" in err and "the invented one with --kb demo" in err


def test_a_folder_is_a_knowledge_base(capsys: Told, tmp_path: Path) -> None:
    (tmp_path / "boats.md").write_text(
        "# Boats\n\nThe boat to the island leaves at seven.\n", encoding="utf-8"
    )
    assert main(["reply", "When does the boat to the island leave?", "--kb", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "The boat to the island leaves at seven.\n"


@pytest.mark.parametrize("wrap", [False, True])
def test_a_conversation_goes_before_the_question(capsys: Told, tmp_path: Path, wrap: bool) -> None:
    said = [
        {"role": "user", "text": "Which editions are there?"},
        {"role": "bot", "text": "Skiff, Harbour and Convoy."},
    ]
    path = tmp_path / "talk.json"
    path.write_text(json.dumps({"conversation": said} if wrap else said), encoding="utf-8")
    assert (
        main(["reply", "What does the Harbour edition cost?", "--kb", "demo", "--conversation", str(path)])
        == 0
    )
    assert "48 euros" in capsys.readouterr().out
    path.write_text(
        json.dumps([*said, {"role": "user", "text": "How do I fix error E31?"}]), encoding="utf-8"
    )
    assert main(["reply", "--kb", "demo", "--conversation", str(path)]) == 0
    out = capsys.readouterr().out
    assert "timedatectl" in out and "Skiff" not in out  # what was answered before is not said again


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "is no conversation"),
        ("[3]", "0: "),
        ('[{"role": "boss", "text": "x"}]', "0.role: "),
        ("{}", "is no conversation"),
    ],
)
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
        assert main(["reply", "How do I fix error E31?", "--kb", "demo", "--model", "keyless"]) == 0
        assert "timedatectl" in capsys.readouterr().out


def test_a_file_of_settings_that_does_not_fit_is_wrong_usage(
    capsys: Told, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "c.yaml").write_text("ai_response: {max_source: 3}", encoding="utf-8")
    monkeypatch.setenv("CONFIG_FILE", str(tmp_path / "c.yaml"))
    assert main(["reply", "x"]) == 2
    assert "ai_response.max_source is not a known key" in capsys.readouterr().err
