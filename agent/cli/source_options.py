"""The options that choose sources: `--block`, `--since`, `--before`, `--dated`, `--language`, `--engine`.
Knows no command; what cannot be is told by `agent.actions.validation`."""

from __future__ import annotations

import argparse
from typing import Any

from agent.cli import domain_options
from agent.flows.shared.fact_view import ENGINE_BY_ACTION
from agent.types import Settings


def add_options(parser: argparse.ArgumentParser, *, engines: bool = False) -> None:
    """Adds them; `--engine` where something is searched for."""
    group = parser.add_argument_group("sources")
    domain_options.add_block_option(group)
    group.add_argument(
        "--since", default="", metavar="DAY", help="pages published on or after this day, e.g. 2024-03-31"
    )
    group.add_argument("--before", default="", metavar="DAY", help="pages published before this day")
    group.add_argument(
        "--dated", action="store_true", help="leave out pages without a date, too (with --since or --before)"
    )
    group.add_argument("--language", default="", metavar="CODE", help="pages in this language, e.g. en or sv")
    if engines:
        named = (
            f"ask only this search engine ({', '.join(ENGINE_BY_ACTION.values())}); give it again for more"
        )
        group.add_argument("--engine", action="append", default=[], metavar="NAME", help=named)


def chosen_settings(options: argparse.Namespace, former: Settings | None = None) -> dict[str, Any]:
    """What the options ask for, as fields of the settings; of a conversation that goes on, what it had where
    they ask for nothing."""
    asked = {
        "blocked_domains": options.block,
        "since": options.since,
        "before": options.before,
        "dated_only": options.dated,
        "language": options.language,
        "engines": getattr(options, "engine", []),
    }
    return (
        asked if former is None else {name: value or getattr(former, name) for name, value in asked.items()}
    )
