"""`unread` and `supply`: what a run could not read, with what helps; and a person's way to give it. Knows
options and wording."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from agent.actions import page_input
from agent.cli import site
from agent.cli.output import StepFormatter, drive_run, write_stderr, write_stdout
from agent.errors import UsageError
from agent.types import STATUS_PHRASES, Status
from agent.web.extract import documents
from agent.workbench import Workbench


def add_unread_options(parser: argparse.ArgumentParser) -> None:
    """The options of `unread`."""
    parser.add_argument("run", metavar="RUN")


def run_unread(options: argparse.Namespace) -> int:
    """List what could not be read; returns the exit code."""
    found = page_input.list_failed_requests(Workbench().snapshot(options.run).state)
    for one in found:
        write_stdout(
            f"{one.outcome.value:<12} {one.kind.lower()} {_one_line(one.what)}\n             {_one_line(one.reason)}\n             {one.advice}"
        )
    if not found:
        write_stderr("everything the run asked for could be read")
    return 0


def add_supply_options(parser: argparse.ArgumentParser) -> None:
    """The options of `supply`."""
    parser.add_argument("run", metavar="RUN")
    parser.add_argument(
        "what",
        metavar="URL",
        help="the page it is for ('' for a file that is on no site); with --retry also the words of a search",
    )
    way = parser.add_mutually_exclusive_group(required=True)
    way.add_argument(
        "--file", type=Path, metavar="FILE", help="the page as a file: HTML, PDF, DOCX, Markdown, text, CSV"
    )
    way.add_argument("--text", metavar="TEXT", help="the page's text; - reads it from stdin")
    way.add_argument("--retry", action="store_true", help="ask for it once more")
    parser.add_argument("--title", default="", help="the title of a pasted text")
    parser.set_defaults(json=None, markdown=None)


def run_supply(options: argparse.Namespace, line: StepFormatter) -> int:
    """Give it, and drive the run on where it goes on by itself; returns the exit code."""
    bench = Workbench()
    flow = bench.snapshot(options.run).run.settings.flow
    if options.retry:
        page_input.retry(bench, options.run, options.what)
    elif options.file:
        page_input.upload(bench, options.run, options.what, options.file.name, _read_file(options.file))
    else:
        text = sys.stdin.read(page_input.MAX_PASTED_CHARS + 1) if options.text == "-" else options.text
        page_input.paste(bench, options.run, options.what, text, options.title)
    status = bench.snapshot(options.run).run.status
    if status is not Status.RUNNING:
        write_stderr(f"taken in; the run is {STATUS_PHRASES[status]} and heeds it when it goes on")
        return 0
    return drive_run(bench, options.run, options, site.format_step if flow == "site" else line)


def _read_file(path: Path) -> bytes:
    if not path.is_file():
        raise UsageError(f"there is no file {path}")
    return documents.read_bytes(path)


def _one_line(text: str) -> str:
    """A stranger's text for a terminal: one line, no control characters."""
    return "".join(c for c in " ".join(text.split()) if c.isprintable())
