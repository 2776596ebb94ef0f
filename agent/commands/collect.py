"""`collect`: gather articles or threads from start pages. Knows the options and how a step of the flow reads in a line."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from agent import collecting
from agent.commands.telling import Progress, reached, say, write
from agent.export import collected
from agent.export.collected import Collection
from agent.export.plain import plain
from agent.types import CollectLimits, Settings, Status
from agent.workbench import Workbench

TITLE = 90
"""Characters of a title in the list."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    limits = CollectLimits()
    parser.add_argument("prompt", metavar="PROMPT", help='what to gather, e.g. "what members say about X in the last month"')
    parser.add_argument("--start", action="append", default=[], metavar="URL", help="a page to start from; give it again for more")
    parser.add_argument("--max-articles", type=int, default=limits.max_articles, metavar="N", help="articles or threads (default: %(default)s)")
    parser.add_argument(
        "--depth", type=int, default=limits.max_depth, metavar="N", help="nothing this deep is read, the start is 0 (default: %(default)s)"
    )
    parser.add_argument("--plain", action="store_true", help="no decisions: all links of the start pages, each page taken as an article")
    parser.add_argument("--world", default="live", metavar="live|demo|DIR", help="where to read (default: live, the web)")
    parser.add_argument("--model", default="auto", metavar="keyless|NAME", help="the model (default: the configured one, else keyless)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything as JSON")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the digest and all that was gathered as Markdown")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write a table, one row for each article and post")


def run(options: argparse.Namespace) -> int:
    """Gather, print the digest and the list, write the files asked for; returns the exit code."""
    bench = Workbench()
    reached(bench, options.world)
    limits = CollectLimits(max_articles=options.max_articles, max_depth=options.depth, use_smart_navigation=not options.plain)
    run_id = collecting.start(bench, options.prompt, options.start, Settings(world=options.world, model=options.model, collect=limits))
    say(f"run {run_id}")
    status = bench.drive(run_id, watch=Progress(bench, run_id, line))
    found = collecting.collection(bench, run_id)
    if status is not Status.REVIEW or found.answer is None:
        say(f"touchstone: the run is {status.value}: {found.run.error or 'it did not reach its digest'}")
        return 1
    sys.stdout.write(f"{plain(found.answer)}\n{_list(found)}\n")
    sys.stdout.flush()
    if options.json:
        write(options.json, json.dumps(collected.record(found), ensure_ascii=False, indent=1))
    if options.markdown:
        write(options.markdown, collected.markdown(found).rstrip("\n"))
    if options.csv:
        write(options.csv, collected.table(found).rstrip("\r\n"))
    return 0


def line(name: str, change: dict[str, Any]) -> str:
    """One step in a line: what was decided at a page and why, or how its fetch failed."""
    if name == "intent" and change.get("intent"):
        wanted = change["intent"]
        days = f", last {wanted['time_range_days']} days" if wanted["time_range_days"] else ""
        return f"wanted: {wanted['topic'] or 'what the start pages hold'}{', ' + wanted['target_section'] if wanted['target_section'] else ''}{days}"
    if name == "budget":
        return str(change.get("why_stopped", ""))
    acts = {branch["url"]: f" {branch['action']} ({branch['confidence']:.2f})" for branch in change.get("tree", []) if branch.get("action")}
    told = [
        f"{event['name']}{acts.get(event['url'], '') if event['name'] == 'nav:decision' else ''} {event['url']} — {event['text']}"
        for event in change.get("events", [])
    ]
    return "\n       ".join(told)


def _list(found: Collection) -> str:
    """What was gathered, an item a line, and what it cost against the targets."""
    lines = ["", f"{len(found.items)} gathered:"]
    for item in found.items:
        posts = f", {len(item.posts)} posts" if item.posts else ""
        lines.append(f"  {item.publish_date[:10] or 'no date':<10}  {item.title[:TITLE]} ({item.kind}{posts})  {item.url}")
    marks = {True: "met", False: "missed", None: "unknown"}
    figures = [
        f"{target['value'] if target['value'] is not None else 'unknown'} {target['name']} (below {target['below']:g}: {marks[target['met']]})"
        for target in collected.targets(found.usage)
    ]
    return "\n".join([*lines, ", ".join(figures)])
