"""Options that several commands share, each declared once as a typer type; related ones form a dataclass.

A command takes such a dataclass as one parameter (`agent.cli.main` expands it into options). Host lists are
parsed here; whether a setting is allowed is checked by `agent.actions.validation`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from agent.errors import UsageError
from agent.text.urls import host
from agent.types import ENGINE_NAMES, ReportLength, Settings

DEFAULTS = Settings()
_HOST = re.compile(
    r"(?P<name>(\*\.)?\w([\w.-]*\w)?)(:\d+)?\Z|\[?(?P<ipv6>[0-9a-f]*:[0-9a-f:]+)\]?\Z", re.IGNORECASE
)
_SEPARATORS = re.compile(r"[\s,]+")


def parse_hosts(values: Iterable[str]) -> list[str]:
    """The hosts in these values, lowercased: names, `*.name`s, hosts of URLs. Raises BadParameter."""
    return [_parse_host(entry) for value in values for entry in _SEPARATORS.split(value.strip()) if entry]


def _parse_host(entry: str) -> str:
    match = _HOST.match(host(entry) if "://" in entry else entry.split("/")[0])
    if not match:
        raise typer.BadParameter(
            f"“{entry}” is not a host: use one like example.org or *.example.org (quote the question)"
        )
    return str(match["name"] or match["ipv6"]).lower()


def choose_from(names: Iterable[str]) -> dict[str, Any]:
    """The arguments of a typer option or argument that restrict it to these names and complete them."""
    known = list(names)

    def check(value: str | None) -> str | None:
        if value and value not in known:
            raise typer.BadParameter(f"“{value[:40]}” is not one of {', '.join(known)}")
        return value

    return {"callback": check, "autocompletion": lambda: known}


def check_amount(value: float | None) -> float | None:
    """A finite amount of money or minutes. Raises BadParameter."""
    if value is not None and not isfinite(value * 60):  # minutes are stored as seconds
        raise typer.BadParameter("a budget must be finite: give a number from 0 up")
    return value


def parse_share(text: str | None) -> float | None:
    """A share as typed: "0.8" or "80%"; None for None. Raises BadParameter."""
    if text is None:
        return None
    try:
        value = float(text.strip().removesuffix("%")) / (100 if text.strip().endswith("%") else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise typer.BadParameter(f"“{text[:40]}” is not a share: give a number from 0 to 1, or a percentage")
    return value


def typed(**options: Any) -> dict[str, Any]:
    """Those of these options that were typed; the default of each is empty."""
    return {name: value for name, value in options.items() if value}


def require_one(**given: object) -> None:
    """Raises UsageError unless exactly one of these options is given."""
    names = [f"--{name.replace('_', '-')}" for name in given]
    if sum(value is not None and value is not False for value in given.values()) != 1:
        raise UsageError(f"give exactly one of {', '.join(names)}")


Question = Annotated[str, typer.Argument(metavar="QUESTION", help="the question, in quotes")]
RunId = Annotated[str, typer.Argument(metavar="RUN", help="id of the run; `runs` lists them")]
World = Annotated[
    str,
    typer.Option(
        metavar="live|demo|DIR",
        help="where to search and read: the web, the demo, or a folder of documents",
        show_default="live",
    ),
]
Model = Annotated[
    str,
    typer.Option(
        metavar="keyless|NAME", help="the model to use", show_default="the configured one, else keyless"
    ),
]
Start = Annotated[list[str], typer.Option(metavar="URL", help="a page to start from; repeat it for more")]
Instruction = Annotated[str, typer.Option(metavar="TEXT", help="how to search and how to answer")]
Allow = Annotated[
    list[str],
    typer.Option(
        metavar="HOST …",
        callback=parse_hosts,
        help="hosts that may be read, *.HOST with its subdomains; separate several with spaces or commas, "
        "or repeat the option [default: all]",
    ),
]
ReportOption = Annotated[
    str,
    typer.Option(
        metavar="|".join(get_args(ReportLength)),
        help="how long the answer is: a lead and what backs it, a standard answer, or a full report",
        show_default="standard",
        **choose_from(get_args(ReportLength)),
    ),
]
JsonFile = Annotated[
    Path | None, typer.Option("--json", metavar="FILE", help="write the whole result as JSON")
]
MarkdownFile = Annotated[
    Path | None, typer.Option("--markdown", metavar="FILE", help="write the report as Markdown")
]
AsJson = Annotated[bool, typer.Option("--json", help="print JSON")]


def _budget(setting: str, text: str, metavar: str = "N", **more: Any) -> Any:
    default = getattr(DEFAULTS, setting) / (60 if setting == "max_seconds" else 1)
    return typer.Option(metavar=metavar, help=f"{text} (new run: {default:.0f})", **more)


@dataclass(frozen=True)
class BudgetOptions:
    """The budgets of a run, its confidence threshold and where it stops."""

    max_steps: Annotated[int | None, _budget("max_steps", "searches and page visits")] = None
    max_pages: Annotated[int | None, _budget("max_pages", "pages read")] = None
    max_calls: Annotated[int | None, _budget("max_calls", "model calls")] = None
    max_tokens: Annotated[int | None, _budget("max_tokens", "model tokens, read and written")] = None
    max_cost: Annotated[
        float | None, _budget("max_cost_usd", "model cost in US dollars", "USD", callback=check_amount)
    ] = None
    max_minutes: Annotated[
        float | None, _budget("max_seconds", "working time in minutes", "MIN", callback=check_amount)
    ] = None
    threshold: Annotated[
        str | None,
        typer.Option(
            metavar="P",
            help="confidence from which an answer goes to review, 0 to 1 or a percentage "
            f"(new run: {DEFAULTS.threshold:.2f})",
        ),
    ] = None
    until: Annotated[
        str | None,
        typer.Option(
            metavar="review|budget",
            help="run without stopping: until there is an answer to review, or until the budget is used",
            **choose_from(("review", "budget")),
        ),
    ] = None

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that were given, by their names. Raises BadParameter."""
        given = {
            **{name: getattr(self, name) for name in ("max_steps", "max_pages", "max_calls", "max_tokens")},
            "max_cost_usd": self.max_cost,
            "max_seconds": None if self.max_minutes is None else self.max_minutes * 60.0,
            "threshold": parse_share(self.threshold),
            "until": self.until,
            "mode": "auto" if self.until else None,
        }
        return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True)
class SourceOptions:
    """The options that choose sources."""

    block: Annotated[
        list[str],
        typer.Option(
            metavar="HOST …",
            callback=parse_hosts,
            help="hosts that may not be read, with their subdomains; separate several with spaces or commas, "
            "or repeat the option",
        ),
    ] = field(default_factory=list)
    since: Annotated[
        str, typer.Option(metavar="DAY", help="pages published on or after this day, e.g. 2024-03-31")
    ] = ""
    before: Annotated[str, typer.Option(metavar="DAY", help="pages published before this day")] = ""
    dated: Annotated[
        bool, typer.Option("--dated", help="leave out pages without a date (with --since or --before)")
    ] = False
    language: Annotated[str, typer.Option(metavar="CODE", help="pages in this language, e.g. en or sv")] = ""

    def settings(self) -> dict[str, Any]:
        """The settings that were given, by their names."""
        return typed(
            blocked_domains=self.block,
            since=self.since,
            before=self.before,
            dated_only=self.dated,
            language=self.language,
        )


@dataclass(frozen=True)
class SearchOptions(SourceOptions):
    """The same where the web is searched."""

    engine: Annotated[
        list[str],
        typer.Option(
            "--engine",
            "--engines",
            metavar="NAMES",
            help=f"use only these search engines, comma-separated ({', '.join(ENGINE_NAMES)})",
        ),
    ] = field(default_factory=list)

    def settings(self) -> dict[str, Any]:
        """The settings that were given, by their names."""
        engines = [name.strip() for names in self.engine for name in names.split(",") if name.strip()]
        return super().settings() | typed(engines=engines)


@dataclass(frozen=True)
class OutputFiles:
    """The files that a driven run is written to."""

    json_file: JsonFile = None
    markdown_file: MarkdownFile = None
