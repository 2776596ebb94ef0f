"""The command `collect`: what goes to which stream, the files it writes, exit codes."""

from __future__ import annotations

import csv
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from agent.cli.main import main
from agent.settings import config
from agent.web.world import World
from tests.tables import by_table
from tests.web.site import Site as Server
from tests.web.site import html

pytestmark = pytest.mark.slow

QUOTE = "https://borskvart.example/stock/KALL/forum"
DEMO = ["collect", "--world", "demo", "--model", "keyless"]
PROMPT = "Go to the forum section and find out what people are saying about Kallsteg in the last month"


def test_it_gathers_and_writes_what_is_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {name: tmp_path / f"found.{name}" for name in ("json", "markdown", "csv")}
    options = [text for name, file in files.items() for text in (f"--{name}", str(file))]
    assert main([*DEMO, "--start", QUOTE, PROMPT, *options]) == 0
    out, err = capsys.readouterr()
    assert "needs a model" in out and "5 gathered:" in out
    assert "nav:decision EXTRACT_LINKS" in err and "nav:content_added" in err and "nav:" not in out
    assert len(json.loads(files["json"].read_text(encoding="utf-8"))["articles"]) == 5
    assert len(list(csv.DictReader(files["csv"].read_text(encoding="utf-8").splitlines()))) > 12
    assert "## Gathered" in files["markdown"].read_text(encoding="utf-8")


def test_several_starts_and_the_limits(capsys: pytest.CaptureFixture[str]) -> None:
    starts = ["--start", "https://granvattnet-courier.example/news/", "--start", QUOTE]
    assert main([*DEMO, *starts, "--max-articles", "1", "--depth", "2", "Collect the news"]) == 0
    assert "1 gathered:" in capsys.readouterr().out


def test_the_plain_way(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*DEMO, "--start", QUOTE, "--plain", PROMPT]) == 0
    assert "(thread" not in capsys.readouterr().out


@by_table
def test_wrong_usage_is_told_and_ends_with_2(
    wrong: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*DEMO, *wrong]) == 2
    out, err = capsys.readouterr()
    assert err.startswith("touchstone: ") and told in err and not out, "nothing was started"


@pytest.mark.parametrize("flow", ["collect", "site"])
def test_flows_with_start_pages_look_for_no_search_engine(
    flow: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(World, "is_reachable", lambda self: pytest.fail("a search engine was looked for"))
    with Server({"/": html("<h1>Lamps</h1><p>The lamp is green.</p>")}) as server:
        monkeypatch.setenv("FETCH_ALLOW", "127.0.0.0/8")
        monkeypatch.setenv("FETCH_GAP", "0")
        assert main([flow, "--start", server.url("/"), "--model", "keyless", "Which lamp is green?"]) == 0
        assert "/" in server.paths()
    capsys.readouterr()


def test_a_walk_that_read_nothing_ends_well_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*DEMO, "--start", "https://nowhere.example/", "Collect"]) == 0
    out = capsys.readouterr().out
    assert "No answer is given." in out and "404" in out
    assert "Nothing was gathered." in out and "0 gathered" not in out


def script(tmp_path: Path, redirect: str, *options: str) -> subprocess.CompletedProcess[str]:
    """The command in a shell of its own, its streams as `redirect` says."""
    line = [sys.executable, "-m", "agent", *DEMO, "--start", QUOTE, PROMPT, *options]
    surroundings = {**os.environ, "TOUCHSTONE_DATA": str(tmp_path / "data"), "PYTHONUNBUFFERED": ""}
    command = ["bash", "-c", f"{shlex.join(line)} {redirect}"]
    return subprocess.run(
        command, cwd=config.ROOT, env=surroundings, capture_output=True, text=True, check=False
    )


def test_a_reader_that_goes_away_costs_no_file(tmp_path: Path) -> None:
    done = script(tmp_path, "| head -c 1; exit ${PIPESTATUS[0]}", "--json", str(tmp_path / "found.json"))
    assert done.returncode == 0 and "Traceback" not in done.stderr and "Exception" not in done.stderr
    assert len(json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))["articles"]) == 5


def test_closed_streams_are_no_error_and_a_full_disk_is_told(tmp_path: Path) -> None:
    silent = script(tmp_path, ">&-")
    assert (
        silent.returncode == 0 and "Traceback" not in silent.stderr and "nav:content_added" in silent.stderr
    )
    deaf = script(tmp_path, "2>&-")
    assert deaf.returncode == 0 and "5 gathered:" in deaf.stdout and "nav:" not in deaf.stdout
    full = script(tmp_path, ">/dev/full")
    assert full.returncode == 1 and "Traceback" not in full.stderr and "could not be printed" in full.stderr
