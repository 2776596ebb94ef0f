"""`site`: ask chosen websites, with follow-ups."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from agent.actions import validation
from agent.cli.options import (
    ALLOW,
    INSTRUCTION,
    MODEL,
    OUTPUT_FILES,
    QUESTION,
    SOURCES,
    START,
    WORLD,
    Option,
    at_least,
    join_hosts,
    option,
    source_settings,
    typed,
)
from agent.cli.output import drive_and_print, follow_up
from agent.engine.run_settings import normalize_settings
from agent.text.urls import complete_typed_url, host
from agent.types import Settings, SiteLimits
from agent.workbench import Workbench

DEFAULTS = SiteLimits()


def _limit(field: str, name: str, text: str, *, least: int = 1) -> Option:
    help = f"{text}, {least} or more (new conversation: {getattr(DEFAULTS, field):,})"
    return option(name, dest=field, metavar="N", type=at_least(least), help=help)


LIMITS = (
    _limit("max_pages", "--max-pages", "pages read"),
    _limit("max_iterations", "--iterations", "rounds of reading a question"),
    _limit("max_urls_per_iteration", "--batch", "pages chosen in one round"),
    _limit("crawl_ahead", "--ahead", "pages of one round, chosen or not", least=0),
    _limit("fresh_days", "--fresh-days", "days for which a stored page is used without a request", least=0),
    _limit("content_max_chars", "--page-chars", "characters of a page in a prompt", least=200),
    _limit("max_links_per_page", "--page-links", "links of a page in a prompt"),
    _limit("links_max_chars", "--url-chars", "characters of an address in a prompt", least=20),
    _limit("url_truncation_buffer", "--url-buffer", "of these, kept free for the mark of a cut", least=3),
)
"""The limits of `site`; what is not given is taken from the conversation that is continued."""
ARGUMENTS = (
    QUESTION,
    (START[0], START[1] | {"required": True}),
    (
        ALLOW[0],
        ALLOW[1]
        | {
            "help": "hosts that may be read, *.HOST with its subdomains; '' for any host "
            "[default: the hosts of the start pages]"
        },
    ),
    *SOURCES,
    INSTRUCTION,
    *LIMITS,
    option(
        "--follow",
        metavar="RUN",
        default="",
        help="continue the conversation of this run and reuse its pages",
    ),
    WORLD,
    MODEL,
    *OUTPUT_FILES,
)


def run(args: Namespace) -> int:
    """Ask and print the answer or the refusal; returns the exit code."""
    starts = [complete_typed_url(url) for url in args.start]
    start_hosts = list(dict.fromkeys(filter(None, map(host, starts))))
    fence: dict[str, Any] = {}
    if args.allow or not args.follow:
        fence["allowed_domains"] = join_hosts(args.allow) if args.allow else start_hosts
    limits = {name: getattr(args, name, None) for name in SiteLimits.model_fields}
    settings = Settings(
        flow="site",
        **typed(world=args.world, model=args.model, instruction=args.instruction),
        **fence,
        start_urls=starts,
        site=SiteLimits(**{name: value for name, value in limits.items() if value is not None}),
        **source_settings(args),
    )
    validation.check_new_run(args.question.strip(), normalize_settings(settings), (settings.flow,))
    bench = Workbench()
    if not args.follow:
        return drive_and_print(bench, bench.start(args.question, settings), args)
    return drive_and_print(bench, follow_up(bench, args.follow, args.question, settings), args)
