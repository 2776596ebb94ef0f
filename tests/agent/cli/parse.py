"""Parses a command line as `agent.cli.main` does, without running the command."""

from __future__ import annotations

from typing import Any

from agent.cli.main import COMMANDS, LazyCommand


def command(name: str) -> Any:
    """The real command of that name."""
    return LazyCommand(name, *COMMANDS[name]).load()


def parse(name: str, *arguments: str) -> dict[str, Any]:
    """The command's parameters by name. Raises typer.TyperException for what cannot be parsed."""
    return dict(command(name).make_context(name, list(arguments)).params)
