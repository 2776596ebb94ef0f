"""`trust`: how far domains are trusted, for whatever is read from now on. Prints what was said; with a run,
its sources."""

from __future__ import annotations

import argparse

from agent.actions import trust
from agent.cli import output
from agent.errors import UsageError
from agent.evidence.source_trust import parse_trust, trust_label
from agent.flows.shared.trust_changes import group_by_domain
from agent.text.plurals import format_count
from agent.types import Status
from agent.workbench import Workbench


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument(
        "domain",
        nargs="?",
        default="",
        metavar="DOMAIN",
        help="a domain like example.org; without one the list is printed",
    )
    parser.add_argument(
        "value",
        nargs="?",
        default="",
        metavar="VALUE",
        help="not at all, low, ordinary, high, fully, or a number from 0 to 1",
    )
    parser.add_argument(
        "--because", default="", metavar="REASON", help="why: it is shown wherever the trust counts"
    )
    parser.add_argument(
        "--forget",
        default="",
        metavar="DOMAIN",
        help="take your word back: the signs of each page decide again",
    )
    parser.add_argument(
        "--run",
        default="",
        metavar="RUN",
        help="within this run only; without a domain, list the run's sources",
    )


def run(options: argparse.Namespace) -> int:
    """Set, forget or list."""
    if options.forget and options.domain:
        raise UsageError("either trust a domain or --forget one")
    if options.domain and not options.value:
        raise UsageError(
            f"say how far {options.domain[:80]} is trusted: not at all, low, ordinary, high, fully, or a number from 0 to 1"
        )
    bench = Workbench()
    if options.run:
        return _trust_in_run(bench, options)
    if options.forget:
        trust.delete_trust_rating(bench, options.forget)
    elif options.domain:
        trust.set_trust_rating(bench, options.domain, parse_trust(options.value), options.because)
    said = trust.list_trust_ratings(bench)
    for one in said:
        output.write_stdout(f"{one.domain:<32} {one.value:.2f}  {trust_label(one.value):<11} {one.reason}")
    if not said:
        output.write_stdout("nothing was said of any domain: each page is trusted by its signs")
    return 0


def _trust_in_run(bench: Workbench, options: argparse.Namespace) -> int:
    if domain := options.forget or options.domain:
        value = trust.RESET_TRUST if options.forget else parse_trust(options.value)
        trust.set_trust_in_run(bench, options.run, domain, value, options.because)
        if bench.snapshot(options.run).run.status is Status.RUNNING:  # its answer is written anew
            bench.drive(options.run)
    for one in group_by_domain(bench.snapshot(options.run).state):
        copies = f" (one voice with {', '.join(one.copies)})" if one.copies else ""
        told = f"{format_count(len(one.pages), 'page')}, {format_count(len(one.facts), 'fact')}{copies}"
        why = f"; {', '.join(one.reasons)}" if one.reasons else ""
        output.write_stdout(f"{one.name:<32} {one.trust:.2f}  {trust_label(one.trust):<11} {told}{why}")
    return 0
