"""The shared options: hosts in every spelling, budgets, shares, and choices."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

import pytest

from agent.cli.main import main
from agent.cli.options import read_settings
from agent.engine.run_settings import normalize_settings
from tests.agent.cli.parse import parse
from tests.tables import by_table


def given(command: str, *options: str) -> dict[str, Any]:
    """The settings that the options of a command set."""
    settings = read_settings(Namespace(**parse(command, "Why?", *options)))
    return settings.model_dump(exclude_unset=True)


@by_table
@pytest.mark.parametrize("command", ["research", "collect"])
def test_hosts_are_repeated_or_separated(command: str, options: list[str], allowed: list[str]) -> None:
    settings = read_settings(Namespace(**parse(command, *options, "Why?")))
    assert normalize_settings(settings).allowed_domains == allowed


@by_table
def test_a_wrong_value_is_refused(options: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["research", "--world", "demo", *options]) == 2
    assert told in capsys.readouterr().err


def test_a_list_option_takes_all_values_up_to_the_next_option() -> None:
    tags = parse("chat", "Why?", "--scope-tag", "one", "two", "--scope-tag", "three")["scope_tag"]
    assert tags == ["one", "two", "three"]


@pytest.mark.parametrize(
    ("typed", "value"), [("0.8", 0.8), ("80%", 0.8), ("80 %", 0.8), ("80", 0.8), ("1", 1.0)]
)
def test_a_threshold_is_a_share_or_a_percentage(typed: str, value: float) -> None:
    assert given("research", "--threshold", typed)["threshold"] == pytest.approx(value)


def test_only_given_options_become_settings() -> None:
    assert given("research") == {}
    budget = {"max_seconds": 120, "until": "budget", "mode": "auto"}
    assert given("research", "--max-minutes", "2", "--until", "budget") == budget
    parts = {"collect": {"max_pages": 3, "max_depth": 2}}
    assert given("collect", "--max-pages", "3", "--depth", "2") == parts
