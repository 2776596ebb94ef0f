"""A command with its options, and the options that several share. An option is a setting of a run by its
`dest`: the name of a field, or "site.max_pages" for a field of a part."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

from pydantic import ValidationError

from agent.errors import UsageError, describe_faults
from agent.types import ENGINE_NAMES, BatchBudget, ReportLength, Settings

DEFAULTS = SimpleNamespace(**dict(Settings()), batch=BatchBudget())
Option = tuple[tuple[str, ...], dict[str, Any]]
"""The names of an option or argument, and what argparse is told of it."""


@dataclass(frozen=True)
class Command:
    """A command: the function that runs it and returns its exit code, and what may be typed."""

    run: Callable[[Namespace], int]
    options: Sequence[Option]


def command(*options: Option) -> Callable[[Callable[[Namespace], int]], Command]:
    """Make a command of a function."""
    return lambda run: Command(run, options)


def option(spec: str, help: str, **about: Any) -> Option:
    """An option ("--max-pages N", "--engine/--engines NAMES") or an argument ("question QUESTION")."""
    names, _, metavar = spec.partition(" ")
    return tuple(names.split("/")), {"metavar": metavar, "help": help, **about}


def flag(name: str, help: str, **about: Any) -> Option:
    """An option without a value; None where it is not given."""
    return (name,), {"action": "store_true", "default": None, "help": help, **about}


def file_option(spec: str, help: str, **about: Any) -> Option:
    """An option or argument that names a file or folder."""
    return option(spec, help, type=Path, **about)


def words_option(spec: str, help: str, dest: str) -> Option:
    """An option for several words: with commas or spaces between them, or the option again."""
    return option(spec, help, dest=dest, type=lambda text: text.replace(",", " ").split(), action="extend")


def count(text: str) -> int:
    """A number of things, at least one. Raises ValueError."""
    if (value := int(text)) < 1:
        raise ValueError
    return value


def minutes(text: str) -> float:
    """The seconds of a number of minutes. Raises ValueError."""
    return float(text) * 60


def share(text: str) -> float:
    """A share as typed: "0.8", "80%" or, from 2 on, "80". Raises ValueError."""
    value = float(text.removesuffix("%"))
    return value / 100 if text.endswith("%") or value >= 2 else value


def limit(spec: str, help: str, dest: str, type: Callable[[str], float] = int) -> Option:
    """An option for a limit of a run; a run that is continued keeps its own."""
    kind = "batch" if dest.startswith("batch.") else "run"
    default = attrgetter(dest)(DEFAULTS) / (60 if type is minutes else 1)
    return option(spec, f"{help} (new {kind}: {default:,.10g})", dest=dest, type=type)


QUESTION = option("question QUESTION", "the question, in quotes")
RUN_ID = option("run_id RUN", "id of the run; `runs` lists them")
WORLD = option(
    "--world live|demo|DIR",
    "where to search and read: the web, the demo, or a folder with docs.jsonl [default: live]",
)
MODEL = option("--model keyless|NAME", "the model to use [default: the configured one, else keyless]")
INSTRUCTION = option("--instruction TEXT", "how to search and how to answer")
JSON_FILE = file_option("--json FILE", "write the whole result as JSON", dest="json_file")
OUTPUT_FILES = (
    JSON_FILE,
    file_option("--markdown FILE", "write the report as Markdown", dest="markdown_file"),
)
LENGTHS = get_args(ReportLength)
REPORT = option(
    f"--report {'|'.join(LENGTHS)}",
    "how long the answer is: a lead and what backs it, a standard answer, or a full report "
    "[default: standard]",
    choices=LENGTHS,
)
ALLOW = words_option(
    "--allow HOSTS",
    "hosts that may be read, comma-separated; *.HOST with its subdomains [default: all]",
    "allowed_domains",
)
BUDGETS = (
    limit("--max-steps N", "searches and page visits", "max_steps"),
    limit("--max-pages N", "pages read", "max_pages"),
    limit("--max-calls N", "model calls", "max_calls"),
    limit("--max-tokens N", "model tokens, read and written", "max_tokens"),
    limit("--max-cost USD", "model cost in US dollars", "max_cost_usd", float),
    limit("--max-minutes MIN", "working time in minutes", "max_seconds", minutes),
    limit(
        "--threshold P",
        "confidence from which a part of the question needs no further source, 0 to 1 or a percentage",
        "threshold",
        share,
    ),
    option(
        "--until review|budget",
        "run without stopping: until there is an answer to review, or until the budget is used",
        choices=("review", "budget"),
    ),
)
"""The budgets of a run, its confidence threshold and where it stops."""
SOURCES = (
    words_option(
        "--block HOSTS",
        "hosts that may not be read, with their subdomains, comma-separated",
        "blocked_domains",
    ),
    option("--since DAY", "pages published on or after this day, e.g. 2024-03-31"),
    option("--before DAY", "pages published before this day"),
    flag("--dated", "leave out pages without a date (with --since or --before)", dest="dated_only"),
    option("--language CODE", "pages in this language, e.g. en or sv"),
)
"""The options that choose sources."""
SEARCH_SOURCES = (
    *SOURCES,
    words_option(
        "--engine/--engines NAMES",
        f"use only these search engines, comma-separated ({', '.join(ENGINE_NAMES)})",
        "engines",
    ),
)
"""The same where the web is searched."""


def read_settings(args: Namespace, **more: Any) -> Settings:
    """The settings that were given, and `more`; what was not given is not set. Raises UsageError."""
    typed: dict[str, Any] = {}
    for name, value in vars(args).items():
        part, _, field = name.partition(".")
        if part in Settings.model_fields and value not in (None, ""):
            typed |= {part: typed.get(part, {}) | {field: value} if field else value}
    if "until" in typed:
        typed["mode"] = "auto"
    try:
        return Settings.model_validate({**typed, **more})
    except ValidationError as wrong:
        raise UsageError(f"a setting is not possible: {describe_faults(wrong)}") from None
