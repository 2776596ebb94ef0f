"""The budgets on the command line."""

from __future__ import annotations

from agent.cli.main import main
from agent.workbench import Workbench

FOUNDED = "In which year was Älvmora Mejeri founded?"


def test_an_estimate_starts_nothing_and_every_budget_is_an_option(capsys):
    more = (
        "--max-pages 3 --max-calls 4 --max-tokens 500 --max-cost 0.5 --max-minutes 2 --until budget".split()
    )
    asked = ["research", FOUNDED, "--world", "demo", "--model", "keyless", *more]
    assert main([*asked, "--estimate"]) == 0
    assert "at most 12 steps, 3 pages, 2 min" in capsys.readouterr().out
    bench = Workbench()
    assert bench.runs() == []
    assert main(asked) == 0
    settings = bench.runs()[0].settings
    bench.shutdown()
    budgets = {"max_pages": 3, "max_calls": 4, "max_tokens": 500, "max_cost_usd": 0.5, "max_seconds": 120}
    assert settings.model_dump(include=set(budgets)) == budgets
    assert (settings.until, settings.at_cap) == ("budget", "report")
