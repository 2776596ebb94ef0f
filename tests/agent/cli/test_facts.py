"""`facts` and `edit` as commands: what is listed, what changes, what is asked first, exit codes."""

from __future__ import annotations

import json

import pytest

from agent import config
from agent.cli.main import main
from agent.types import Settings, Status
from agent.workbench import Workbench

pytestmark = pytest.mark.slow

FOUNDED = "In which year was Älvmora Mejeri founded?"


@pytest.fixture
def run_id():
    bench = Workbench(config.read_config())
    made = bench.start(FOUNDED, Settings(world="demo", model="keyless"))
    assert bench.drive(made) is Status.REVIEW
    bench.shutdown()
    return made


def facts(run_id: str, capsys, *options: str) -> list[dict]:
    capsys.readouterr()
    assert main(["facts", run_id, "--json", *options]) == 0
    return json.loads(capsys.readouterr().out)


def test_facts_are_listed_and_sifted(run_id, capsys):
    every = facts(run_id, capsys)
    disputed = facts(run_id, capsys, "--status", "disputed")
    assert disputed and len(disputed) < len(every) and all("disputed" in fact["marks"] for fact in disputed)
    assert {fact["step"] for fact in facts(run_id, capsys, "--step", str(every[0]["step"]))} == {
        every[0]["step"]
    }
    assert all(
        "norrviddawiki" in fact["url"] for fact in facts(run_id, capsys, "--source", "norrviddawiki.example")
    )
    assert main(["facts", run_id, "--find", "1974 oldest"]) == 0
    shown = capsys.readouterr()
    assert "disputed  norrviddawiki.example" in shown.out and "facts" in shown.err


def test_what_only_a_source_disputed_that_a_note_rules_out_is_not_listed_as_disputed(run_id, capsys):
    bench = Workbench(config.read_config())
    bench.send_back(run_id, bench.snapshot(run_id).head, "Do not use norrviddawiki.example.")
    assert bench.drive(run_id) is Status.REVIEW
    cited = {i for sentence in bench.snapshot(run_id).state.answer.sentences for i in sentence.fact_ids}
    bench.shutdown()
    assert cited and not cited.intersection(
        fact["id"] for fact in facts(run_id, capsys, "--status", "disputed")
    )


def test_an_edit_is_driven_to_its_new_answer_and_told(run_id, capsys):
    wiki = facts(run_id, capsys, "--find", "1974 oldest")[0]["id"]
    stated = facts(run_id, capsys, "--find", "1974", "--source", "norrviddawiki.example")
    strikes = [part for fact in stated for part in ("--strike", fact["id"])]
    assert main(["edit", run_id, *strikes]) == 0
    shown = capsys.readouterr()
    assert f"excluded {len(stated)} facts of norrviddawiki.example" in shown.err and shown.out.startswith(
        "answer 2: "
    )
    assert "- The sources differ" in shown.out
    assert main(["edit", run_id, "--undo"]) == 0
    assert "+ The sources differ" in capsys.readouterr().out
    assert main(["edit", run_id, "--redo"]) == 0
    assert main(["edit", run_id, "--correct", wiki, "It was founded in 1974, they say."]) == 0
    shown = capsys.readouterr().err
    assert "corrected 1 fact" in shown and "does not support" not in shown
    assert main(["edit", run_id, "--correct", wiki, "It was founded in 1874."]) == 0
    shown = capsys.readouterr().err
    assert "The quote does not support this statement" in shown and "1974" in shown and "--undo" in shown
    assert main(["edit", run_id, "--undo"]) == 0
    assert facts(run_id, capsys, "--status", "corrected")[0]["former"]
    assert main(["edit", run_id, "--restore", wiki]) == 0


def test_a_fact_is_added_from_a_page_or_as_own_knowledge(run_id, capsys):
    url, quote = "https://www.alvmora-mejeri.example/", "Älvmora Mejeri makes five cheeses in Lövnäs"
    assert main(["edit", run_id, "--add", "It makes five cheeses.", "--url", url, "--quote", quote]) == 0
    assert main(["edit", run_id, "--add", "I have been there.", "--own"]) == 0
    assert facts(run_id, capsys, "--status", "own knowledge")[0]["statement"] == "I have been there."
    for wrong in (
        ["--add", "Nothing more."],
        ["--add", "x", "--own", "--url", url],
        ["--pin", "nobody"],
        ["--redo"],
    ):
        assert main(["edit", run_id, *wrong]) == 2
    assert "touchstone: " in capsys.readouterr().err


def test_what_a_source_leaves_behind_is_told_too(run_id, capsys):
    conflict = next(iter(Workbench(config.read_config()).snapshot(run_id).state.conflicts))
    assert main(["settle", run_id, conflict, "--take", "1979", "--because", "the register says so"]) == 0
    capsys.readouterr()
    assert main(["edit", run_id, "--strike-source", "norrviddawiki.example"]) == 2
    shown = capsys.readouterr().err
    assert (
        "lose a source, but not the last:\n  - A person settled this" in shown and "answer fall" not in shown
    )


def test_a_source_is_struck_only_after_asking(run_id, capsys, monkeypatch):
    assert main(["edit", run_id, "--strike-source", "norrviddawiki.example"]) == 2
    shown = capsys.readouterr().err
    assert "--yes" in shown and "sentences of the answer fall:\n  - The sources differ" in shown

    class Person:
        def __init__(self, said: str) -> None:
            self.said = said

        def isatty(self) -> bool:
            return True

        def readline(self) -> str:
            return self.said

    monkeypatch.setattr("sys.stdin", Person("no\n"))
    assert main(["edit", run_id, "--strike-source", "norrviddawiki.example"]) == 2
    assert not facts(run_id, capsys, "--status", "struck")
    monkeypatch.setattr("sys.stdin", Person("y\n"))
    assert main(["edit", run_id, "--strike-source", "norrviddawiki.example"]) == 0
    assert facts(run_id, capsys, "--status", "struck")
    assert main(["edit", run_id, "--restore-source", "norrviddawiki.example"]) == 0
    assert not facts(run_id, capsys, "--status", "struck")
