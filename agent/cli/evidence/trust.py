"""`trust`: how far domains are trusted by every run from now on; with --run, by one run."""

from __future__ import annotations

from typing import Annotated

import typer

from agent.actions import trust
from agent.actions.trust import group_by_domain
from agent.cli.output import finish_edit, write_stdout
from agent.errors import UsageError
from agent.evidence.source_trust import parse_trust, trust_label
from agent.text.plurals import format_count
from agent.workbench import Workbench

VALUES = "not at all, low, ordinary, high, fully, or a number from 0 to 1"


def run(
    domain: Annotated[
        str, typer.Argument(metavar="DOMAIN", help="a domain like example.org; none: print the ratings")
    ] = "",
    value: Annotated[str, typer.Argument(metavar="VALUE", help=VALUES)] = "",
    *,
    because: Annotated[
        str, typer.Option(metavar="REASON", help="the reason, shown wherever the rating is used")
    ] = "",
    forget: Annotated[
        str, typer.Option(metavar="DOMAIN", help="delete a rating: the signs of each page decide again")
    ] = "",
    run_id: Annotated[
        str,
        typer.Option("--run", metavar="RUN", help="for this run only; without a domain, list its sources"),
    ] = "",
) -> int:
    """Set, forget or list; returns the exit code."""
    if forget and domain:
        raise UsageError("either trust a domain or --forget one")
    if domain and not value:
        raise UsageError(f"say how far {domain[:80]} is trusted: {VALUES}")
    bench = Workbench()
    if run_id:
        if forget or domain:
            rating = trust.RESET_TRUST if forget else parse_trust(value)
            trust.set_trust_in_run(bench, run_id, forget or domain, rating, because)
            finish_edit(bench, run_id)
        return _list_run_sources(bench, run_id)
    if forget:
        trust.delete_trust_rating(bench, forget)
    elif domain:
        trust.set_trust_rating(bench, domain, parse_trust(value), because)
    ratings = trust.list_trust_ratings(bench)
    for one in ratings:
        write_stdout(f"{one.domain:<32} {one.value:.2f}  {trust_label(one.value):<11} {one.reason}")
    if not ratings:
        write_stdout("no domain is rated: each page is trusted by its signs")
    return 0


def _list_run_sources(bench: Workbench, run_id: str) -> int:
    for one in group_by_domain(bench.snapshot(run_id).state):
        copies = f" (one source with {', '.join(one.copies)})" if one.copies else ""
        counts = f"{format_count(len(one.pages), 'page')}, {format_count(len(one.facts), 'fact')}{copies}"
        reasons = f"; {', '.join(one.reasons)}" if one.reasons else ""
        write_stdout(f"{one.name:<32} {one.trust:.2f}  {trust_label(one.trust):<11} {counts}{reasons}")
    return 0
