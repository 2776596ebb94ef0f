"""`revise` and `research --follow` as a person types them."""

from __future__ import annotations

import re

import pytest

from agent.cli.main import main

pytestmark = pytest.mark.slow
SOLAR = "How many solar panels are there on the roof of Älvmora Mejeri?"


@pytest.fixture
def run_id(capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["research", SOLAR, "--world", "demo", "--model", "keyless"]) == 0
    return re.search(r"^run (\w+)$", capsys.readouterr().err, re.MULTILINE)[1]


def test_an_answer_is_listed_revised_and_its_changes_told(run_id, capsys):
    assert main(["revise", run_id]) == 0
    listed = capsys.readouterr().out
    assert listed.startswith("s1: ") and "412 solar panels" in listed
    assert main(["revise", run_id, "shorter; without norrviddawiki.example"]) == 0
    out, err = capsys.readouterr()
    assert "412 solar panels" in out
    assert "Understood as: leave out norrviddawiki.example; shorter (brief)." in err
    assert re.search(r"^- .+", err, re.MULTILINE) and re.search(r"\d sentences? unchanged", err)
    assert main(["revise", run_id, "source?", "--on", "s1"]) == 0
    assert "change 1 place" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["source?", "--on", "s99"], "has no sentence s99"),
    ],
)
def test_what_cannot_be_revised_is_refused_with_the_reason(run_id, capsys, given, told):
    assert main(["revise", run_id, *given]) == 2
    assert told in capsys.readouterr().err


def test_a_further_question_follows_a_run(run_id, capsys):
    assert main(["research", "And what is their peak output?", "--follow", run_id]) == 0
    out, err = capsys.readouterr()
    assert "173 kilowatts" in out and "Read as: And what is their peak output? Älvmora Mejeri" in err
