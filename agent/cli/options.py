"""A command with its options. Options that several share are declared here, with the settings that they give.

Host lists are parsed here; whether a setting is allowed is checked by `agent.actions.validation`."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from operator import attrgetter
from pathlib import Path
from typing import Any, get_args

from agent.text.plurals import clip
from agent.text.urls import host
from agent.types import ENGINE_NAMES, ReportLength, Settings

DEFAULTS = Settings()
_HOST = re.compile(
    r"(?P<name>(\*\.)?\w([\w.-]*\w)?)(:\d+)?\Z|\[?(?P<ipv6>[0-9a-f]*:[0-9a-f:]+)\]?\Z", re.IGNORECASE
)
_SEPARATORS = re.compile(r"[\s,]+")

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


def option(spec: str, help: str, default: Any = "", **about: Any) -> Option:
    """An option ("--max-pages N", or with a second name "--engine/--engines NAMES") or an argument
    ("question QUESTION"). A number as its default makes it a number, a list one that may be repeated."""
    names, _, metavar = spec.partition(" ")
    shape: dict[str, Any] = {"metavar": metavar, "default": default}
    if isinstance(default, int):
        shape["type"] = int
        help += f" [default: {default}]" if default else ""
    elif isinstance(default, list):
        shape["action"] = "append"
    return tuple(names.split("/")), {**shape, "help": help, **about}


def flag(name: str, help: str, **about: Any) -> Option:
    """An option without a value; None where it is not given."""
    return (name,), {"action": "store_true", "default": None, "help": help, **about}


def file_option(spec: str, help: str, **about: Any) -> Option:
    """An option or argument that names a file or folder."""
    return option(spec, help, None, type=Path, **about)


def parse_hosts(text: str) -> list[str]:
    """The hosts in a text, lowercased: names, `*.name`s, hosts of URLs. Raises ArgumentTypeError."""
    hosts = []
    for entry in filter(None, _SEPARATORS.split(text.strip())):
        match = _HOST.match(host(entry) if "://" in entry else entry.split("/")[0])
        if not match:
            raise ArgumentTypeError(
                f"“{entry}” is not a host: use one like example.org or *.example.org (quote the question)"
            )
        hosts.append(str(match["name"] or match["ipv6"]).lower())
    return hosts


def amount(text: str, unit: float = 1.0) -> float:
    """A finite amount of money, or of time in another unit. Raises ArgumentTypeError, ValueError."""
    if not isfinite(float(text) * unit):
        raise ArgumentTypeError("a budget must be finite: give a number from 0 up")
    return float(text) * unit


def share(text: str) -> float:
    """A share as typed: "0.8" or "80%". Raises ArgumentTypeError, ValueError."""
    value = float(text.strip().removesuffix("%")) / (100 if text.strip().endswith("%") else 1)
    if not 0 <= value <= 1:
        raise ArgumentTypeError(f"“{clip(text)}” is not a share: give a number from 0 to 1, or a percentage")
    return value


SEVERAL = "separate several with spaces or commas, or repeat the option"
QUESTION = option("question QUESTION", "the question, in quotes")
RUN_ID = option("run_id RUN", "id of the run; `runs` lists them")
WORLD = option(
    "--world live|demo|DIR",
    "where to search and read: the web, the demo, or a folder of documents [default: live]",
)
MODEL = option("--model keyless|NAME", "the model to use [default: the configured one, else keyless]")
START = option("--start URL", "a page to start from; repeat it for more", [])
INSTRUCTION = option("--instruction TEXT", "how to search and how to answer")
JSON_FILE = file_option("--json FILE", "write the whole result as JSON", dest="json_file")
MARKDOWN_FILE = file_option("--markdown FILE", "write the report as Markdown", dest="markdown_file")
OUTPUT_FILES = (JSON_FILE, MARKDOWN_FILE)
AS_JSON = flag("--json", "print JSON", dest="as_json")
REPORT = option(
    f"--report {'|'.join(get_args(ReportLength))}",
    "how long the answer is: a lead and what backs it, a standard answer, or a full report "
    "[default: standard]",
    choices=get_args(ReportLength),
)


def hosts_option(spec: str, help: str, dest: str) -> Option:
    """An option for hosts."""
    return option(spec, help, [], dest=dest, type=parse_hosts)


def limit(
    spec: str, help: str, dest: str, type: Callable[[str], float] = int, least: int | None = None
) -> Option:
    """An option for a limit of a run, by the name of its setting; a run that is continued keeps its own."""

    def read(text: str) -> float:
        if least is not None and (value := type(text)) < least:
            raise ArgumentTypeError(f"{value} is below {least}, the least")
        return type(text)

    read.__name__ = type.__name__  # argparse names it where a text is no number
    default = attrgetter(dest)(DEFAULTS) / (60 if dest == "max_seconds" else 1)
    told = help if least is None else f"{help}, {least} or more"
    return option(spec, f"{told} (new run: {default:,.0f})", None, dest=dest, type=read)


ALLOW = hosts_option(
    "--allow HOST …",
    f"hosts that may be read, *.HOST with its subdomains; {SEVERAL} [default: all]",
    "allowed_domains",
)
BUDGETS = (
    limit("--max-steps N", "searches and page visits", "max_steps"),
    limit("--max-pages N", "pages read", "max_pages"),
    limit("--max-calls N", "model calls", "max_calls"),
    limit("--max-tokens N", "model tokens, read and written", "max_tokens"),
    limit("--max-cost USD", "model cost in US dollars", "max_cost_usd", amount),
    limit("--max-minutes MIN", "working time in minutes", "max_seconds", lambda text: amount(text, 60)),
    option(
        "--threshold P",
        "confidence from which a part of the question needs no further source, 0 to 1 or a percentage "
        f"(new run: {DEFAULTS.threshold:.2f})",
        None,
        type=share,
    ),
    option(
        "--until review|budget",
        "run without stopping: until there is an answer to review, or until the budget is used",
        None,
        choices=("review", "budget"),
    ),
)
"""The budgets of a run, its confidence threshold and where it stops."""
SOURCES = (
    hosts_option(
        "--block HOST …", f"hosts that may not be read, with their subdomains; {SEVERAL}", "blocked_domains"
    ),
    option("--since DAY", "pages published on or after this day, e.g. 2024-03-31"),
    option("--before DAY", "pages published before this day"),
    flag("--dated", "leave out pages without a date (with --since or --before)", dest="dated_only"),
    option("--language CODE", "pages in this language, e.g. en or sv"),
)
"""The options that choose sources."""
SEARCH_SOURCES = (
    *SOURCES,
    option(
        "--engine/--engines NAMES",
        f"use only these search engines, comma-separated ({', '.join(ENGINE_NAMES)})",
        [],
        dest="engines",
        type=lambda names: list(filter(None, map(str.strip, names.split(",")))),
    ),
)
"""The same where the web is searched."""


def read_settings(args: Namespace, **more: Any) -> Settings:
    """The settings that were given, and `more`; what was not given is not set. An option is a setting by its
    `dest`: the name of a field, or "site.max_pages" for a field of a part."""
    typed: dict[str, Any] = {}
    for name, value in vars(args).items():
        part, _, field = name.partition(".")
        if part not in Settings.model_fields or value in ("", None, []):
            continue
        if isinstance(value, list):
            value = [one for several in value for one in several]
        if field:
            typed.setdefault(part, {})[field] = value
        else:
            typed[part] = value
    if typed.get("until"):
        typed["mode"] = "auto"
    return Settings.model_validate({**typed, **more})
