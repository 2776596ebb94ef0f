"""The command `collect`: what goes to which stream, the files it writes, exit codes."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from agent.cli import main

QUOTE = "https://borskvart.example/stock/KALL"
PROMPT = "Go to the forum section and find out what people are saying about Kallsteg in the last month"


def test_it_gathers_and_writes_what_is_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {name: tmp_path / f"found.{name}" for name in ("json", "markdown", "csv")}
    options = [text for name, file in files.items() for text in (f"--{name}", str(file))]
    assert main(["collect", "--world", "demo", "--model", "keyless", "--start", QUOTE, PROMPT, *options]) == 0
    out, err = capsys.readouterr()
    assert "6 of 6 statements backed" in out and "3 gathered:" in out and "0 model calls (below 15: met)" in out
    assert "nav:decision NAVIGATE_TO" in err and "nav:content_added" in err and "nav:" not in out
    assert len(json.loads(files["json"].read_text(encoding="utf-8"))["articles"]) == 3
    assert len(list(csv.DictReader(files["csv"].read_text(encoding="utf-8").splitlines()))) == 13
    assert "## Gathered" in files["markdown"].read_text(encoding="utf-8")


def test_several_starts_and_the_limits(capsys: pytest.CaptureFixture[str]) -> None:
    starts = ["--start", "https://granvattnet-courier.example/news/", "--start", QUOTE]
    assert main(["collect", "--world", "demo", "--model", "keyless", *starts, "--max-articles", "1", "--depth", "2", "Collect the news"]) == 0
    assert "1 gathered:" in capsys.readouterr().out


def test_the_plain_way(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["collect", "--world", "demo", "--model", "keyless", "--start", QUOTE, "--plain", PROMPT]) == 0
    assert "(thread" not in capsys.readouterr().out


@pytest.mark.parametrize(
    "wrong",
    [["Collect the news"], ["--start", "nonsense", "Collect the news"], ["--start", QUOTE, "--depth", "0", "Collect"], ["--start", QUOTE, " "]],
)
def test_wrong_usage_is_told_and_ends_with_2(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["collect", "--world", "demo", "--model", "keyless", *wrong]) == 2
    assert "touchstone:" in capsys.readouterr().err
