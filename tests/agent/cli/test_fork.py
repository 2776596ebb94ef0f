"""`fork` and `compare`, and the budgets on the command line."""

from __future__ import annotations

import json

import pytest

from agent.cli.main import main
from agent.workbench import Workbench

FOUNDED = "In which year was Älvmora Mejeri founded?"


def newest() -> str:
    bench = Workbench()
    run = bench.runs()[0].id
    bench.shutdown()
    return run


@pytest.mark.slow
def test_a_fork_is_driven_and_compared(capsys, tmp_path):
    assert main(["research", FOUNDED, "--world", "demo", "--model", "keyless"]) == 0
    one = newest()
    file = tmp_path / "fork.json"
    assert (
        main(
            [
                "fork",
                one,
                "6",
                "--note",
                "Leave out everything from norrviddawiki.example.",
                "--max-steps",
                "6",
                "--json",
                str(file),
            ]
        )
        == 0
    )
    out = capsys.readouterr()
    assert "1979" in out.out and "run " in out.err
    assert "\n    8  " in out.err and out.err.count("\n    5  ") == 1, (
        "the steps it shares were told once, by the run they are of"
    )
    two = newest()
    told = json.loads(file.read_text(encoding="utf-8"))
    assert (told["run"], told["forked_from"], told["forked_at"]) == (two, one, 6)
    assert told["budget"][0] == {
        "name": "steps",
        "used": len([s for s in told["steps"] if "action" in s and s["n"] > 7]),
        "cap": 6.0,
    }
    assert main(["fork", one, "999"]) == 2
    assert "its steps are 0 to" in capsys.readouterr().err


def test_an_estimate_starts_nothing_and_every_budget_is_an_option(capsys):
    more = [
        "--max-pages",
        "3",
        "--max-calls",
        "4",
        "--max-tokens",
        "500",
        "--max-cost",
        "0.5",
        "--max-minutes",
        "2",
        "--until",
        "budget",
    ]
    assert main(["research", FOUNDED, "--world", "demo", "--model", "keyless", "--estimate", *more]) == 0
    assert "at most 12 steps, 3 pages, 2 min" in capsys.readouterr().out
    bench = Workbench()
    assert bench.runs() == []
    bench.shutdown()
    assert main(["research", FOUNDED, "--world", "demo", "--model", "keyless", *more]) == 0
    bench = Workbench()
    settings = bench.runs()[0].settings
    bench.shutdown()
    assert (
        settings.max_pages,
        settings.max_calls,
        settings.max_tokens,
        settings.max_cost_usd,
        settings.max_seconds,
    ) == (3, 4, 500, 0.5, 120)
    assert (settings.until, settings.at_cap) == ("budget", "report")


def test_a_budget_that_cannot_be_is_refused(capsys):
    for option in ("--max-calls", "--max-tokens", "--max-cost"):
        assert main(["research", FOUNDED, "--world", "demo", option, "-1"]) == 2
        assert "cannot be negative" in capsys.readouterr().err
