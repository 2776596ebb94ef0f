"""`check-text`: each claim of a report or article against the sources it cites."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from agent import api
from agent.cli.options import (
    ALLOW,
    MODEL,
    OUTPUT_FILES,
    SEARCH_SOURCES,
    WORLD,
    at_least,
    flag,
    option,
    read_settings,
)
from agent.cli.output import drive_run, read_file, write_run, write_stdout
from agent.errors import UsageError
from agent.text.urls import canonicalize, complete_typed_url
from agent.types import MARK_SIGNS, CheckedText, CheckTextSettings, MarkedSentence, Settings, Status
from agent.web.extract import documents
from agent.workbench import Workbench

LIMITS = CheckTextSettings()


ARGUMENTS = (
    option("text FILE|URL|-", "a document (Markdown, DOCX, PDF, HTML …), an address, or - for stdin"),
    flag("--search", "search for claims that cite no source", dest="check_text.search_missing"),
    option(
        "--max-pages N",
        "sources fetched",
        LIMITS.max_pages,
        dest="check_text.max_pages",
        type=at_least(1),
    ),
    flag("--problems", "list only claims to look at: no support, no source, or a doubt"),
    ALLOW,
    *SEARCH_SOURCES,
    WORLD,
    MODEL,
    *OUTPUT_FILES,
)


def run(args: Namespace) -> int:
    """Check the text, print the summary and the marks, write the files asked for; returns the exit code."""
    settings = read_settings(args, flow="check_text")
    bench = Workbench()
    run_id = _start(bench, args.text, settings)
    view = drive_run(bench, run_id, ends=(Status.DONE,))
    checked = view.state.own.checked_text(view.state) if view else None
    if view is None or checked is None:
        why = view.state.answer.certainty if view and view.state.answer else ""
        if why:
            raise UsageError(why)
        return 1
    ended = [f"Ended early: {checked.why_stopped}."] if checked.why_stopped else []
    write_stdout(
        "\n".join([checked.summary, *ended, "", *_list_marks(checked, problems=args.problems)]).rstrip()
    )
    write_run(bench, run_id, args)
    return 0


def _start(bench: Workbench, text: str, settings: Settings) -> str:
    if text == "-":
        data = sys.stdin.buffer.read(documents.MAX_BYTES + 1)
        return api.start_text_check(bench, api.PASTED_NAME, data, settings)
    path = Path(text)
    if path.is_file() or not canonicalize(complete_typed_url(text)):
        return api.start_text_check(bench, path.name, read_file(path, documents.MAX_BYTES + 1), settings)
    return api.start_address_check(bench, text, settings)


def _list_marks(checked: CheckedText, *, problems: bool) -> list[str]:
    lines: list[str] = []
    for one in checked.claims:
        if one.mark and (one.is_problem or not problems):
            lines += [f"{MARK_SIGNS[one.mark]} {one.label}: {one.sentence.text}", *_explain(one)]
    return lines


def _explain(one: MarkedSentence) -> list[str]:
    """The reason, and the quote with its source, indented."""
    lines = [f"overruled by a person: {one.overruled}"] if one.overruled else []
    lines += [one.reason] if one.reason else []
    lines += [f"“{' '.join(one.closest.split())}” ({one.facts[0].url})"] if one.closest else []
    return [f"    {line}" for line in lines]
