"""`check-text`: each claim of a report or article against the sources it cites."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from agent import api
from agent.cli.options import Allow, Model, OutputFiles, SearchOptions, World
from agent.cli.output import drive_run, read_file, to_json, write_file, write_stdout
from agent.errors import UsageError
from agent.text.urls import canonicalize, complete_typed_url
from agent.types import MARK_SIGNS, CheckedText, CheckTextSettings, MarkedSentence, Settings, Status
from agent.web.extract import documents
from agent.workbench import Workbench

LIMITS = CheckTextSettings()


def run(
    text: Annotated[
        str,
        typer.Argument(
            metavar="FILE|URL|-", help="a document (Markdown, DOCX, PDF, HTML …), an address, or - for stdin"
        ),
    ],
    *,
    search: Annotated[
        bool, typer.Option("--search", help="search for claims that cite no source")
    ] = LIMITS.search_missing,
    max_pages: Annotated[int, typer.Option(metavar="N", help="sources fetched", min=1)] = LIMITS.max_pages,
    problems: Annotated[
        bool,
        typer.Option("--problems", help="list only claims to look at: no support, no source, or a doubt"),
    ] = False,
    allow: Allow = [],  # noqa: B006 - typer reads the default
    sources: SearchOptions,
    world: World = "live",
    model: Model = "auto",
    files: OutputFiles,
) -> int:
    """Check the text, print the summary and the marks, write the files asked for; returns the exit code."""
    settings = Settings(
        flow="check_text",
        world=world,
        model=model,
        allowed_domains=allow,
        check_text=CheckTextSettings(max_pages=max_pages, search_missing=search),
        **sources.settings(),
    )
    bench = Workbench()
    run_id = _start(bench, text, settings)
    view = drive_run(bench, run_id, ends=(Status.DONE,))
    checked = view.state.own.checked_text(view.state) if view else None
    if view is None or checked is None:
        why = view.state.answer.certainty if view and view.state.answer else ""
        if why:
            raise UsageError(why)
        return 1
    ended = [f"Ended early: {checked.why_stopped}."] if checked.why_stopped else []
    write_stdout("\n".join([checked.summary, *ended, "", *_list_marks(checked, problems=problems)]).rstrip())
    if files.json_file:
        write_file(files.json_file, to_json(bench.as_json(run_id)))
    if files.markdown_file:
        write_file(files.markdown_file, bench.markdown(run_id))
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
