"""`check` as a command: verdicts and reasons, files in and out, errors that say which line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from agent import api
from agent.cli.main import main
from agent.errors import ModelError
from agent.roles.check_claims import CheckClaimsReply, ClaimJudgement

SOLD, ROOMS = "The mill was sold in 1961.", "It has 30 rooms upstairs and 20 rooms downstairs."
ROWS = [
    {"id": "a", "quote": SOLD, "statement": SOLD},
    {"id": "b", "quote": SOLD, "statement": "The mill was sold in 1971."},
    {"id": "c", "quote": "The mill was sold by Berg.", "statement": "The mill was sold by Dale."},
    {"id": "d", "quote": ROOMS, "statement": "It has 50 rooms upstairs and downstairs."},
    {"id": 5, "quote": "The mill found a buyer.", "statement": "Somebody purchased it.", "question": "What?"},
    {"id": "f", "quote": "", "statement": "The mill was sold."},
]
VERDICTS = ["quoted", "differs", "not_checked", "computed", "not_checked", "not_supported"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "claims.jsonl"
    path.write_text("\n".join(map(json.dumps, ROWS)) + "\n\n", encoding="utf-8")
    return path


def _read(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_each_claim_gets_a_verdict_and_a_reason(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(file)]) == 0
    printed = capsys.readouterr()
    rows = _read(printed.out)
    assert [row["id"] for row in rows] == ["a", "b", "c", "d", "5", "f"]
    assert [row["verdict"] for row in rows] == VERDICTS
    assert rows[1]["reason"] == "Not in its sources: 1971; the quote gives 1961."
    assert rows[2]["reason"] == "The quotes do not name Dale in full. Nobody judged its meaning."
    assert rows[3]["reason"] == "30 rooms + 20 rooms = 50 rooms"
    assert all(row["reason"] and set(row) == {"id", "verdict", "reason"} for row in rows)
    assert "1 differs" in printed.err


def test_the_result_is_written_to_a_file(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(file), "--json", str(tmp_path / "out.json")]) == 0
    rows = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert [row["verdict"] for row in rows] == VERDICTS
    assert capsys.readouterr().out == ""


def test_a_packed_file_is_read(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    packed = tmp_path / "claims.jsonl.gz"
    packed.write_bytes(gzip.compress(file.read_bytes()))
    assert main(["check", str(packed)]) == 0
    assert [row["verdict"] for row in _read(capsys.readouterr().out)] == VERDICTS


def test_a_model_judges_what_code_leaves_open(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    prompts: list[str] = []

    judged = (("q1", "another year", False), ("q2", "Berg sold it", False), ("q1", "a buyer purchases", True))

    def ask(role: str, messages: list[dict[str, str]], shape: Any, tier: str) -> CheckClaimsReply:
        prompts.append(messages[-1]["content"])
        claims = [
            ClaimJudgement(n=n, quote=quote, reason=why, supported=supported)
            for n, (quote, why, supported) in enumerate(judged, start=1)
        ]
        return CheckClaimsReply(claims=claims)

    monkeypatch.setattr(api, "make_ask", lambda name, config: ask)
    assert main(["check", str(file), "--model", "judge-7b"]) == 0
    rows = _read(capsys.readouterr().out)
    told = "quoted not_supported not_supported computed judged_supported not_supported"
    assert [row["verdict"] for row in rows] == told.split()
    assert [rows[2]["reason"], rows[4]["reason"]] == ["Berg sold it", "a buyer purchases"]
    assert len(prompts) == 1 and "1971" in prompts[0]


def test_a_model_that_fails_leaves_them_unjudged(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def ask(*_: object) -> CheckClaimsReply:
        raise ModelError("the server is gone")

    monkeypatch.setattr(api, "make_ask", lambda name, config: ask)
    assert main(["check", str(file), "--model", "judge-7b"]) == 1
    printed = capsys.readouterr()
    assert [row["verdict"] for row in _read(printed.out)][1] == "not_checked"
    assert "3 claims not judged" in printed.err and "the server is gone" in printed.err


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "holds no claim"),
        (b"\n\n", "holds no claim"),
        (b'{"id": 1, "quote": "a", "statement": "b"}\nnonsense\n', "line 2: Invalid JSON"),
        (b"[1]\n", "line 1: Input should be an object"),
        (b'\n{"id": 1, "quote": "a"}', "line 2: statement: Field required"),
        (b'{"id": 1, "quote": ["a"], "statement": "b"}', "quote: Input should be a valid string"),
        (b'{"id": 1, "quote": "a", "statement": "b"}\n' * 2, "line 2: the id"),
        (b"\xff\xfe\x00", "not UTF-8"),
    ],
)
def test_a_faulty_file_says_what_is_expected(
    tmp_path: Path, content: bytes, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "claims.jsonl"
    path.write_bytes(content)
    assert main(["check", str(path)]) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and told in printed.err


def test_a_missing_file_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(tmp_path / "none.jsonl")]) == 2
    assert "cannot be read" in capsys.readouterr().err
