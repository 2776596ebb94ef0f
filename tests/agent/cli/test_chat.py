"""The command line of `chat`: what is printed, what is told on the side, threads, scope, and the exit
codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import BaseModel

from agent.cli.main import main
from agent.llm.recorded import list_examples
from agent.settings.config import ROOT
from tests.web import model_server as web
from tests.web.chatting_model import ASKED, FERRY, LIGHT, PLACES, Script
from tests.web.model_server import ModelServer, Request

pytestmark = pytest.mark.slow

Told = pytest.CaptureFixture[str]
EXAMPLES = [one for one in list_examples() if one["flow"] == "chat"]
CHILDREN = list_examples()[0]["question"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "docs"
    made.mkdir()
    (made / "ferry.md").write_text(FERRY, encoding="utf-8")
    (made / "light.md").write_text(LIGHT, encoding="utf-8")
    (made / "places.csv").write_text(PLACES, encoding="utf-8")
    return made


def run_of(err: str) -> str:
    return next(line.split()[1] for line in err.splitlines() if line.startswith("run "))


def test_an_empty_library_says_what_to_do(capsys: Told) -> None:
    assert main(["chat", ASKED]) == 2
    out, err = capsys.readouterr()
    assert out == "" and "the library is empty" in err and "--add FOLDER" in err


def test_a_folder_is_added_and_asked_and_the_way_told_on_the_side(
    capsys: Told, folder: Path, tmp_path: Path
) -> None:
    files = ["--add", str(folder), "--json", str(tmp_path / "o.json")]
    assert main(["chat", "When does the last ferry leave Brannvik?", *files]) == 0
    out, err = capsys.readouterr()
    assert "22:10" in out and "[1]" in out and "ferry.md" in out, "the answer with its numbered source"
    assert "added 3 documents" in err and "searched for “When does" in err and "Searched by words only" in err
    data = json.loads((tmp_path / "o.json").read_text(encoding="utf-8"))
    assert data["chat"]["route_decision"] == "RETRIEVE" and "22:10" in data["chat"]["final_answer"]


def test_what_is_added_gets_its_vectors_before_it_is_searched(
    capsys: Told, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library is made ready for the words of the person, once for each passage."""
    script = Script(
        generate=[[("The last ferry leaves Brannvik at 22:10.", "the last ferry leaves Brannvik at 22:10.")]]
    )

    def answer(request: Request) -> web.Reply:
        name = request.body["response_format"]["json_schema"]["name"]
        return script(request.body["messages"], type(name, (BaseModel,), {}))  # type: ignore[no-any-return]

    with ModelServer(answer, embeds=lambda texts: [[1.0, float(len(text))] for text in texts]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("EMBEDDING_MODEL", "vectors")
        main(["chat", "When does the last ferry leave Brannvik?", "--add", str(folder), "--model", "auto"])
    given = [text for request in server.requests for text in request.body.get("input", ())]
    assert any("22:10" in text for text in given)


def test_the_conversation_goes_on_in_another_process(capsys: Told, folder: Path) -> None:
    assert main(["chat", "Tell me about the Brannvik ferry.", "--add", str(folder)]) == 0
    first = run_of(capsys.readouterr().err)
    assert main(["chat", "Who built it?", "--thread", first]) == 0
    out, err = capsys.readouterr()
    assert "Olga Lindmark" in out and run_of(err) != first
    assert main(["chat", "And when was it built?", "--thread", first]) == 0, "any run of the thread names it"
    assert "1987" in capsys.readouterr().out


@pytest.mark.parametrize("path", ["demo/kb", "demo/kb/error-codes.md"])
def test_what_lies_in_the_demo_is_added_as_invented(capsys: Told, path: str) -> None:
    main(["chat", "With what is time synchronisation switched on?", "--add", str(ROOT / path)])
    out, err = capsys.readouterr()
    assert "timedatectl" not in out and "are invented" in err and "--scope-tag demo" in err
    assert main(["chat", "With what is time synchronisation switched on?", "--scope-tag", "demo"]) == 0
    assert "timedatectl" in capsys.readouterr().out


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda one: one["question"])
def test_the_examples_of_the_demo_are_answered_on_the_command_line(capsys: Told, example) -> None:
    assert main(["chat", example["question"], "--world", "demo"]) == 0
    out, err = capsys.readouterr()
    assert "A recorded model" in err and "Recorded until here" not in err
    assert ("Answered." in out) == (example["verdict"] == "answered")


def test_where_nothing_was_recorded_the_way_on_is_told(capsys: Told) -> None:
    main(["research", CHILDREN, "--world", "demo"])
    run = run_of(capsys.readouterr().err)
    assert main(["act", run, "send_back", "--note", "Which of them skis?"]) == 1
    told = capsys.readouterr().err
    assert f"`./touchstone act {run} drop_model`" in told
    assert main(["act", run, "drop_model"]) == 0


def test_a_scope_holds_for_its_turn_and_is_kept_in_the_thread(capsys: Told, folder: Path) -> None:
    scope = ["--add", str(folder), "--scope-tag", "nothing"]
    assert main(["chat", "How high is the Skarholm lighthouse?", *scope]) == 0
    out, err = capsys.readouterr()
    assert "31 metres" not in out
    assert main(["chat", "And what does a ticket for the Brannvik ferry cost?", "--thread", run_of(err)]) == 0
    assert "38 kronor" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["chat", ASKED, "--add", "nowhere.md"], "nowhere.md cannot be opened"),
        (["chat", " ", "--add", "FOLDER"], "question"),
        (["chat", ASKED, "--add", "FOLDER", "--thread", "nowhere"], "there is no run nowhere"),
    ],
)
def test_wrong_usage_is_exit_code_2(capsys: Told, folder: Path, arguments: list[str], told: str) -> None:
    assert main([str(folder) if part == "FOLDER" else part for part in arguments]) == 2
    out, err = capsys.readouterr()
    assert out == "" and told in err


def test_a_document_that_cannot_be_read_is_told_and_the_others_are_asked(capsys: Told, folder: Path) -> None:
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    assert main(["chat", ASKED, "--add", str(folder)]) == 0
    out, err = capsys.readouterr()
    assert "38 kronor" in out and "not added: broken.pdf" in err


def test_a_run_whose_model_is_down_rests_and_says_so(
    capsys: Told, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer(lambda _: web.status(401)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("MODEL", "m")
        assert main(["chat", ASKED, "--add", str(folder)]) == 1
        out, err = capsys.readouterr()
        assert out == "" and "the run is paused" in err and "did not accept the key" in err
