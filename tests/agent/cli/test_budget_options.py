"""The options of budgets and threshold become settings; what cannot be is refused in words."""

from __future__ import annotations

import argparse

import pytest

from agent.cli import budget_options
from agent.types import Settings


def parsed(*words: str) -> Settings:
    parser = argparse.ArgumentParser(exit_on_error=False)
    budget_options.add_options(parser)
    return Settings(**budget_options.chosen_settings(parser.parse_args(words)))


@pytest.mark.parametrize(("typed", "kept"), [("0.8", 0.8), ("80%", 0.8), ("80 %", 0.8), ("1", 1.0)])
def test_a_threshold_is_a_share_or_a_percentage(typed, kept):
    assert parsed("--threshold", typed).threshold == pytest.approx(kept)


@pytest.mark.parametrize("typed", ["80", "-0.1", "high", "nan"])
def test_what_is_no_threshold(typed):
    with pytest.raises(argparse.ArgumentError, match="is no share"):
        parsed(f"--threshold={typed}")


@pytest.mark.parametrize("option", ["--max-minutes", "--max-cost"])
@pytest.mark.parametrize("typed", ["inf", "nan", "-inf", "much", "1e308"])
def test_a_budget_has_an_end(option, typed):
    with pytest.raises(argparse.ArgumentError, match="give a number from 0 up"):
        parsed(f"{option}={typed}")


def test_what_is_not_named_stays_as_it_is():
    assert parsed().threshold == Settings().threshold and parsed("--max-minutes", "2").max_seconds == 120
