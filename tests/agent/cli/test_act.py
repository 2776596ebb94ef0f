"""`act` as a person types it: what is possible, what it does, what is told, and what is refused."""

from __future__ import annotations

import io
import json
import re

import pytest

from agent.actions import acts
from agent.cli.main import main
from agent.types import Settings
from agent.workbench import Workbench
from tests.tables import by_table
from tests.web.folders import page, write_world

pytestmark = pytest.mark.slow
FOUNDED = "In which year was Älvmora Mejeri founded?"
WIKI = "norrviddawiki.example"
WALL = "https://wall.example/heron"
SAID = "The brass heron of Ostrava has 412 feathers, each of them cut by hand."


@pytest.fixture
def run_id(ran) -> str:
    return ran(FOUNDED)


@pytest.fixture
def blocked(tmp_path) -> str:
    """A run that could not read a page."""
    pages = [page(WALL, "Heron", "No.", status=403), page("https://b.example/", "Bridge", "A bridge.")]
    bench, world = Workbench(), write_world(tmp_path / "herons", pages)
    settings = Settings(world=world, model="keyless", start_urls=[WALL])
    name = bench.start("How many feathers has the brass heron of Ostrava?", settings)
    bench.drive(name)
    bench.shutdown()
    return name


def read(run_id: str, capsys) -> dict:
    """The run as `export` writes it."""
    capsys.readouterr()
    assert main(["export", run_id, "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_what_is_possible_is_listed_with_its_parameters(run_id, capsys):
    assert main(["act", run_id]) == 0
    out = capsys.readouterr().out
    assert "send_back: " in out and "    --note  " in out and "accept: " in out
    assert "pause: " not in out and "overrule: " not in out, "not now, and not of this run"
    assert main(["act", run_id, "send_back", "-h"]) == 0
    assert "--private" in capsys.readouterr().out


def test_an_answer_is_sent_back_commented_on_and_accepted(run_id, capsys):
    assert main(["act", run_id, "send_back", "--note", "who founded it"]) == 0
    assert "1979" in capsys.readouterr().out
    assert main(["act", run_id, "comment", '{"target": "s1", "text": "source?"}']) == 0
    assert main(["act", run_id, "accept"]) == 0
    assert "is complete" in capsys.readouterr().err
    assert main(["act", run_id, "reopen"]) == 0


@by_table
def test_what_cannot_be_is_refused_in_a_sentence(run_id, capsys, given, told):
    assert main(["act", run_id, *given]) == 2
    assert told in capsys.readouterr().err


def test_facts_are_struck_corrected_and_added_and_the_answer_follows(run_id, capsys):
    facts = read(run_id, capsys)["facts"]
    names = [fact["id"] for fact in facts if WIKI in fact["url"] and "1974" in fact["statement"]]
    assert main(["act", run_id, "mark", "--facts", *names, "--decision", "struck"]) == 0
    shown = capsys.readouterr().err
    assert f"of {WIKI}" in shown and "- The sources differ" in shown
    assert main(["act", run_id, "undo"]) == 0
    assert "+ The sources differ" in capsys.readouterr().err
    assert main(["act", run_id, "correct", "--fact", names[0], "--statement", "It was founded in 1874."]) == 0
    assert "The quote does not support this statement" in capsys.readouterr().err
    assert main(["act", run_id, "add", "--statement", "I have been there."]) == 0
    assert main(["act", run_id, "strike_source", "--source", WIKI]) == 0
    assert all(fact["decision"] == "struck" for fact in read(run_id, capsys)["facts"] if WIKI in fact["url"])


def test_a_conflict_is_looked_into_and_settled(run_id, capsys):
    name = next(conflict["id"] for conflict in read(run_id, capsys)["conflicts"] if conflict["asks"])
    take = ["act", run_id, "settle", "--conflict", name, "--ruling", "take", "--value", "1979"]
    assert main(take) == 2
    assert "give a reason" in capsys.readouterr().err
    assert main(["act", run_id, "look", "--conflict", name, "--words", "Sixten Tjäder brewery"]) == 0
    assert main([*take, "--because", "the register came first"]) == 0
    assert "because “the register came first”" in capsys.readouterr().out


def test_a_branch_is_driven_and_named(run_id, capsys):
    more = json.dumps({"step": 6, "note": "who founded it", "settings": {"max_steps": 6}})
    assert main(["act", run_id, "fork", more]) == 0
    out, err = capsys.readouterr()
    [new] = re.findall(r"^run (\w+)$", err, re.MULTILINE)
    assert "1974" in out and "\n    8  " in err and "\n    5  " not in err, "only its own steps are told"
    told = read(new, capsys)
    assert (told["forked_from"], told["forked_at"], told["budget"][0]["cap"]) == (run_id, 6, 6.0)


def test_a_text_from_stdin_and_a_file_lead_to_a_new_answer(blocked, capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("sys.stdin", io.StringIO(SAID))
    assert main(["act", blocked, "supply", "--url", WALL, "--text", "-"]) == 0
    assert "412 feathers" in capsys.readouterr().out
    (tmp_path / "more.md").write_text(
        "The brass heron of Ostrava lost two feathers, and has 410 feathers since 1990, says the inventory."
    )
    assert main(["act", blocked, "supply", "--file", str(tmp_path / "more.md")]) == 0
    assert "file uploaded by a person" in capsys.readouterr().out


def test_a_page_is_tried_again(blocked, capsys):
    assert main(["act", blocked, "retry", "--what", WALL]) == 0
    assert main(["act", blocked, "retry", "--what", "https://b.example/x"]) == 2


def test_private_notes_are_listed_and_erased(run_id, capsys):
    assert main(["act", run_id, "send_back", "--note", "shorter for Hedvig Lund", "--private"]) == 0
    capsys.readouterr()
    assert main(["act", run_id]) == 0
    [step] = re.findall(r"private note of step (\d+): shorter for Hedvig Lund", capsys.readouterr().out)
    assert main(["act", run_id, "erase_note", "--step", step]) == 0
    assert main(["act", run_id]) == 0
    assert "Hedvig" not in capsys.readouterr().out


def test_every_act_has_a_help_line_and_a_schema():
    for act in acts.ACTS.values():
        schema = act.parameters.model_json_schema()
        assert act.help and act.label and schema["type"] == "object"
