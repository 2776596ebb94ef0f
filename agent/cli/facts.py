"""`facts`: list the facts of a run with their quotes."""

from __future__ import annotations

from typing import Annotated

import typer

from agent.answering import fact_view
from agent.answering.fact_filter import FACT_STATUSES, FactFilter, fact_statuses, filter_facts
from agent.cli.options import AsJson, RunId, choose_from
from agent.cli.output import write_json, write_stderr, write_stdout
from agent.export.escaping import to_one_line
from agent.text.urls import site
from agent.types import Fact
from agent.types.facts import FLAG_NOTE
from agent.workbench import Workbench


def run(
    run_id: RunId,
    *,
    find: Annotated[str, typer.Option(metavar="WORDS", help="only those with all these words")] = "",
    source: Annotated[str, typer.Option(metavar="SITE|URL", help="only those of this site or page")] = "",
    step: Annotated[
        int, typer.Option(metavar="N", help="only those found by this step of the ledger", show_default="any")
    ] = -1,
    status: Annotated[
        str,
        typer.Option(
            metavar="STATUS",
            help=f"only those with this status: {', '.join(FACT_STATUSES)}",
            **choose_from(FACT_STATUSES),
        ),
    ] = "",
    as_json: AsJson = False,
) -> int:
    """Print the facts, newest first; returns the exit code."""
    state = Workbench().snapshot(run_id).state
    found = filter_facts(
        fact_view.all_facts(state), FactFilter(find, source, frozenset({step} - {-1}), status)
    )
    if as_json:
        write_json([fact.model_dump(mode="json") | {"marks": fact_statuses(fact)} for fact in found])
        return 0
    for fact in found:
        write_stdout("\n".join(format_fact(fact)))
    write_stderr(f"{len(found):,} of {len(state.facts):,} facts")
    return 0


def format_fact(fact: Fact) -> list[str]:
    """A fact for a person: its status and statement, then its quote."""
    origin = site(fact.url) or fact.origin
    lines = [
        f"{fact.id}  ledger step {fact.step}  {', '.join(fact_statuses(fact))}  {origin}",
        f"    {to_one_line(fact.statement)}",
    ]
    lines += [f"    “{to_one_line(fact.quote)}”"] if fact.quote != fact.statement else []
    lines += [f"    {FLAG_NOTE}: “{to_one_line(fact.flagged)}”"] if fact.flagged else []
    return lines + ([f"    before its correction: {to_one_line(fact.former)}"] if fact.former else [])
