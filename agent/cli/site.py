"""`site`: ask chosen websites, with follow-ups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

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
from agent.cli.output import drive_and_print
from agent.engine.run_settings import normalize_settings
from agent.text.urls import complete_typed_url, host
from agent.types import Settings, SiteLimits
from agent.workbench import Workbench

DEFAULTS = SiteLimits()


def _limit(field: str, text: str, option: str, *, least: int = 1) -> Any:
    help = f"{text} (new conversation: {getattr(DEFAULTS, field):,})"
    return typer.Option(option, metavar="N", min=least, help=help)


@dataclass(frozen=True)
class SiteLimitOptions:
    """The limits of seed 000; what is not given is taken from the conversation that is continued."""

    max_pages: Annotated[int | None, _limit("max_pages", "pages read", "--max-pages")] = None
    max_iterations: Annotated[
        int | None, _limit("max_iterations", "rounds of reading for one question", "--iterations")
    ] = None
    max_urls_per_iteration: Annotated[
        int | None, _limit("max_urls_per_iteration", "pages chosen in one round", "--batch")
    ] = None
    crawl_ahead: Annotated[
        int | None, _limit("crawl_ahead", "pages of one round in all, chosen or not", "--ahead", least=0)
    ] = None
    fresh_days: Annotated[
        int | None,
        _limit(
            "fresh_days", "days for which a stored page is used without a request", "--fresh-days", least=0
        ),
    ] = None
    content_max_chars: Annotated[
        int | None, _limit("content_max_chars", "characters of a page in a prompt", "--page-chars", least=200)
    ] = None
    max_links_per_page: Annotated[
        int | None, _limit("max_links_per_page", "links of a page in a prompt", "--page-links")
    ] = None
    links_max_chars: Annotated[
        int | None, _limit("links_max_chars", "characters of an address in a prompt", "--url-chars", least=20)
    ] = None
    url_truncation_buffer: Annotated[
        int | None,
        _limit("url_truncation_buffer", "of these, kept free for the mark of a cut", "--url-buffer", least=3),
    ] = None

    def limits(self, previous: SiteLimits = DEFAULTS) -> SiteLimits:
        """The limits, with those that are not given as in `previous`."""
        given = {name: value for name, value in vars(self).items() if value is not None}
        return previous.replace(**given)


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
    limits: SiteLimitOptions,
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
        site=limits.limits(),
        **sources.settings(),
    )
    validation.check_new_run(question.strip(), normalize_settings(settings), (settings.flow,))
    bench = Workbench()
    if not follow:
        return drive_and_print(bench, bench.start(question, settings), files)
    previous = bench.store.ledger.get(follow).settings
    settings = settings.replace(site=limits.limits(previous.site), **sources.settings(previous))
    return drive_and_print(bench, bench.follow_up(follow, question, settings), files)
