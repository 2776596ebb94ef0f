"""`site`: ask chosen websites, with follow-ups."""

from __future__ import annotations

from argparse import Namespace

from agent.actions import validation
from agent.cli.options import (
    INSTRUCTION,
    MODEL,
    OUTPUT_FILES,
    QUESTION,
    SOURCES,
    START,
    WORLD,
    Option,
    at_least,
    hosts_option,
    option,
    read_settings,
)
from agent.cli.output import drive_and_print, follow_up
from agent.engine.run_settings import normalize_settings
from agent.text.urls import complete_typed_url, host
from agent.types import SiteLimits
from agent.workbench import Workbench

DEFAULTS = SiteLimits()


def _limit(spec: str, help: str, field: str, least: int = 1) -> Option:
    told = f"{help}, {least} or more (new conversation: {getattr(DEFAULTS, field):,})"
    return option(spec, told, None, dest=f"site.{field}", type=at_least(least))


LIMITS = (
    _limit("--max-pages N", "pages read", "max_pages"),
    _limit("--iterations N", "rounds of reading a question", "max_iterations"),
    _limit("--batch N", "pages chosen in one round", "max_urls_per_iteration"),
    _limit("--ahead N", "pages of one round, chosen or not", "crawl_ahead", 0),
    _limit("--fresh-days N", "days for which a stored page is used without a request", "fresh_days", 0),
    _limit("--page-chars N", "characters of a page in a prompt", "content_max_chars", 200),
    _limit("--page-links N", "links of a page in a prompt", "max_links_per_page"),
    _limit("--url-chars N", "characters of an address in a prompt", "links_max_chars", 20),
    _limit("--url-buffer N", "of these, kept free for the mark of a cut", "url_truncation_buffer", 3),
)
"""The limits of `site`; what is not given is taken from the conversation that is continued."""
ARGUMENTS = (
    QUESTION,
    (START[0], START[1] | {"required": True}),
    hosts_option(
        "--allow HOST …",
        "hosts that may be read, *.HOST with its subdomains; '' for any host "
        "[default: the hosts of the start pages]",
        "allowed_domains",
    ),
    *SOURCES,
    INSTRUCTION,
    *LIMITS,
    option("--follow RUN", "continue the conversation of this run and reuse its pages"),
    WORLD,
    MODEL,
    *OUTPUT_FILES,
)


def run(args: Namespace) -> int:
    """Ask and print the answer or the refusal; returns the exit code."""
    settings = read_settings(args, flow="site", start_urls=[complete_typed_url(url) for url in args.start])
    if not args.follow and "allowed_domains" not in settings.model_fields_set:
        settings.allowed_domains = list(dict.fromkeys(filter(None, map(host, settings.start_urls))))
    validation.check_new_run(args.question.strip(), normalize_settings(settings), (settings.flow,))
    bench = Workbench()
    if not args.follow:
        return drive_and_print(bench, bench.start(args.question, settings), args)
    return drive_and_print(bench, follow_up(bench, args.follow, args.question, settings), args)
