"""The shared options: hosts in every spelling, the question behind them, budgets, shares, and choices."""

from __future__ import annotations

import re
from argparse import Namespace

import pytest

from agent.cli.main import main, separate_hosts
from agent.cli.options import read_settings
from tests.agent.cli.parse import parse

QUESTION = "How long does a parcel take to a.example?"
START = ("--start", "https://a.example/")


@pytest.mark.parametrize(
    ("given", "allowed"),
    [
        (["--allow", "a.example"], ["a.example"]),
        (["--allow", "a.example", "*.B.example"], ["a.example", "*.b.example"]),
        (["--allow", "a.example", "--allow", "b.example"], ["a.example", "b.example"]),
        (["--allow", "a.example,b.example"], ["a.example", "b.example"]),
        (["--allow", "a.example, b.example"], ["a.example", "b.example"]),
        (["--allow", "a.example b.example", "c.example"], ["a.example", "b.example", "c.example"]),
        (["--allow=a.example,", "localhost"], ["a.example", "localhost"]),
        (["--allow", "intranet"], ["intranet"]),
        (["--allow", "https://A.example/page", "b.example:8080"], ["a.example", "b.example"]),
        (["--allow", "[::1]"], ["::1"]),
        (["--allow", "höganäs.example"], ["höganäs.example"]),
        (["--allow", ""], []),
        (["--allow="], []),
    ],
)
@pytest.mark.parametrize("command", ["site", "collect"])
def test_the_question_behind_hosts_is_left(command, given, allowed):
    for options in (
        parse(command, *START, *given, QUESTION),
        parse(command, *START, QUESTION, *given),
        parse(command, *START, *given, "--", QUESTION),
    ):
        assert read_settings(Namespace(**options)).allowed_domains == allowed
        assert options["question" if command == "site" else "prompt"] == QUESTION


@pytest.mark.parametrize("question", ["Why?", "Layoffs", "a.example, b.example or another?"])
def test_a_short_question_is_no_host(question):
    options = parse("site", *START, "--allow", "a.example", question)
    assert (options["allowed_domains"], options["question"]) == ([["a.example"]], question)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--allow", "a.example", "b.example"], "arguments are required: QUESTION"),
        (["--allow", QUESTION], "is not a host"),
        (["--allow=-a.example", QUESTION], "“-a.example” is not a host"),
        (["--allow", "a.example,Why?", QUESTION], "“Why?” is not a host"),
        ([QUESTION, "--allow"], "--allow: expected one argument"),
    ],
)
def test_a_wrong_list_of_hosts_is_refused(given, message, capsys):
    assert main(["site", *START, *given]) == 2
    assert message in capsys.readouterr().err


def test_repeating_an_option_is_idempotent():
    once = separate_hosts(["--allow", "a.example", "b.example", QUESTION])
    assert once == ["--allow", "a.example", "--allow", "b.example", QUESTION]
    assert separate_hosts(once) == once


def test_a_list_option_takes_all_values_up_to_the_next_option():
    assert parse("chat", "Why?", "--scope-tag", "one", "two", "--scope-tag", "three")["scope_tag"] == [
        "one",
        "two",
        "three",
    ]


def budgets(*options: str) -> dict:
    return read_settings(Namespace(**parse("research", "Why?", *options))).model_dump(exclude_unset=True)


@pytest.mark.parametrize(("typed", "value"), [("0.8", 0.8), ("80%", 0.8), ("80 %", 0.8), ("1", 1.0)])
def test_a_threshold_is_a_share_or_a_percentage(typed, value):
    assert budgets("--threshold", typed)["threshold"] == pytest.approx(value)


@pytest.mark.parametrize("typed", ["80", "-0.1", "high", "nan"])
def test_what_is_no_threshold(typed, capsys):
    assert main(["research", "Why?", "--world", "demo", f"--threshold={typed}"]) == 2
    assert re.search("is not a share|invalid share", capsys.readouterr().err)


@pytest.mark.parametrize("option", ["--max-minutes", "--max-cost"])
@pytest.mark.parametrize("typed", ["inf", "nan", "-inf", "much"])
def test_a_budget_is_finite(option, typed):
    with pytest.raises(SystemExit):
        parse("research", "Why?", f"{option}={typed}")


def test_only_given_options_become_settings():
    assert budgets() == {}
    assert budgets("--max-minutes", "2", "--until", "budget") == {
        "max_seconds": 120,
        "until": "budget",
        "mode": "auto",
    }


def test_a_choice_is_checked_and_completed(capsys):
    assert main(["research", "Why?", "--until", "noon"]) == 2
    assert "invalid choice: 'noon'" in capsys.readouterr().err
