"""Every command and flag that the command line ever had still exists and parses."""

from __future__ import annotations

import pytest

from agent.cli.main import COMMANDS, build_parser, main
from tests.agent.cli.parse import parse

BUDGETS = "--max-steps 3 --max-pages 3 --max-calls 3 --max-tokens 9 --max-cost 1 --max-minutes 2 --threshold 80% --until review"
SOURCES = "--block b.example --since 2024-01-01 --before 2025-01-01 --dated --language en"
LINES = {
    "research": f"Why? --world demo --model keyless --report full {BUDGETS} --estimate --allow a.example {SOURCES} "
    "--engine google --engines duckduckgo,arxiv --follow R --json F --markdown F",
    "site": f"Why? --start U --start V --allow a.example {SOURCES} --instruction T --max-pages 1 --iterations 2 "
    "--batch 3 --ahead 4 --fresh-days 5 --page-chars 400 --page-links 5 --url-chars 60 --url-buffer 7 --follow R --world demo "
    "--model keyless --json F --markdown F",
    "collect": f"All --start U --max-articles 1 --max-pages 2 --depth 3 --allow a.example {SOURCES} "
    "--instruction T --plain --world demo --model keyless --json F --markdown F --csv F",
    "chat": "Why? --thread R --scope-tag T U --add D E --world demo --model keyless --json F",
    "reply": "Why? --kb demo --conversation F --model keyless --json F",
    "batch": "F.csv --out F --json --resume I --side-by-side 2 --max-calls 3 --max-tokens 4 --max-cost 5 "
    f"--max-minutes 6 --world demo --model keyless --max-steps 7 --max-pages 8 --allow a.example {SOURCES} "
    "--engine google --engines arxiv",
    "runs": "--text T --resume R --model keyless",
    "act": "R send_back --note N",
    "check-text": f"F.md --search --max-pages 3 --problems --allow a.example {SOURCES} --engine google --engines arxiv --world demo "
    "--model keyless --json F --markdown F",
    "check": "F.jsonl --model keyless --json F",
    "export": "R --format pages.csv --output F",
    "verify": "B --refetch --json",
    "import": "B",
    "mcp": "",
    "work": "--concurrency 8 --told",
    "webhook": "https://hook.example --on review,failed --remove 0123",
    "backup": "F",
    "restore": "F --into D --force --check --bodies 9",
    "move-store": "data postgresql+psycopg://db/n",
    "token": "reader --for read,research --revoke T",
    "secrets": "--new-key --rotate --forget",
}


def test_every_command_is_in_the_table():
    assert list(LINES) == list(COMMANDS)


@pytest.mark.parametrize("name", LINES)
def test_every_flag_parses(name):
    words = LINES[name].split()
    params = parse(name, *words)
    known = {option for action in build_parser(name)._actions for option in action.option_strings}
    if name != "act":  # its options are those of each act
        typed = {word for word in words if word.startswith("--")}
        assert typed == known - {"-h", "--help"}, "a flag came or went"
    assert all(value not in (None, [], (), "") for value in params.values()), params


@pytest.mark.parametrize("name", ["reply", "batch", "runs"])
def test_optional_arguments_may_be_left_out(name):
    assert parse(name)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (["research", "-5 degrees in what?", "--world", "demo"], {"question": "-5 degrees in what?"}),
        (["research", "--world", "demo", "--max-steps", "3", "- x = 5?"], {"max_steps": 3}),
        (["research", "--allow", "a.example", "-5 degrees?"], {"question": "-5 degrees?"}),
        (["research", "--estimate", "--", "-5"], {"question": "-5"}),
        (["chat", "- who is it"], {"question": "- who is it"}),
        (["research", "q", "--max-st", "3", "--est"], {"max_steps": 3, "estimate": True}),
        (["research", "q", "--max-st=3"], {"max_steps": 3}),
        (["chat", "Why?", "--scope", "A", "B"], {"scope_tag": ["A", "B"]}),
    ],
    ids=str,
)
def test_texts_with_a_dash_and_shortened_options_are_understood(line, expected):
    params = parse(*line)
    assert {name: params.get(name) for name in expected} == expected


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (["q", "--max-c", "3"], "could match --max-calls, --max-cost"),
        (["q", "--nothing"], "unrecognized arguments: --nothing"),
        (["-5 degrees?", "--max-steps"], "expected one argument"),
    ],
)
def test_an_option_that_is_not_clear_is_refused(line, told, capsys):
    assert main(["research", *line]) == 2
    assert told in capsys.readouterr().err
