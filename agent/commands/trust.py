"""`trust`: how far domains are trusted, for whatever is read from now on. Prints what was said; with a run, its sources."""

from __future__ import annotations

import argparse

from agent import trusting
from agent.commands import telling
from agent.errors import UsageError
from agent.evidence.trust import in_words, value_of
from agent.flows.trusting import by_domain
from agent.types import Status
from agent.wording import counted
from agent.workbench import Workbench


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("domain", nargs="?", default="", metavar="DOMAIN", help="a domain like example.org; without one the list is printed")
    parser.add_argument("value", nargs="?", default="", metavar="VALUE", help="not at all, low, ordinary, high, fully, or a number from 0 to 1")
    parser.add_argument("--because", default="", metavar="REASON", help="why: it is shown wherever the trust counts")
    parser.add_argument("--forget", default="", metavar="DOMAIN", help="take your word back: the signs of each page decide again")
    parser.add_argument("--run", default="", metavar="RUN", help="within this run only; without a domain, list the run's sources")


def run(options: argparse.Namespace) -> int:
    """Set, forget or list."""
    if options.forget and options.domain:
        raise UsageError("either trust a domain or --forget one")
    if options.domain and not options.value:
        raise UsageError(f"say how far {options.domain[:80]} is trusted: not at all, low, ordinary, high, fully, or a number from 0 to 1")
    bench = Workbench()
    if options.run:
        return _in_run(bench, options)
    if options.forget:
        trusting.forget(bench, options.forget)
    elif options.domain:
        trusting.trust(bench, options.domain, value_of(options.value), options.because)
    said = trusting.trusts(bench)
    for one in said:
        telling.tell(f"{one.domain:<32} {one.value:.2f}  {in_words(one.value):<11} {one.reason}")
    if not said:
        telling.tell("nothing was said of any domain: each page is trusted by its signs")
    return 0


def _in_run(bench: Workbench, options: argparse.Namespace) -> int:
    if domain := options.forget or options.domain:
        value = trusting.BACK if options.forget else value_of(options.value)
        trusting.trust_in_run(bench, options.run, domain, value, options.because)
        if bench.view(options.run).run.status is Status.RUNNING:  # its answer is written anew
            bench.drive(options.run)
    for one in by_domain(bench.view(options.run).state):
        copies = f" (one voice with {', '.join(one.copies)})" if one.copies else ""
        told = f"{counted(len(one.pages), 'page')}, {counted(len(one.facts), 'fact')}{copies}"
        why = f"; {', '.join(one.reasons)}" if one.reasons else ""
        telling.tell(f"{one.name:<32} {one.trust:.2f}  {in_words(one.trust):<11} {told}{why}")
    return 0
