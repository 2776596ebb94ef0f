"""The options that set the budgets of a run and how far it goes, the same for every command that starts
one."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from math import inf, isfinite
from typing import Any

from agent.types import Settings

UNTIL_CHOICES = ("review", "budget")
"""Where a run without a screen can end by itself; at a decision or a conflict somebody must be there."""


def parse_amount(text: str) -> float:
    """A number as it is typed, with an end. Raises ArgumentTypeError."""
    try:
        value = float(text)
    except ValueError:
        value = inf
    if not isfinite(value * 60):  # minutes are kept as seconds
        raise argparse.ArgumentTypeError(f"“{text[:40]}” is no budget: give a number from 0 up")
    return value


BUDGET_OPTIONS: dict[str, tuple[str, Callable[[str], float], str, str]] = {
    "max_steps": ("--max-steps", int, "N", "searches and page visits"),
    "max_pages": ("--max-pages", int, "N", "pages read"),
    "max_calls": ("--max-calls", int, "N", "model calls"),
    "max_tokens": ("--max-tokens", int, "N", "tokens of the model, read and written"),
    "max_cost_usd": ("--max-cost", parse_amount, "USD", "what the model may cost, in US dollars"),
    "max_seconds": ("--max-minutes", parse_amount, "MIN", "working time in minutes"),
}
"""Each budget's setting with its option, kind, placeholder and meaning. Minutes are told, seconds are
kept."""


def add_options(parser: argparse.ArgumentParser, *, plain: bool = True) -> None:
    """The six budgets and --until; `plain`: their defaults are those of a new run (else: as they were)."""
    usual = Settings()
    for setting, (option, kind, meta, about) in BUDGET_OPTIONS.items():
        value = getattr(usual, setting) / (60 if setting == "max_seconds" else 1)
        told = f"{about} (default: {value:.0f})" if plain else about
        parser.add_argument(option, type=kind, default=None, dest=setting, metavar=meta, help=told)
    least = f"confidence from which an answer goes to review, 0 to 1 (default: {usual.threshold:.2f})"
    parser.add_argument(
        "--threshold",
        type=parse_share,
        default=None,
        metavar="P",
        help=least if plain else least.split(" (")[0],
    )
    parser.add_argument(
        "--until",
        choices=UNTIL_CHOICES,
        help="how far it goes by itself: to the answer (review), or until all of its budget is used",
    )


def parse_share(text: str) -> float:
    """A share as it is typed: "0.8" or "80%". Raises ArgumentTypeError."""
    try:
        value = float(text.strip().removesuffix("%")) / (100 if text.strip().endswith("%") else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(
            f"“{text[:40]}” is no share: give a number from 0 to 1, or a percentage"
        )
    return value


def chosen_settings(options: argparse.Namespace) -> dict[str, Any]:
    """The settings that were named."""
    named = {
        name: getattr(options, name)
        for name in (*BUDGET_OPTIONS, "threshold", "until")
        if getattr(options, name) is not None
    }
    if "max_seconds" in named:
        named["max_seconds"] *= 60.0
    return named | ({"mode": "auto"} if "until" in named else {})
