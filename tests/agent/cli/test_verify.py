"""`export`, `verify`, `import` as commands: exit codes, what goes where, never a traceback."""

from __future__ import annotations

import json
import random
import zipfile
from pathlib import Path

import pytest

from agent.actions.export import FORMATS
from agent.cli.main import main
from agent.workbench import Workbench

pytestmark = pytest.mark.slow

QUESTION = "On what date did the Stenfors bridge reopen to traffic?"


@pytest.fixture
def bundle(made, tmp_path) -> Path:
    file = tmp_path / "run.zip"
    file.write_bytes(made)
    return file


@pytest.fixture
def run_id(bundle, capsys) -> str:
    assert main(["import", str(bundle)]) == 0
    return capsys.readouterr().out.strip()


def test_every_format_is_written(run_id, tmp_path, capsys):
    for name in FORMATS:
        file = tmp_path / f"out.{name}"
        expected = 2 if FORMATS[name].flow else 0
        assert main(["export", run_id, "--format", name, "--output", str(file)]) == expected
        assert file.exists() is (expected == 0)
    told = capsys.readouterr().err
    assert "collect" in told and "SHA-256 " in told


def test_text_goes_to_stdout_and_a_binary_file_does_not(run_id, capsys):
    assert main(["export", run_id]) == 0
    assert capsys.readouterr().out.startswith(f"# {QUESTION}")
    assert main(["export", run_id, "--format", "csv"]) == 0
    assert capsys.readouterr().out.startswith('"id","statement"')
    for name in ("bundle", "docx"):
        assert main(["export", run_id, "--format", name]) == 2
        told = capsys.readouterr()
        assert told.out == "" and "--output" in told.err


def test_verify_says_that_it_holds_and_asks_the_sources(bundle, capsys):
    assert main(["verify", str(bundle)]) == 0
    told = capsys.readouterr().out
    assert "quotes are in their pages" in told and "The bundle is valid." in told and QUESTION in told
    assert main(["verify", str(bundle), "--refetch"]) == 0
    assert "Stands." in capsys.readouterr().out
    assert main(["verify", str(bundle), "--refetch", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["holds"] and told["standing"] == told["quotes"]
    assert {source["standing"] for source in told["sources"]} == {"stands"}


def test_verify_tells_a_change_and_is_not_moved_by_rubbish(bundle, tmp_path, capsys):
    data = bundle.read_bytes()
    at = len(data) // 2
    file, foreign = tmp_path / "hostile.zip", tmp_path / "foreign.zip"
    with zipfile.ZipFile(foreign, "w") as archive:
        archive.writestr("../x", b"")
    changed = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
    for body in (changed, data[:at], b"", b"hello", random.Random(1).randbytes(5000), foreign.read_bytes()):
        file.write_bytes(body)
        for command in (["verify"], ["verify", "--refetch"], ["verify", "--json"], ["import"]):
            assert main([*command, str(file)]) == 1, body[:20]
            told = capsys.readouterr()
            assert "Traceback" not in told.out + told.err
    assert Workbench().runs() == []


@pytest.mark.parametrize("command", ["verify", "import"])
def test_no_such_file_is_wrong_usage(command, tmp_path, capsys):
    for path in (tmp_path / "none.zip", tmp_path):
        assert main([command, str(path)]) == 2
        assert "cannot be read" in capsys.readouterr().err


def test_import_opens_it_under_another_name_here_and_its_own_elsewhere(
    bundle, run_id, capsys, monkeypatch, tmp_path
):
    assert main(["import", str(bundle)]) == 0
    told = capsys.readouterr()
    assert told.out.strip() != run_id and "already" in told.err and "imported" in told.err
    monkeypatch.setenv("TOUCHSTONE_DATA", str(tmp_path / "elsewhere"))
    assert main(["import", str(bundle)]) == 0
    assert capsys.readouterr().out.strip() == run_id
    assert main(["runs"]) == 0 and "imported" in capsys.readouterr().out
