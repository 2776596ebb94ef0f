"""Parses a command line as `agent.cli.main` does, without running the command."""

from __future__ import annotations

from typing import Any

from agent.cli.main import build_parser


def parse(name: str, *arguments: str) -> dict[str, Any]:
    """The command's parameters by name. Raises SystemExit for what cannot be parsed."""
    return vars(build_parser(name).parse_args(arguments))
