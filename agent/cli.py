"""The command line: a thin door to the workbench. Progress goes to stderr, what was asked for to stdout.

Exit codes: 0 the run reached review (an honest `no_evidence` too), 1 it failed (the reason is told), 2 wrong usage.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agent.errors import NotFound, TouchstoneError, UsageError
from agent.evaluate import Job, evaluate
from agent.export.plain import plain
from agent.flows import FLOWS
from agent.types import Settings, Status
from agent.workbench import View, Workbench

EXPORTS = ("md", "json")


def main(arguments: list[str]) -> int:
    """Run one command; returns the exit code."""
    parser = build_parser()
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(message)s", stream=sys.stderr)
    try:
        return int(options.act(options))
    except (UsageError, NotFound) as wrong:
        _say(f"touchstone: {wrong}")
        return 2
    except TouchstoneError as failure:
        _say(f"touchstone: {failure}")
        return 1
    except KeyboardInterrupt:
        _say("touchstone: interrupted; `python -m agent runs` lists the run, the workbench can resume it")
        return 1


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands; the README's help is checked against it."""
    parser = argparse.ArgumentParser(prog="python -m agent", description="Touchstone: research you can check.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    research = _command(commands, "research", "ask a question and get a checked answer", _research)
    research.add_argument("question", metavar="QUESTION")
    research.add_argument("--world", default="live", metavar="live|demo|DIR", help="where to search and read (default: live, the web)")
    research.add_argument("--model", default="auto", metavar="keyless|NAME", help="the model (default: the configured one, else keyless)")
    research.add_argument("--max-steps", type=int, default=Settings().max_steps, metavar="N", help="searches and page visits (default: %(default)s)")
    research.add_argument("--json", type=Path, metavar="FILE", help="write the whole run as JSON")
    research.add_argument("--markdown", type=Path, metavar="FILE", help="write the report as Markdown")
    score = _command(commands, "eval", "score a world by its questions", _eval)
    score.add_argument("world", metavar="DIR|demo")
    score.add_argument("--flow", default="research", choices=sorted(FLOWS), help="which flow is asked (default: %(default)s)")
    score.add_argument("--model", default="keyless", metavar="NAME", help="the model (default: %(default)s)")
    score.add_argument("--limit", type=int, default=0, metavar="N", help="ask only N questions, drawn at random")
    score.add_argument("--seed", type=int, default=0, metavar="S", help="the draw's seed (default: %(default)s)")
    score.add_argument("--jobs", type=int, default=0, metavar="N", help="processes (default: one a core)")
    score.add_argument("--keep", default="", metavar="DIR", help="keep the runs' stores in this folder")
    score.add_argument("--json", type=Path, metavar="FILE", help="write figures and questions as JSON")
    listing = _command(commands, "runs", "list the runs, newest first", _runs)
    listing.add_argument("--text", default="", help="only those with this text in the question")
    export = _command(commands, "export", "write a run out", _export)
    export.add_argument("run", metavar="RUN")
    export.add_argument("--format", default="md", choices=EXPORTS, help="(default: %(default)s)")
    export.add_argument("--output", type=Path, metavar="FILE", help="where to (default: stdout)")
    return parser


def _command(commands: Any, name: str, help: str, act: Callable[[argparse.Namespace], int]) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=help, description=help[0].upper() + help[1:] + ".")
    parser.set_defaults(act=act)
    return parser


def _research(options: argparse.Namespace) -> int:
    bench = Workbench()
    if options.world == "live" and not bench.online():
        raise TouchstoneError("there is no network; try the bundled world with --world demo, or a folder of documents with --world DIR")
    settings = Settings(world=options.world, model=options.model, max_steps=options.max_steps)
    run_id = bench.start(options.question, settings)
    _say(f"run {run_id}")
    status = bench.drive(run_id, watch=_Progress(bench, run_id))
    view = bench.view(run_id)
    if status is not Status.REVIEW or view.state.answer is None:
        _say(f"touchstone: the run is {status.value}: {view.run.error or 'it did not reach an answer'}")
        return 1
    if options.json:
        _write(options.json, json.dumps(bench.as_json(run_id), ensure_ascii=False, indent=1))
    if options.markdown:
        _write(options.markdown, bench.markdown(run_id))
    print(plain(view.state.answer))
    return 0


class _Progress:
    """Tells each step of a run on stderr as it is recorded."""

    def __init__(self, bench: Workbench, run_id: str) -> None:
        self.bench, self.run_id, self.told = bench, run_id, 0

    def __call__(self) -> None:
        view = self.bench.view(self.run_id)
        for step in view.steps[self.told + 1 :]:
            if line := _line(step.name, step.change, view):
                _say(f"  {step.n:>3}  {line}")
        self.told = len(view.steps) - 1


def _line(name: str, change: dict[str, Any], view: View) -> str:
    """One step in a line, "" when there is nothing a person would want to know."""
    if name == "decide" and change.get("pending"):
        pending = change["pending"]
        return f"{pending['next_action']} {pending.get('query_or_url', '')} — {pending.get('reasoning', '')}"
    if name in ("search", "crawl") and change.get("actions"):
        action = change["actions"][-1]
        found = f", {action['hits']} results" if action["hits"] else ""
        return action["outcome"] + (f": {action['detail']}" if action["detail"] else "") + found
    if name == "analyze" and change.get("confidence"):
        return f"{len(change.get('facts', []))} facts, confidence {change['confidence'][-1]['value']:.2f}"
    return ""


def _eval(options: argparse.Namespace) -> int:
    job = Job(options.world, options.flow, options.model, limit=options.limit, seed=options.seed, jobs=options.jobs, keep=options.keep)
    result = evaluate(job)
    if options.json:
        _write(options.json, json.dumps(result, ensure_ascii=False, indent=1))
    width = max(map(len, result["metrics"]))
    print(f"{result['world']}: {result['n']} questions, flow {result['flow']}, model {result['model']}")
    for name, value in result["metrics"].items():
        print(f"  {name:<{width}}  {value:g}")
    return 0


def _runs(options: argparse.Namespace) -> int:
    runs = Workbench().runs(text=options.text)
    for run in runs:
        level = f"{run.confidence:.2f}" if run.confidence is not None else "  – "
        print(f"{run.id}  {run.created_at[:16]}  {run.status.value:<8} {run.verdict or '-':<11} {level}  {run.question[:100]}")
    if not runs:
        _say('no runs yet: python -m agent research "QUESTION" makes one')
    return 0


def _export(options: argparse.Namespace) -> int:
    bench = Workbench()
    text = bench.markdown(options.run) if options.format == "md" else json.dumps(bench.as_json(options.run), ensure_ascii=False, indent=1)
    if options.output:
        _write(options.output, text)
    else:
        print(text)
    return 0


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")
    except OSError as trouble:
        raise UsageError(f"{path} cannot be written: {trouble.strerror}; the run itself is kept, `export` writes it elsewhere") from trouble
    _say(f"wrote {path}")


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


