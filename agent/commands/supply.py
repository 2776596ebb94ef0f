"""`unread` and `supply`: what a run could not read, with what helps; and a person's way to give it. Knows options and wording."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from agent import supplying
from agent.commands import site
from agent.commands.telling import Line, drive, say, tell
from agent.errors import UsageError
from agent.tools import documents
from agent.types import STANDS, Status
from agent.workbench import Workbench


def add_unread(parser: argparse.ArgumentParser) -> None:
    """The options of `unread`."""
    parser.add_argument("run", metavar="RUN")


def run_unread(options: argparse.Namespace) -> int:
    """List what could not be read; returns the exit code."""
    found = supplying.unread(Workbench().view(options.run).state)
    for one in found:
        tell(f"{one.outcome.value:<12} {one.kind.lower()} {_safe(one.what)}\n             {_safe(one.reason)}\n             {one.advice}")
    if not found:
        say("everything the run asked for could be read")
    return 0


def add_supply(parser: argparse.ArgumentParser) -> None:
    """The options of `supply`."""
    parser.add_argument("run", metavar="RUN")
    parser.add_argument("what", metavar="URL", help="the page it is for ('' for a file that is on no site); with --retry also the words of a search")
    way = parser.add_mutually_exclusive_group(required=True)
    way.add_argument("--file", type=Path, metavar="FILE", help="the page as a file: HTML, PDF, DOCX, Markdown, text, CSV")
    way.add_argument("--text", metavar="TEXT", help="the page's text; - reads it from stdin")
    way.add_argument("--retry", action="store_true", help="ask for it once more")
    parser.add_argument("--title", default="", help="the title of a pasted text")
    parser.set_defaults(json=None, markdown=None)


def run_supply(options: argparse.Namespace, line: Line) -> int:
    """Give it, and drive the run on where it goes on by itself; returns the exit code."""
    bench = Workbench()
    flow = bench.view(options.run).run.settings.flow
    if options.retry:
        supplying.retry(bench, options.run, options.what)
    elif options.file:
        supplying.upload(bench, options.run, options.what, options.file.name, _data(options.file))
    else:
        text = sys.stdin.read(supplying.LONGEST + 1) if options.text == "-" else options.text
        supplying.paste(bench, options.run, options.what, text, options.title)
    status = bench.view(options.run).run.status
    if status is not Status.RUNNING:
        say(f"taken in; the run is {STANDS[status]} and heeds it when it goes on")
        return 0
    return drive(bench, options.run, options, site.line if flow == "site" else line)


def _data(path: Path) -> bytes:
    if not path.is_file():
        raise UsageError(f"there is no file {path}")
    return documents.data(path)


def _safe(text: str) -> str:
    """A stranger's text for a terminal: one line, no control characters."""
    return "".join(c for c in " ".join(text.split()) if c.isprintable())
