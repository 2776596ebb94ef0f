"""`plan` as a command: what is shown, what changes, exit codes."""

from __future__ import annotations

import json

import pytest

from agent.cli.main import main

pytestmark = pytest.mark.slow

QUESTION = "In which year was Älvmora Mejeri founded and how many people does Älvmora Mejeri employ?"


@pytest.fixture
def run_id(ran) -> str:
    return ran(QUESTION)


def read_plan(run_id: str, capsys, *options: str) -> list[dict]:
    capsys.readouterr()
    assert main(["plan", run_id, "--json", *options]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_parts_are_shown_with_their_status_and_facts(run_id, capsys):
    capsys.readouterr()
    assert main(["plan", run_id]) == 0
    first, second = capsys.readouterr().out.strip().split("\n")
    assert first.startswith("1  [") and "In which year was Älvmora Mejeri founded" in first
    assert second.startswith("2  [") and "fact" in second


def test_parts_are_put_in_another_order_reworded_and_dropped(run_id, capsys):
    assert [part["id"] for part in read_plan(run_id, capsys, "--order", "2")] == ["2", "1"]
    (part,) = read_plan(run_id, capsys, "--drop", "1")
    assert part["id"] == "2"
    assert main(["plan", run_id, "--reword", "2", part["question"]]) == 2
    assert "nothing was changed" in capsys.readouterr().err


def test_an_unknown_part_is_named_with_those_there_are(run_id, capsys):
    assert main(["plan", run_id, "--drop", "9"]) == 2
    assert "no part 9: it has 1, 2" in capsys.readouterr().err
