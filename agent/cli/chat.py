"""`chat`: talk with what the library holds. Knows the options and how a step of the flow reads in a line."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from agent.cli.output import RunProgress, write_file, write_stderr
from agent.errors import UsageError
from agent.export.plain import render_plain_text
from agent.flows.chat.dialogue import conversation_kind
from agent.library.ingest import DEMO_TAG
from agent.types import LibraryScope, Settings, Status
from agent.workbench import Workbench

EMPTY_LIBRARY_HINT = "the library is empty: add documents with --add FILE or --add FOLDER, or let another run read something first"
ANSWER_HINT = 'answer it with `python -m agent chat "YOUR ANSWER" --thread {run}`'


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("question", metavar="QUESTION")
    parser.add_argument(
        "--thread",
        default="",
        metavar="RUN",
        help="go on with the conversation of this run; when it asked something, QUESTION is the answer",
    )
    parser.add_argument(
        "--scope-tag", nargs="+", default=[], metavar="T", help="only what carries one of these tags"
    )
    parser.add_argument(
        "--add",
        nargs="+",
        type=Path,
        default=[],
        metavar="FILE_OR_FOLDER",
        help="put documents into the library first",
    )
    parser.add_argument(
        "--world",
        default="live",
        metavar="live|demo",
        help="demo: the invented pages of the demo world count too (default: live)",
    )
    parser.add_argument(
        "--model",
        default="auto",
        metavar="keyless|NAME",
        help="the model (default: the configured one, else keyless)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the whole run as JSON")


def run(options: argparse.Namespace) -> int:
    """Ask, or answer what was asked back, and print what comes of it; returns the exit code."""
    bench = Workbench()
    try:
        for path in options.add:
            _add_documents(bench, path)
        if not bench.library.count():
            raise UsageError(EMPTY_LIBRARY_HINT)
        run_id = _start_run(bench, options)
        write_stderr(f"run {run_id}")
        told = RunProgress(bench, run_id, format_step)
        told.last_step = bench.snapshot(run_id).head
        status = bench.drive(run_id, watch=told)
        return _print_answer(bench, run_id, status, options)
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
            f"what lies in the demo is invented: it is asked only with --scope-tag {DEMO_TAG} or --world demo"
        )


def _start_run(bench: Workbench, options: argparse.Namespace) -> str:
    """The run that takes the question: a new one, the next of a thread, or the one that waits for an
    answer."""
    settings = Settings(
        flow="chat", world=options.world, model=options.model, scope=LibraryScope(tags=options.scope_tag)
    )
    if not options.thread:
        return bench.start(options.question, settings)
    newest = (bench.thread(options.thread) or [options.thread])[-1]
    kept = (
        settings
        if options.scope_tag
        else settings.model_copy(update={"scope": bench.snapshot(newest).run.settings.scope})
    )
    return bench.send_chat_message(newest, options.question, kept)


def _print_answer(bench: Workbench, run_id: str, status: Status, options: argparse.Namespace) -> int:
    view = bench.snapshot(run_id)
    state = view.state
    if (
        conversation_kind(view.run.settings.flow) != "chat"
        or state.answer is None
        or status not in (Status.DONE, Status.WAITING)
    ):
        write_stderr(
            f"touchstone: the run is {status.value}: {view.run.error or 'it did not reach an answer'}"
        )
        return 1
    asked = bool(state.own.needs_clarification)
    told = [render_plain_text(state.answer) if state.answer.sentences else state.answer.certainty]
    told += [state.answer.remark] if state.answer.remark and not state.answer.sentences else []
    told += [f"  {n}. {choice}" for n, choice in enumerate(state.own.choices, start=1)] if asked else []
    sys.stdout.write("\n".join(told) + "\n")
    sys.stdout.flush()
    if asked:
        write_stderr(ANSWER_HINT.format(run=run_id))
    if options.json:
        write_file(options.json, json.dumps(bench.as_json(run_id), ensure_ascii=False, indent=1))
    return 0


def format_step(name: str, change: dict[str, Any]) -> str:
    """One step in a line."""
    if name in ("router", "classify") and change.get("route_decision"):
        return f"{change['route_decision']} — {change.get('route_reasoning', '')}"
    if change.get("rewrites"):
        made = change["rewrites"][-1]
        words = "made whole" if name == "rewrite" else f"in other words: {made['query']}"
        return f"{words}{' (by rule: ' + made['trouble'] + ')' if made.get('trouble') else ''}"
    if name == "retrieve":
        return f"{len(change.get('retrieved_docs', []))} passages. {str(change.get('searched_by', '')).partition('.')[0]}."
    if name in ("grade", "rerank"):
        scores = change.get("doc_relevance_scores", [])
        return f"{sum(score >= 0.5 for score in scores)} of {len(scores)} relevant"
    if name == "validate" and change.get("groundings"):
        verdict = change["groundings"][-1]
        return f"{'grounded' if verdict['grounded'] else 'not grounded'}: {verdict['reason']}"
    return str(change.get("why_stopped", "")) if name == "budget" else ""
