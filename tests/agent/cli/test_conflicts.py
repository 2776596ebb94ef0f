"""`conflicts` and `settle` on the command line: what is told, what is ruled, and what is refused."""

from __future__ import annotations

import json

import pytest

from agent.cli.main import main
from agent.workbench import Workbench


@pytest.mark.slow
def test_a_conflict_is_listed_looked_into_and_settled(capsys):
    assert (
        main(
            ["research", "In which year was Älvmora Mejeri founded?", "--world", "demo", "--model", "keyless"]
        )
        == 0
    )
    bench = Workbench()
    run_id = bench.runs()[0].id
    bench.shutdown()
    capsys.readouterr()
    assert main(["conflicts", run_id]) == 0
    listed = capsys.readouterr().out
    assert (
        "Älvmora Mejeri (founded): open" in listed
        and "- 1974: norrviddawiki.example (1 independent source, since " in listed
    )
    assert main(["conflicts", run_id, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    name = next(conflict["id"] for conflict in told if conflict["asks"])
    assert {value["text"]: value["independent"] for value in told[0]["values"]}["1974"] == [
        "norrviddawiki.example"
    ]

    assert main(["settle", run_id, name, "--take", "1979"]) == 2
    assert "give a reason" in capsys.readouterr().err
    assert main(["settle", run_id, name, "--look", "Sixten Tjäder brewery"]) == 0
    assert main(["settle", run_id, name, "--take", "1979", "--because", "the register came first"]) == 0
    assert (
        "A person settled this: Älvmora Mejeri (founded): “1979”, because “the register came first”"
        in capsys.readouterr().out
    )
    assert main(["conflicts", run_id]) == 0
    assert "settled by a person for “1979” (because “the register came first”)" in capsys.readouterr().out
    assert main(["settle", run_id, name, "--reopen"]) == 0
    assert "The sources differ on" in capsys.readouterr().out
    assert main(["settle", run_id, "nothing", "--both", "--because", "so"]) == 2
