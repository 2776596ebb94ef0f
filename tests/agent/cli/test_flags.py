"""Every command and flag that the command line ever had still exists and parses."""

from __future__ import annotations

import pytest

from agent.cli.main import COMMANDS, main
from tests.agent.cli.parse import command, parse

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
    "eval": "demo --flow chat --model keyless --limit 1 --seed 2 --jobs 3 --keep D --json F",
    "runs": "--text T --resume R --model keyless",
    "plan": "R --add A B --drop 1 --reword 2 T --order 2 1 --json",
    "revise": "R N --on s1 --private --json F --markdown F",
    "erase-note": "R 4",
    "rewrite": "R --report brief --json F --markdown F",
    "facts": "R --find W --source S --step 3 --status pinned --json",
    "edit": "R --pin A B --strike A --restore A --strike-source S --restore-source S --correct A T --add T "
    "--undo --redo --url U --quote Q --own --yes",
    "conflicts": "R --json",
    "settle": "R C --take V --both --neither --reopen --look Q --because B",
    "check-text": f"F.md --search --max-pages 3 --problems --allow a.example {SOURCES} --engine google --engines arxiv --world demo "
    "--model keyless --json F --markdown F",
    "check": "F.jsonl --model keyless --json F",
    "export": "R --format pages.csv --output F",
    "verify": "B --refetch --json",
    "import": "B",
    "fork": f"R 3 --note T --private --model keyless {BUDGETS} --json F --markdown F",
    "supply": "R U --file F --text T --retry --title T",
    "backup": "F",
    "restore": "F --into D --force --check",
    "secrets": "--new-key --rotate --forget",
}


def test_every_command_is_in_the_table():
    assert list(LINES) == list(COMMANDS)


@pytest.mark.parametrize("name", LINES)
def test_every_flag_parses(name):
    words = LINES[name].split()
    params = parse(name, *words)
    known = {option for param in command(name).params for option in param.opts if option.startswith("-")}
    assert {word for word in words if word.startswith("--")} == known, "a flag came or went"
    assert all(value not in (None, [], (), False, "") for value in params.values()), params


@pytest.mark.parametrize("name", ["reply", "batch", "runs"])
def test_optional_arguments_may_be_left_out(name):
    assert parse(name)


def test_the_defaults():
    asked = parse("research", "Why?")
    assert asked["world"] == asked["model"] == "", (
        "what is not typed is as in the thread, or as for a new run"
    )
    assert parse("site", "Why?", "--start", "U")["allow"] == []
    collect = parse("collect", "All")
    assert (collect["allow"], collect["start"], collect["max_articles"]) == ([], [], 10)
    assert (parse("eval", "demo")["model"], parse("export", "R")["format"]) == ("keyless", "md")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_offered_for_the_launcher(shell, capsys, monkeypatch):
    monkeypatch.setattr("shellingham.detect_shell", lambda *_: (shell, f"/bin/{shell}"))
    with pytest.raises(SystemExit) as ended:
        main(["--show-completion"])
    assert not ended.value.code
    assert "_TOUCHSTONE_COMPLETE" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (["research", "-5 degrees in what?", "--world", "demo"], {"question": "-5 degrees in what?"}),
        (["research", "--world", "demo", "--max-steps", "3", "- x = 5?"], {"max_steps": 3}),
        (["research", "--allow", "a.example", "-5 degrees?"], {"question": "-5 degrees?"}),
        (["research", "--estimate", "--", "-5"], {"question": "-5"}),
        (["chat", "- who is it"], {"question": "- who is it"}),
        (["edit", "R", "--add", "-5 degrees is cold", "--undo"], {"run_id": "R", "undo": True}),
        (["edit", "R", "--correct", "F", "-5 degrees"], {"run_id": "R"}),
        (["research", "q", "--max-st", "3", "--est"], {"max_steps": 3, "estimate": True}),
        (["research", "q", "--max-st=3"], {"max_steps": 3}),
        (["edit", "R", "--pi", "A", "B"], {"pin": ["A", "B"]}),
    ],
    ids=str,
)
def test_texts_with_a_dash_and_shortened_options_are_understood(line, expected):
    params = parse(*line)
    assert {name: params.get(name) for name in expected} == expected


def test_a_shortened_option_with_several_meanings_is_refused(capsys):
    assert main(["research", "q", "--max-c", "3"]) == 2
    assert "--max-c may be --max-calls or --max-cost" in capsys.readouterr().err
    assert main(["research", "q", "--nothing"]) == 2
    assert "No such option: --nothing" in capsys.readouterr().err
    assert main(["research", "-5 degrees?", "--max-steps"]) == 2
    assert "requires an argument" in capsys.readouterr().err
