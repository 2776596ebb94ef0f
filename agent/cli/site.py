"""`site`: ask chosen websites, with follow-ups."""

from __future__ import annotations

from typing import Annotated

import typer

from agent.actions import validation
from agent.cli.options import (
    Instruction,
    Model,
    OutputFiles,
    Question,
    SourceOptions,
    Start,
    World,
    parse_hosts,
)
from agent.cli.output import check_network, drive_and_print
from agent.engine.run_settings import normalize_settings
from agent.text.urls import complete_typed_url, host
from agent.types import Settings
from agent.workbench import Workbench


def _check_hosts(values: list[str]) -> list[str]:
    parse_hosts(values)
    return values  # as typed: an empty value differs from none


def run(
    question: Question,
    *,
    start: Start,
    allow: Annotated[
        list[str],
        typer.Option(
            metavar="HOST …",
            callback=_check_hosts,
            help="hosts that may be read, *.HOST with its subdomains; '' for any host",
            show_default="the hosts of the start pages",
        ),
    ] = [],  # noqa: B006 - typer reads the default
    sources: SourceOptions,
    instruction: Instruction = "",
    follow: Annotated[
        str, typer.Option(metavar="RUN", help="continue the conversation of this run and reuse its pages")
    ] = "",
    world: World = "live",
    model: Model = "auto",
    files: OutputFiles,
) -> int:
    """Ask and print the answer or the refusal; returns the exit code."""
    starts = [complete_typed_url(url) for url in start]
    start_hosts = list(dict.fromkeys(filter(None, map(host, starts))))
    settings = Settings(
        flow="site",
        world=world,
        model=model,
        start_urls=starts,
        allowed_domains=parse_hosts(allow) if allow else start_hosts,
        instruction=instruction,
        **sources.settings(),
    )
    validation.check_new_run(question.strip(), normalize_settings(settings), (settings.flow,))
    bench = Workbench()
    check_network(bench, world)
    if not follow:
        return drive_and_print(bench, bench.start(question, settings), files)
    previous = bench.store.ledger.get(follow).settings
    settings = settings.model_copy(update=sources.settings(previous))
    return drive_and_print(bench, bench.follow_up(follow, question, settings), files)
