"""The option `--allow`: hosts in every spelling, the question behind them left whole, and a word when
something is missing."""

from __future__ import annotations

import pytest

from agent.cli import domain_options
from agent.cli.main import build_parser

QUESTION = "How long does a parcel take to a.example?"


def parsed(command: str, *arguments: str):
    return build_parser().parse_args([command, "--start", "https://a.example/", *arguments])


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
        parsed(command, *given, QUESTION),
        parsed(command, QUESTION, *given),
        parsed(command, *given, "--", QUESTION),
    ):
        assert (
            options.allow == allowed
            and (options.question if command == "site" else options.prompt) == QUESTION
        )


@pytest.mark.parametrize("question", ["Why?", "Layoffs", "a.example, b.example or another?"])
def test_a_short_question_is_no_host(question):
    options = parsed("site", "--allow", "a.example", question)
    assert (options.allow, options.question) == (["a.example"], question)


def test_without_the_option_its_default_holds():
    assert parsed("site", QUESTION).allow is None and parsed("collect", QUESTION).allow == []


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["--allow", "a.example", "b.example"], "required: QUESTION"),
        (["--allow", QUESTION], "“How” is no host|“take?” is no host|“a.example?” is no host"),
        (["--allow", "-a.example", QUESTION], "expected one argument"),
        (["--allow", "a.example,Why?", QUESTION], "“Why?” is no host"),
        ([QUESTION, "--allow"], "expected one argument"),
    ],
)
def test_what_is_missing_or_no_host_is_told(given, told, capsys):
    with pytest.raises(SystemExit) as left:
        parsed("site", *given)
    assert left.value.code == 2
    said = capsys.readouterr().err
    assert any(part in said for part in told.split("|")), said


def test_apart_twice_is_apart_once():
    once = domain_options.split_host_arguments(["--allow", "a.example", "b.example", QUESTION])
    assert (
        once
        == ["--allow", "a.example", "--allow", "b.example", QUESTION]
        == domain_options.split_host_arguments(once)
    )
