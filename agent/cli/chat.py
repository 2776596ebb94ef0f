"""`chat`: talk with the library."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agent.cli.options import JsonFile, Model, typed
from agent.cli.output import drive_run, follow_up, to_json, write_file, write_stderr, write_stdout
from agent.errors import UsageError
from agent.export.plain import render_plain_text
from agent.library.ingest import DEMO_TAG
from agent.types import LibraryScope, Settings, Status
from agent.workbench import Workbench

EMPTY_LIBRARY_HINT = (
    "the library is empty: add documents with --add FILE or --add FOLDER, or let another run read something "
    "first"
)


def run(
    question: Annotated[
        str, typer.Argument(metavar="QUESTION", help="a question, or the answer to the question of --thread")
    ],
    *,
    thread: Annotated[str, typer.Option(metavar="RUN", help="continue the conversation of this run")] = "",
    scope_tag: Annotated[
        list[str], typer.Option(metavar="TAG …", help="use only sources with one of these tags")
    ] = [],  # noqa: B006 - typer reads the default
    add: Annotated[
        list[Path], typer.Option(metavar="FILE_OR_FOLDER …", help="add documents to the library first")
    ] = [],  # noqa: B006 - typer reads the default
    world: Annotated[
        str,
        typer.Option(
            metavar="live|demo",
            help="demo: include the invented pages of the demo world",
            show_default="live",
        ),
    ] = "",
    model: Model = "",
    json_file: JsonFile = None,
) -> int:
    """Ask, or answer what was asked back, and print the outcome; returns the exit code."""
    bench = Workbench()
    try:
        for path in add:
            _add_documents(bench, path)
        if not bench.library.count():
            raise UsageError(EMPTY_LIBRARY_HINT)
        scope = LibraryScope(tags=scope_tag) if scope_tag else None
        settings = Settings(flow="chat", **typed(world=world, model=model, scope=scope))
        run_id = _start_run(bench, question, settings, thread)
        return _drive_and_print(bench, run_id, json_file)
    finally:
        bench.shutdown()


def _add_documents(bench: Workbench, path: Path) -> None:
    if path.is_dir():
        added = bench.library.add_folder(path)
        for refused in added.refused:
            write_stderr(f"not added: {refused.name}: {refused.why}")
        sources = added.sources
        write_stderr(f"added {len(sources)} documents of {path}")
    else:
        sources = [bench.library.add_path(path)]
        write_stderr(f"added {sources[0].source_id}")
    if any(DEMO_TAG in source.tags for source in sources):
        write_stderr(
            f"documents of the demo are invented: they are used only with --scope-tag {DEMO_TAG} or --world "
            f"demo"
        )


def _start_run(bench: Workbench, question: str, settings: Settings, thread: str) -> str:
    """The run that takes the question: a new one, the next of a thread, or one that waits for an answer."""
    if not thread:
        return bench.start(question, settings)
    newest = (bench.thread(thread) or [thread])[-1]
    return follow_up(bench, newest, question, settings)


def _drive_and_print(bench: Workbench, run_id: str, json_file: Path | None) -> int:
    head = bench.snapshot(run_id).head
    view = drive_run(bench, run_id, after=head, ends=(Status.DONE, Status.WAITING))
    if view is None or view.state.answer is None:
        return 1
    state, answer = view.state, view.state.answer
    lines = [render_plain_text(answer) if answer.sentences else answer.certainty]
    lines += [answer.remark] if answer.remark and not answer.sentences else []
    if asks_back := view.run.settings.flow == "chat" and bool(state.own.needs_clarification):
        lines += [f"  {n}. {choice}" for n, choice in enumerate(state.own.choices, start=1)]
    write_stdout("\n".join(lines))
    if asks_back:
        write_stderr(f'answer it with `./touchstone chat "YOUR ANSWER" --thread {run_id}`')
    if json_file:
        write_file(json_file, to_json(bench.as_json(run_id)))
    return 0
