"""`flow`: draw a flow as Mermaid."""

from __future__ import annotations

from typing import Annotated

import typer

from agent.cli.options import choose_from
from agent.cli.output import write_stdout
from agent.flows import FLOWS, draw_flow


def run(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help=f"one of {', '.join(sorted(FLOWS))}", **choose_from(sorted(FLOWS))
        ),
    ],
) -> int:
    """Print the drawing; returns the exit code."""
    write_stdout(draw_flow(FLOWS[name]), end="")
    return 0
