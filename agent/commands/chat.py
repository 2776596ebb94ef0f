"""`chat`: talk with what the library holds. Knows the options and how a step of the flow reads in a line."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from agent.commands.telling import Progress, say, write
from agent.errors import UsageError
from agent.export.plain import plain
from agent.flows.chat_state import Chat
from agent.shelving import DEMO
from agent.types import Scope, Settings, Status
from agent.workbench import Workbench

EMPTY = "the library is empty: add documents with --add FILE or --add FOLDER, or let another run read something first"
LATER = 'answer it with `python -m agent chat "YOUR ANSWER" --thread {run}`'


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("question", metavar="QUESTION")
    parser.add_argument(
        "--thread", default="", metavar="RUN", help="go on with the conversation of this run; when it asked something, QUESTION is the answer"
    )
    parser.add_argument("--scope-tag", nargs="+", default=[], metavar="T", help="only what carries one of these tags")
    parser.add_argument("--add", nargs="+", type=Path, default=[], metavar="FILE_OR_FOLDER", help="put documents into the library first")
    parser.add_argument("--world", default="live", metavar="live|demo", help="demo: the invented pages of the demo world count too (default: live)")
    parser.add_argument("--model", default="auto", metavar="keyless|NAME", help="the model (default: the configured one, else keyless)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the whole run as JSON")


def run(options: argparse.Namespace) -> int:
    """Ask, or answer what was asked back, and print what comes of it; returns the exit code."""
    bench = Workbench()
    try:
        for path in options.add:
            _add(bench, path)
        if not bench.holdings.count():
            raise UsageError(EMPTY)
        run_id = _begun(bench, options)
        say(f"run {run_id}")
        told = Progress(bench, run_id, line)
        told.told = bench.view(run_id).head
        status = bench.drive(run_id, watch=told)
        return _print(bench, run_id, status, options)
    finally:
        bench.shutdown()


def _add(bench: Workbench, path: Path) -> None:
    if path.is_dir():
        added = bench.holdings.add_folder(path)
        for refused in added.refused:
            say(f"not added: {refused.name}: {refused.why}")
        sources = added.sources
        say(f"added {len(sources)} documents of {path}")
    else:
        sources = [bench.holdings.add_path(path)]
        say(f"added {sources[0].source_id}")
    if any(DEMO in source.tags for source in sources):
        say(f"what lies in the demo is invented: it is asked only with --scope-tag {DEMO} or --world demo")


def _begun(bench: Workbench, options: argparse.Namespace) -> str:
    """The run that takes the question: a new one, the next of a thread, or the one that waits for an answer."""
    settings = Settings(flow="chat", world=options.world, model=options.model, scope=Scope(tags=options.scope_tag))
    if not options.thread:
        return bench.start(options.question, settings)
    newest = (bench.thread(options.thread) or [options.thread])[-1]
    kept = settings if options.scope_tag else settings.model_copy(update={"scope": bench.view(newest).run.settings.scope})
    return bench.say(newest, options.question, kept)


def _print(bench: Workbench, run_id: str, status: Status, options: argparse.Namespace) -> int:
    view = bench.view(run_id)
    state = view.state
    if not isinstance(state, Chat) or state.answer is None or status not in (Status.DONE, Status.WAITING):
        say(f"touchstone: the run is {status.value}: {view.run.error or 'it did not reach an answer'}")
        return 1
    asked = bool(state.needs_clarification)
    told = [plain(state.answer) if state.answer.sentences else state.answer.certainty]
    told += [state.answer.remark] if state.answer.remark and not state.answer.sentences else []
    told += [f"  {n}. {choice}" for n, choice in enumerate(state.choices, start=1)] if asked else []
    sys.stdout.write("\n".join(told) + "\n")
    sys.stdout.flush()
    if asked:
        say(LATER.format(run=run_id))
    if options.json:
        write(options.json, json.dumps(bench.as_json(run_id), ensure_ascii=False, indent=1))
    return 0


def line(name: str, change: dict[str, Any]) -> str:
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
