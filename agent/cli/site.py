"""`site`: ask chosen websites. Knows the options and how a step of the flow reads in a line."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from agent.actions import validation
from agent.cli import domain_options, source_options
from agent.cli.output import check_network, drive_run
from agent.engine.run_settings import normalize_settings
from agent.text.urls import complete_typed_url, host
from agent.types import Settings
from agent.workbench import Workbench


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("question", metavar="QUESTION")
    parser.add_argument(
        "--start",
        action="append",
        required=True,
        metavar="URL",
        help="a page to start from; give it again for more",
    )
    domain_options.add_allow_option(parser, None, "default: the hosts of the start pages; '' for no filter")
    source_options.add_options(parser)
    parser.add_argument("--instruction", default="", metavar="TEXT", help="how to look and how to answer")
    parser.add_argument(
        "--follow",
        default="",
        metavar="RUN",
        help="go on with the conversation of this run: its pages are reused",
    )
    parser.add_argument(
        "--world", default="live", metavar="live|demo|DIR", help="where to read (default: live, the web)"
    )
    parser.add_argument(
        "--model",
        default="auto",
        metavar="keyless|NAME",
        help="the model (default: the configured one, else keyless)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the whole run as JSON")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the report as Markdown")


def run(options: argparse.Namespace) -> int:
    """Ask, and print the answer or the refusal; returns the exit code."""
    settings = settings_of(options)
    validation.check_new_run(options.question.strip(), normalize_settings(settings), (settings.flow,))
    bench = Workbench()
    check_network(bench, options.world)
    if options.follow:
        former = source_options.chosen_settings(options, bench.store.ledger.get(options.follow).settings)
        return drive_run(
            bench,
            bench.follow_up(options.follow, options.question, settings.model_copy(update=former)),
            options,
            format_step,
        )
    return drive_run(bench, bench.start(options.question, settings), options, format_step)


def settings_of(options: argparse.Namespace) -> Settings:
    """What the options ask for. Without `--allow` the start pages' hosts are the fence; `--allow ''` takes it
    down."""
    starts = [complete_typed_url(url) for url in options.start]
    begun = list(dict.fromkeys(host(url) for url in starts if host(url)))
    allowed = begun if options.allow is None else options.allow
    return Settings(
        flow="site",
        world=options.world,
        model=options.model,
        start_urls=starts,
        allowed_domains=allowed,
        instruction=options.instruction,
        **source_options.chosen_settings(options),
    )


def format_step(name: str, change: dict[str, Any]) -> str:
    """One step in a line."""
    if name == "recall" and change.get("visited_urls"):
        return f"{len(change['visited_urls'])} pages known from the conversation"
    if name == "survey":
        return f"{sum(sitemap['addresses'] for sitemap in change.get('sitemaps', []))} addresses in the site's maps"
    if name == "crawl":
        return "; ".join(f"{ref['outcome']}: {ref['url']}" for ref in change.get("pages", []))
    if name == "decide" and change.get("choices"):
        choice = change["choices"][-1]
        spoke = f" (by rule: {choice['trouble']})" if choice.get("trouble") else ""
        return f"{choice['decision']} — {choice['reasoning']}{spoke}"
    return str(change.get("why_stopped", "")) if name == "budget" else ""
