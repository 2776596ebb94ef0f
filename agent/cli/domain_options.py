"""The options `--allow HOST…` and `--block HOST…`: several hosts after one name, and the question behind them
left alone. Knows no command."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence

from agent.text.urls import host

ALLOW_OPTION, BLOCK_OPTION = "--allow", "--block"
_HOST = re.compile(
    r"(?P<name>(\*\.)?\w([\w.-]*\w)?)(:\d+)?\Z|\[?(?P<six>[0-9a-f]*:[0-9a-f:]+)\]?\Z", re.IGNORECASE
)
_UNMISTAKABLE_HOST = re.compile(r"(\*\.)?[\w-]+(\.[\w-]+)+(:\d+)?\Z|localhost\Z|https?://\S+\Z")
_SEPARATORS = re.compile(r"[\s,]+")


class HostListParser(argparse.ArgumentParser):
    """A parser whose `--allow A B "QUESTION"` takes A and B, and leaves the question; `--block` likewise."""

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]
        """As argparse does, once hosts that follow each other have an option of their own."""
        return super().parse_known_args(split_host_arguments(args) if args is not None else None, namespace)


def add_allow_option(parser: argparse.ArgumentParser, default: list[str] | None, otherwise: str) -> None:
    """Adds `--allow`; `otherwise` says in the help what holds without it. `--allow ''` gives []."""
    told = f"hosts that may be read, *.HOST with its subdomains; several with blanks or commas between, or given again ({otherwise})"
    parser.add_argument(
        ALLOW_OPTION, action="extend", type=parse_hosts, default=default, metavar="HOST", help=told
    )


def add_block_option(parser: argparse._ActionsContainer) -> None:
    """Adds `--block`."""
    told = "hosts that may not be read, each with all below it; several with blanks or commas between, or given again"
    parser.add_argument(
        BLOCK_OPTION, action="extend", type=parse_hosts, default=[], metavar="HOST", help=told
    )


def split_host_arguments(arguments: Sequence[str]) -> list[str]:
    """The arguments with `--allow` (or `--block`) before each of the hosts that follow it.

    Its first value is taken as it is; those behind it only where they can be nothing but hosts ("a.example",
    "*.a.example")."""
    told: list[str] = []
    follows, option = 0, ALLOW_OPTION
    for n, argument in enumerate(arguments):
        if argument == "--":
            return [*told, *arguments[n:]]
        if argument.partition("=")[0] in (ALLOW_OPTION, BLOCK_OPTION):
            option = argument.partition("=")[0]
            follows = 1 if argument == option else 2
        elif follows and not argument.startswith("-"):
            hosts = follows == 1 or all(
                map(_UNMISTAKABLE_HOST.match, filter(None, _SEPARATORS.split(argument.strip())))
            )
            if follows == 2 and hosts:
                told.append(option)
            follows = 2 if hosts else 0
        else:
            follows = 0
        told.append(argument)
    return told


def parse_hosts(value: str) -> list[str]:
    """The hosts of one value, lowercased: names, `*.name`s, or the hosts of addresses. Raises
    ArgumentTypeError for what is none."""
    return [_parse_host(entry) for entry in _SEPARATORS.split(value.strip()) if entry]


def _parse_host(entry: str) -> str:
    match = _HOST.match(host(entry) if "://" in entry else entry.split("/")[0])
    if not match:
        raise argparse.ArgumentTypeError(
            f"“{entry}” is no host: name one like example.org or *.example.org (the question goes in quotes)"
        )
    return str(match["name"] or match["six"]).lower()
