"""`collect`: gather articles or threads from start pages. Knows the options and how a step of the flow reads
in a line."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from agent import api
from agent.cli import domain_options, source_options
from agent.cli.output import RunProgress, check_network, write_file, write_stderr
from agent.errors import TouchstoneError, UsageError
from agent.export import collected
from agent.export.collected import CollectionResult
from agent.export.plain import render_plain_text
from agent.types import CollectLimits, Settings, Status
from agent.workbench import Workbench

MAX_TITLE_CHARS = 90
"""Characters of a title in the list."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    limits = CollectLimits()
    parser.add_argument(
        "prompt", metavar="PROMPT", help='what to gather, e.g. "what members say about X in the last month"'
    )
    parser.add_argument(
        "--start",
        action="append",
        default=[],
        metavar="URL",
        help="a page to start from; give it again for more",
    )
    parser.add_argument(
        "--max-articles",
        type=int,
        default=limits.max_articles,
        metavar="N",
        help="articles or threads (default: %(default)s)",
    )
    parser.add_argument(
        "--max-pages",
        type=int,
        default=limits.max_pages,
        metavar="N",
        help="pages asked for in all (default: %(default)s)",
    )
    parser.add_argument(
        "--depth",
        type=int,
        default=limits.max_depth,
        metavar="N",
        help="nothing this deep is read, the start is 0 (default: %(default)s)",
    )
    domain_options.add_allow_option(parser, [], "default: all")
    source_options.add_options(parser)
    parser.add_argument("--instruction", default="", metavar="TEXT", help="how to look: heeded like a note")
    parser.add_argument(
        "--plain",
        action="store_true",
        help="no decisions: all links of the start pages, each page taken as an article",
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
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything as JSON")
    parser.add_argument(
        "--markdown", type=Path, metavar="FILE", help="write the digest and all that was gathered as Markdown"
    )
    parser.add_argument(
        "--csv", type=Path, metavar="FILE", help="write a table, one row for each article and post"
    )


def run(options: argparse.Namespace) -> int:
    """Gather, write the files asked for, print the digest and the list; returns the exit code."""
    settings = api.check_collect_settings(options.prompt, options.start, settings_of(options))
    for file in filter(None, (options.json, options.markdown, options.csv)):
        _check_writable(file)
    bench = Workbench()
    check_network(bench, options.world)
    run_id = bench.start(options.prompt, settings)
    write_stderr(f"run {run_id}")
    status = bench.drive(run_id, watch=RunProgress(bench, run_id, format_step))
    found = api.build_collection(bench, run_id)
    if status is not Status.REVIEW or found.answer is None:
        write_stderr(
            f"touchstone: the run is {status.value}: {found.run.error or 'it did not reach its digest'}"
        )
        return 1
    if options.json:
        write_file(
            options.json, json.dumps(collected.build_collection_record(found), ensure_ascii=False, indent=1)
        )
    if options.markdown:
        write_file(options.markdown, collected.render_collection_markdown(found).rstrip("\n"))
    if options.csv:
        write_file(options.csv, collected.render_collection_csv(found).rstrip("\r\n"))
    _print(f"{render_plain_text(found.answer)}\n{_format_items(found)}\n", run_id)
    return 0


def settings_of(options: argparse.Namespace) -> Settings:
    """What the options ask for."""
    limits = CollectLimits(
        max_articles=options.max_articles,
        max_pages=options.max_pages,
        max_depth=options.depth,
        use_smart_navigation=not options.plain,
    )
    return Settings(
        world=options.world,
        model=options.model,
        collect=limits,
        allowed_domains=options.allow,
        instruction=options.instruction,
        **source_options.chosen_settings(options),
    )


def _check_writable(file: Path) -> None:
    """Raises UsageError before anything is gathered when a file cannot be written; leaves nothing behind."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        there = file.exists()
        file.open("a").close()
        if not there:
            file.unlink()
    except OSError as trouble:
        raise UsageError(f"{file} cannot be written: {trouble.strerror}") from trouble


def _print(text: str, run_id: str) -> None:
    """To stdout, unless it is closed. Raises BrokenPipeError when its reader is gone, TouchstoneError when it
    takes nothing."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as trouble:
        raise TouchstoneError(
            f"the digest could not be printed: {trouble.strerror}; the run {run_id} is kept"
        ) from trouble


def format_step(name: str, change: dict[str, Any]) -> str:
    """One step in a line: what was decided at a page and why, or how its fetch failed."""
    if name == "intent" and change.get("intent"):
        wanted = change["intent"]
        days = f", last {wanted['time_range_days']} days" if wanted["time_range_days"] else ""
        section = f", {wanted['target_section']}" if wanted["target_section"] else ""
        left = f", without: {'; '.join(wanted['leave_out'])}" if wanted.get("leave_out") else ""
        spoke = f"\n       by rule: {change['intent_trouble']}" if change.get("intent_trouble") else ""
        return f"wanted: {wanted['topic'] or 'what the start pages hold'}{section}{days}{left}{spoke}"
    if name == "budget":
        return str(change.get("why_stopped", ""))
    acts = {
        branch["url"]: f" {branch['action']} ({branch['confidence']:.2f})"
        for branch in change.get("tree", [])
        if branch.get("action")
    }
    told = [
        f"{event['name']}{acts.get(event['url'], '') if event['name'] == 'nav:decision' else ''} {event['url']} — {event['text']}"
        for event in change.get("events", [])
    ]
    return "\n       ".join(told)


def _format_items(found: CollectionResult) -> str:
    """What was gathered, an item a line, and what it cost against the targets."""
    lines = ["", f"{len(found.items)} gathered:" if found.items else "Nothing was gathered."]
    for item in found.items:
        posts = f", {len(item.posts)} posts" if item.posts else ""
        lines.append(
            f"  {item.publish_date[:10] or 'no date':<10}  {item.title[:MAX_TITLE_CHARS]} ({item.kind}{posts})  {item.url}"
        )
    marks = {True: "met", False: "missed", None: "unknown"}
    figures = [
        f"{target['value'] if target['value'] is not None else 'unknown'} {target['name']} (below {target['below']:g}: {marks[target['met']]})"
        for target in collected.compare_with_targets(found.usage)
    ]
    return "\n".join([*lines, ", ".join(figures)])
