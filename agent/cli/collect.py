"""`collect`: gather articles or threads from start pages."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from agent import api
from agent.cli.options import (
    ALLOW,
    INSTRUCTION,
    MODEL,
    OUTPUT_FILES,
    SOURCES,
    START,
    WORLD,
    file_option,
    flag,
    option,
    read_settings,
)
from agent.cli.output import drive_run, to_json, write_file, write_stdout
from agent.errors import UsageError
from agent.export import collected
from agent.export.collected import CollectionResult
from agent.export.plain import render_plain_text
from agent.types import CollectLimits, Status
from agent.workbench import Workbench

MAX_TITLE_CHARS = 90
"""Characters of a title in the list."""
LIMITS = CollectLimits()
ARGUMENTS = (
    option("prompt PROMPT", 'what to gather, e.g. "what members say about X in the last month"'),
    START,
    option("--max-articles N", "articles or threads", LIMITS.max_articles, dest="collect.max_articles"),
    option("--max-pages N", "page requests in all", LIMITS.max_pages, dest="collect.max_pages"),
    option(
        "--depth N",
        "pages this deep are not read; start pages have depth 0",
        LIMITS.max_depth,
        dest="collect.max_depth",
    ),
    ALLOW,
    *SOURCES,
    INSTRUCTION,
    flag(
        "--plain",
        "no decisions: follow every link of the start pages, take each page as an article",
        dest="collect.use_smart_navigation",
        action="store_false",
    ),
    WORLD,
    MODEL,
    *OUTPUT_FILES,
    file_option("--csv FILE", "write a table with a row for each article and post", dest="csv_file"),
)


def run(args: Namespace) -> int:
    """Gather, write the files asked for, print the digest and the list; returns the exit code."""
    settings = read_settings(args)
    settings = api.check_collect_settings(args.prompt, args.start, settings)
    for file in filter(None, (args.json_file, args.markdown_file, args.csv_file)):
        _check_writable(file)
    bench = Workbench()
    run_id = bench.start(args.prompt, settings)
    if drive_run(bench, run_id, ends=(Status.REVIEW,)) is None:
        return 1
    found = api.build_collection(bench, run_id)
    if args.json_file:
        write_file(args.json_file, to_json(collected.build_collection_record(found)))
    if args.markdown_file:
        write_file(args.markdown_file, collected.render_collection_markdown(found).rstrip("\n"))
    if args.csv_file:
        write_file(args.csv_file, collected.render_collection_csv(found).rstrip("\r\n"))
    digest = render_plain_text(found.answer) if found.answer else ""
    write_stdout(f"{digest}\n{_format_items(found)}")
    return 0


def _check_writable(file: Path) -> None:
    """Raises UsageError before anything is gathered when a file cannot be written; leaves nothing behind."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        existed = file.exists()
        file.open("a").close()
        if not existed:
            file.unlink()
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}") from error


def _format_items(found: CollectionResult) -> str:
    """What was gathered, an item a line, and the usage against its targets."""
    lines = ["", f"{len(found.items)} gathered:" if found.items else "Nothing was gathered."]
    for item in found.items:
        posts = f", {len(item.posts)} posts" if item.posts else ""
        day, title = item.publish_date[:10] or "no date", item.title[:MAX_TITLE_CHARS]
        lines.append(f"  {day:<10}  {title} ({item.kind}{posts})  {item.url}")
    marks = {True: "met", False: "missed", None: "unknown"}
    figures = [
        f"{target['value'] if target['value'] is not None else 'unknown'} {target['name']} "
        f"(below {target['below']:g}: {marks[target['met']]})"
        for target in collected.compare_with_targets(found.usage)
    ]
    return "\n".join([*lines, ", ".join(figures)])
