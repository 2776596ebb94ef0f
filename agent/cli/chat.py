"""`chat`: talk with the library."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from agent.cli.options import JSON_FILE, MODEL, file_option, option, read_settings
from agent.cli.output import drive_run, follow_up, to_json, write_file, write_stderr, write_stdout
from agent.errors import UsageError
from agent.export.plain import render_plain_text
from agent.library.ingest import DEMO_TAG
from agent.types import LibraryScope, Status
from agent.workbench import Workbench

EMPTY_LIBRARY_HINT = (
    "the library is empty: add documents with --add FILE or --add FOLDER, or let another run read something "
    "first"
)


ARGUMENTS = (
    option("question QUESTION", "a question, or the answer to the question of --thread"),
    option("--thread RUN", "continue the conversation of this run"),
    option("--scope-tag TAG", "use only sources with one of these tags", [], nargs="+", action="extend"),
    file_option("--add FILE_OR_FOLDER", "add documents to the library first", nargs="+", action="extend"),
    option("--world live|demo", "demo: include the invented pages of the demo world [default: live]"),
    MODEL,
    JSON_FILE,
)


def run(args: Namespace) -> int:
    """Ask, or answer what was asked back, and print the outcome; returns the exit code."""
    bench = Workbench()
    try:
        for path in args.add or ():
            _add_documents(bench, path)
        if not bench.library.count():
            raise UsageError(EMPTY_LIBRARY_HINT)
        scope = {"scope": LibraryScope(tags=args.scope_tag)} if args.scope_tag else {}
        settings = read_settings(args, flow="chat", **scope)
        if args.thread:
            newest = (bench.thread(args.thread) or [args.thread])[-1]
            run_id = follow_up(bench, newest, args.question, settings)
        else:
            run_id = bench.start(args.question, settings)
        return _drive_and_print(bench, run_id, args.json_file)
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
