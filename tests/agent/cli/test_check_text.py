"""The command `check-text`: from a file, from standard input, from an address; what it prints and writes."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from agent.cli.main import main
from agent.settings.config import ROOT

pytestmark = pytest.mark.slow

REPORT = ROOT / "demo" / "report-to-check.md"
DEMO = ["--world", "demo", "--model", "keyless"]
SUMMARY = (
    "11 claims: 2 source unavailable, 1 without a source, 8 not checked, 2 of them differing from the source"
)


def test_a_file_is_checked_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {name: tmp_path / f"found.{name}" for name in ("json", "markdown")}
    options = [text for name, file in files.items() for text in (f"--{name}", str(file))]
    assert main(["check-text", str(REPORT), *DEMO, *options]) == 0
    out, err = capsys.readouterr()
    assert out.startswith(f"{SUMMARY}\n") and "181 million" in out
    assert "6 of 7 sources read" in err and SUMMARY not in err.partition("11 claims")[0]
    written = json.loads(files["json"].read_text(encoding="utf-8"))
    assert (written["verdict"], written["summary"]) == ("checked", SUMMARY)
    marks = [
        one["mark"] for one in written["checked_text"]["sentences"] if one["sentence"]["kind"] == "claim"
    ]
    assert marks.count("contradicted") == 0 and None not in marks
    assert SUMMARY in files["markdown"].read_text(encoding="utf-8")


def test_only_problems(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check-text", str(REPORT), *DEMO, "--problems"]) == 0
    out = capsys.readouterr().out
    assert "The hall cost 181 million kronor." in out and "✓" not in out


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    stream = io.TextIOWrapper(io.BytesIO("Lövnäs has a school.".encode()))
    monkeypatch.setattr(sys, "stdin", stream)
    assert main(["check-text", "-", *DEMO]) == 0
    assert capsys.readouterr().out == "1 claim: 1 without a source\n\n⊘ no source: Lövnäs has a school.\n"


def test_an_address_and_one_that_cannot_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check-text", "https://norrviddawiki.example/wiki/Granvattnet", *DEMO]) == 0
    assert " claims: " in capsys.readouterr().out
    assert main(["check-text", "https://granvattnet-courier.example/2024/02/11/ferry", *DEMO]) == 2
    assert "404" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "told"),
    [("no-such-file.md", "cannot be read"), ("empty.md", "is empty"), ("x.doc", "save it as DOCX")],
)
def test_what_cannot_be_checked_is_refused(
    given: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty.md").write_bytes(b" ")
    (tmp_path / "x.doc").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600)
    assert main(["check-text", str(tmp_path / given), *DEMO]) == 2
    assert told in capsys.readouterr().err


def test_a_name_like_a_document_is_no_address_and_a_text_has_no_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check-text", "nope.md", *DEMO]) == 2
    assert "nope.md cannot be read: No such file" in capsys.readouterr().err
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b" \n")))
    assert main(["check-text", "-", *DEMO]) == 2
    assert "the text is empty" in capsys.readouterr().err
