"""Options that several commands share, each declared once as the arguments of argparse's `add_argument`.

Host lists are parsed here; whether a setting is allowed is checked by `agent.actions.validation`."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable, Collection, Iterable
from math import isfinite
from pathlib import Path
from typing import Any, get_args

from agent.text.urls import host
from agent.types import ENGINE_NAMES, ReportLength, Settings

DEFAULTS = Settings()
_HOST = re.compile(
    r"(?P<name>(\*\.)?\w([\w.-]*\w)?)(:\d+)?\Z|\[?(?P<ipv6>[0-9a-f]*:[0-9a-f:]+)\]?\Z", re.IGNORECASE
)
_SEPARATORS = re.compile(r"[\s,]+")

Option = tuple[tuple[str, ...], dict[str, Any]]
"""The names of an option or argument, and what argparse is told of it."""


def option(*names: str, **about: Any) -> Option:
    """An option or argument of a command."""
    return names, about


def flag(name: str, help: str) -> Option:
    """An option without a value."""
    return option(name, action="store_true", help=help)


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


def join_hosts(values: Iterable[Iterable[str]]) -> list[str]:
    """The hosts of all values of an option."""
    return [host for value in values for host in value]


def amount(text: str) -> float:
    """A finite amount of money or minutes. Raises ArgumentTypeError."""
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not isfinite(value * 60):  # minutes are stored as seconds
        raise ArgumentTypeError("a budget must be finite: give a number from 0 up")
    return value


def share(text: str) -> float:
    """A share as typed: "0.8" or "80%". Raises ArgumentTypeError."""
    try:
        value = float(text.strip().removesuffix("%")) / (100 if text.strip().endswith("%") else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise ArgumentTypeError(f"“{text[:40]}” is not a share: give a number from 0 to 1, or a percentage")
    return value


def at_least(least: int) -> Callable[[str], int]:
    """The type of a whole number that is not below `least`."""

    def number(text: str) -> int:
        if (value := int(text)) < least:
            raise ArgumentTypeError(f"{value} is below {least}, the least")
        return value

    return number


def typed(**options: Any) -> dict[str, Any]:
    """Those of these options that were typed; the default of each is empty."""
    return {name: value for name, value in options.items() if value}


def choice(*names: str, choices: Collection[str], **about: Any) -> Option:
    """An option that takes one of these names."""
    return option(*names, choices=list(choices), **about)


QUESTION = option("question", metavar="QUESTION", help="the question, in quotes")
RUN_ID = option("run_id", metavar="RUN", help="id of the run; `runs` lists them")
WORLD = option(
    "--world",
    metavar="live|demo|DIR",
    default="",
    help="where to search and read: the web, the demo, or a folder of documents [default: live]",
)
MODEL = option(
    "--model",
    metavar="keyless|NAME",
    default="",
    help="the model to use [default: the configured one, else keyless]",
)
START = option(
    "--start", metavar="URL", action="append", default=[], help="a page to start from; repeat it for more"
)
INSTRUCTION = option("--instruction", metavar="TEXT", default="", help="how to search and how to answer")
ALLOW = option(
    "--allow",
    metavar="HOST …",
    action="append",
    type=parse_hosts,
    default=[],
    help="hosts that may be read, *.HOST with its subdomains; separate several with spaces or commas, "
    "or repeat the option [default: all]",
)
REPORT = choice(
    "--report",
    metavar="|".join(get_args(ReportLength)),
    default="",
    help="how long the answer is: a lead and what backs it, a standard answer, or a full report "
    "[default: standard]",
    choices=get_args(ReportLength),
)
JSON_FILE = option(
    "--json", dest="json_file", metavar="FILE", type=Path, help="write the whole result as JSON"
)
OUTPUT_FILES = (
    JSON_FILE,
    option(
        "--markdown", dest="markdown_file", metavar="FILE", type=Path, help="write the report as Markdown"
    ),
)
AS_JSON = option("--json", dest="as_json", action="store_true", help="print JSON")


def _budget(name: str, setting: str, text: str, metavar: str = "N", **more: Any) -> Option:
    default = getattr(DEFAULTS, setting) / (60 if setting == "max_seconds" else 1)
    return option(name, metavar=metavar, help=f"{text} (new run: {default:.0f})", **more)


BUDGETS = (
    _budget("--max-steps", "max_steps", "searches and page visits", type=int),
    _budget("--max-pages", "max_pages", "pages read", type=int),
    _budget("--max-calls", "max_calls", "model calls", type=int),
    _budget("--max-tokens", "max_tokens", "model tokens, read and written", type=int),
    _budget("--max-cost", "max_cost_usd", "model cost in US dollars", "USD", type=amount),
    _budget("--max-minutes", "max_seconds", "working time in minutes", "MIN", type=amount),
    option(
        "--threshold",
        metavar="P",
        type=share,
        help="confidence from which an answer goes to review, 0 to 1 or a percentage "
        f"(new run: {DEFAULTS.threshold:.2f})",
    ),
    choice(
        "--until",
        metavar="review|budget",
        choices=("review", "budget"),
        help="run without stopping: until there is an answer to review, or until the budget is used",
    ),
)
"""The budgets of a run, its confidence threshold and where it stops."""


def budget_settings(args: Namespace) -> dict[str, Any]:
    """The settings that were given with BUDGETS, by their names."""
    given = {
        **{name: getattr(args, name) for name in ("max_steps", "max_pages", "max_calls", "max_tokens")},
        "max_cost_usd": args.max_cost,
        "max_seconds": None if args.max_minutes is None else args.max_minutes * 60.0,
        "threshold": args.threshold,
        "until": args.until,
        "mode": "auto" if args.until else None,
    }
    return {name: value for name, value in given.items() if value is not None}


SOURCES = (
    option(
        "--block",
        metavar="HOST …",
        action="append",
        type=parse_hosts,
        default=[],
        help="hosts that may not be read, with their subdomains; separate several with spaces or commas, "
        "or repeat the option",
    ),
    option(
        "--since",
        metavar="DAY",
        default="",
        help="pages published on or after this day, e.g. 2024-03-31",
    ),
    option("--before", metavar="DAY", default="", help="pages published before this day"),
    flag("--dated", "leave out pages without a date (with --since or --before)"),
    option("--language", metavar="CODE", default="", help="pages in this language, e.g. en or sv"),
)
"""The options that choose sources."""
SEARCH_SOURCES = (
    *SOURCES,
    option(
        "--engine",
        "--engines",
        metavar="NAMES",
        action="append",
        default=[],
        help=f"use only these search engines, comma-separated ({', '.join(ENGINE_NAMES)})",
    ),
)
"""The same where the web is searched."""


def source_settings(args: Namespace) -> dict[str, Any]:
    """The settings that were given with SOURCES or SEARCH_SOURCES, by their names."""
    engines = [name.strip() for names in getattr(args, "engine", ()) for name in names.split(",")]
    return typed(
        blocked_domains=join_hosts(args.block),
        since=args.since,
        before=args.before,
        dated_only=args.dated,
        language=args.language,
        engines=list(filter(None, engines)),
    )
