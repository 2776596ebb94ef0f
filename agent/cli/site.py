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
    typed,
)
from agent.cli.output import drive_and_print, follow_up
from agent.engine.run_settings import normalize_settings
from agent.text.urls import complete_typed_url, host
from agent.types import Settings, SiteLimits
from agent.workbench import Workbench

DEFAULTS = SiteLimits()
N = int | None
PER_ROUND = "pages chosen in one round"
FRESH = "days for which a stored page is used without a request"
PAGE, LINKS = "characters of a page in a prompt", "links of a page in a prompt"
ADDRESS, CUT = "characters of an address in a prompt", "of these, kept free for the mark of a cut"


def _limit(field: str, option: str, text: str, *, least: int = 1) -> Any:
    help = f"{text} (new conversation: {getattr(DEFAULTS, field):,})"
    return typer.Option(option, metavar="N", min=least, help=help)


@dataclass(frozen=True)
class SiteLimitOptions:
    """The limits of `site`; what is not given is taken from the conversation that is continued."""

    max_pages: Annotated[N, _limit("max_pages", "--max-pages", "pages read")] = None
    max_iterations: Annotated[N, _limit("max_iterations", "--iterations", "rounds of reading a question")] = (
        None
    )
    max_urls_per_iteration: Annotated[N, _limit("max_urls_per_iteration", "--batch", PER_ROUND)] = None
    crawl_ahead: Annotated[
        N, _limit("crawl_ahead", "--ahead", "pages of one round, chosen or not", least=0)
    ] = None
    fresh_days: Annotated[N, _limit("fresh_days", "--fresh-days", FRESH, least=0)] = None
    content_max_chars: Annotated[N, _limit("content_max_chars", "--page-chars", PAGE, least=200)] = None
    max_links_per_page: Annotated[N, _limit("max_links_per_page", "--page-links", LINKS)] = None
    links_max_chars: Annotated[N, _limit("links_max_chars", "--url-chars", ADDRESS, least=20)] = None
    url_truncation_buffer: Annotated[N, _limit("url_truncation_buffer", "--url-buffer", CUT, least=3)] = None

    def limits(self) -> SiteLimits:
        """The limits that were given; the others are not set."""
        return SiteLimits(**{name: value for name, value in vars(self).items() if value is not None})


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
    world: World = "",
    model: Model = "",
    files: OutputFiles,
) -> int:
    """Ask and print the answer or the refusal; returns the exit code."""
    starts = [complete_typed_url(url) for url in start]
    start_hosts = list(dict.fromkeys(filter(None, map(host, starts))))
    fence: dict[str, Any] = (
        {"allowed_domains": parse_hosts(allow) if allow else start_hosts} if allow or not follow else {}
    )
    settings = Settings(
        flow="site",
        **typed(world=world, model=model, instruction=instruction),
        **fence,
        start_urls=starts,
        site=limits.limits(),
        **sources.settings(),
    )
    validation.check_new_run(question.strip(), normalize_settings(settings), (settings.flow,))
    bench = Workbench()
    if not follow:
        return drive_and_print(bench, bench.start(question, settings), files)
    return drive_and_print(bench, follow_up(bench, follow, question, settings), files)
