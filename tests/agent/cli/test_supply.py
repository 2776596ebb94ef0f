"""`unread` and `supply` at the command line."""

from __future__ import annotations

import io

import pytest

from agent.cli.main import main
from agent.types import Settings
from agent.workbench import Workbench
from tests.web.folders import page, write_world

WALL = "https://wall.example/heron"
SAID = "The brass heron of Ostrava has 412 feathers, each of them cut by hand."


@pytest.fixture
def run_id(tmp_path):
    world = write_world(
        tmp_path / "herons",
        [page(WALL, "Heron", "No.", status=403), page("https://b.example/", "Bridge", "A bridge.")],
    )
    bench = Workbench()
    name = bench.start(
        "How many feathers has the brass heron of Ostrava?",
        Settings(world=world, model="keyless", start_urls=[WALL]),
    )
    bench.drive(name)
    bench.shutdown()
    return name


def test_a_text_from_stdin_and_a_file_lead_to_a_new_answer(run_id, capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("sys.stdin", io.StringIO(SAID))
    assert main(["supply", run_id, WALL, "--text", "-"]) == 0
    assert "412 feathers" in capsys.readouterr().out
    (tmp_path / "more.md").write_text(
        "The brass heron of Ostrava lost two feathers, and has 410 feathers since 1990, says the inventory."
    )
    assert main(["supply", run_id, "", "--file", str(tmp_path / "more.md")]) == 0
    assert "file uploaded by a person" in capsys.readouterr().out


def test_retry_and_what_is_wrong(run_id, capsys, tmp_path):
    assert main(["supply", run_id, WALL, "--retry"]) == 0
    assert main(["supply", run_id, "https://b.example/x", "--retry"]) == 2
    assert main(["supply", run_id, WALL, "--file", str(tmp_path / "none.pdf")]) == 2
    assert "there is no file" in capsys.readouterr().err
