"""The command line: a thin door to the workbench. Progress goes to stderr, what was asked for to stdout.

Exit codes: 0 the run reached review (an honest `no_evidence` too), 1 it failed (the reason is told), 2 wrong
usage."""

from __future__ import annotations

import argparse
import json
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agent.actions import budget, validation
from agent.cli import (
    batch,
    budget_options,
    bundle,
    chat,
    collect,
    conflicts,
    domain_options,
    facts,
    fork,
    output,
    pages,
    reply,
    site,
    source_options,
    trust,
)
from agent.engine.run_settings import normalize_settings
from agent.errors import NotFound, TouchstoneError, UsageError
from agent.evaluation.runner import EvaluationJob, evaluate
from agent.flows import FLOWS, draw_flow
from agent.types import Settings
from agent.workbench import Workbench


def main(arguments: list[str]) -> int:
    """Run one command; returns the exit code."""
    parser = build_parser()
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(message)s", stream=sys.stderr)
    try:
        return int(options.act(options))
    except (UsageError, NotFound) as wrong:
        output.write_stderr(f"touchstone: {wrong}")
        return 2
    except TouchstoneError as failure:
        output.write_stderr(f"touchstone: {failure}")
        return 1
    except BrokenPipeError:  # the reader of our output has read enough
        sys.stderr.close()
        return 0
    except KeyboardInterrupt:
        output.write_stderr(
            "touchstone: interrupted; `python -m agent runs` lists the run, the workbench can resume it"
        )
        return 1


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands; the README's help is checked against it."""
    parser = domain_options.HostListParser(
        prog="python -m agent", description="Touchstone: research you can check."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    research = _add_command(commands, "research", "ask a question and get a checked answer", _run_research)
    research.add_argument("question", metavar="QUESTION")
    research.add_argument(
        "--world",
        default="live",
        metavar="live|demo|DIR",
        help="where to search and read (default: live, the web)",
    )
    research.add_argument(
        "--model",
        default="auto",
        metavar="keyless|NAME",
        help="the model (default: the configured one, else keyless)",
    )
    budget_options.add_options(research)
    research.add_argument("--estimate", action="store_true", help="only tell what it is likely to need")
    domain_options.add_allow_option(research, [], "default: all")
    source_options.add_options(research, engines=True)
    research.add_argument("--json", type=Path, metavar="FILE", help="write the whole run as JSON")
    research.add_argument("--markdown", type=Path, metavar="FILE", help="write the report as Markdown")
    site.add_options(_add_command(commands, "site", "ask chosen websites, with follow-ups", site.run))
    collect.add_options(
        _add_command(commands, "collect", "gather articles or threads from start pages", collect.run)
    )
    chat.add_options(_add_command(commands, "chat", "talk with what the library holds", chat.run))
    reply.add_options(
        _add_command(
            commands, "reply", "answer a conversation from the knowledge base, or stay silent", reply.run
        )
    )
    batch.add_options(
        _add_command(
            commands, "batch", "ask many questions from a table, side by side within a budget", batch.run
        )
    )
    score = _add_command(commands, "eval", "score a world by its questions", _run_eval)
    score.add_argument("world", metavar="DIR|demo")
    score.add_argument(
        "--flow", default="research", choices=sorted(FLOWS), help="which flow is asked (default: %(default)s)"
    )
    score.add_argument("--model", default="keyless", metavar="NAME", help="the model (default: %(default)s)")
    score.add_argument(
        "--limit", type=int, default=0, metavar="N", help="ask only N questions, drawn at random"
    )
    score.add_argument(
        "--seed", type=int, default=0, metavar="S", help="the draw's seed (default: %(default)s)"
    )
    score.add_argument("--jobs", type=int, default=0, metavar="N", help="processes (default: one a core)")
    score.add_argument("--keep", default="", metavar="DIR", help="keep the runs' stores in this folder")
    score.add_argument("--json", type=Path, metavar="FILE", help="write figures and questions as JSON")
    listing = _add_command(commands, "runs", "list the runs, newest first", _list_runs)
    listing.add_argument("--text", default="", help="only those with this text in the question")
    facts.add_facts_options(
        _add_command(commands, "facts", "list what a run knows, with the words it stands on", facts.run_facts)
    )
    facts.add_edit_options(
        _add_command(commands, "edit", "correct what a run knows; its answer is written anew", facts.run_edit)
    )
    conflicts.add_conflicts_options(
        _add_command(
            commands, "conflicts", "tell what the sources of a run disagree on", conflicts.run_conflicts
        )
    )
    conflicts.add_settle_options(
        _add_command(
            commands, "settle", "rule on a conflict, or look for what would settle it", conflicts.run_settle
        )
    )
    bundle.add_export_options(_add_command(commands, "export", "write a run out", bundle.run_export))
    bundle.add_verify_options(
        _add_command(
            commands, "verify", "check an evidence bundle, and what its sources say today", bundle.run_verify
        )
    )
    bundle.add_import_options(
        _add_command(commands, "import", "open an evidence bundle as a run", bundle.run_import)
    )
    fork.add_fork_options(
        _add_command(commands, "fork", "go on from a step of a run, in a new one", fork.run_fork),
        _format_step,
    )
    fork.add_compare_options(_add_command(commands, "compare", "lay two runs side by side", fork.run_compare))
    trust.add_options(
        _add_command(commands, "trust", "say how far a domain is trusted, or list what was said", trust.run)
    )
    pages.add_unread_options(
        _add_command(commands, "unread", "list what a run could not read, and what helps", pages.run_unread)
    )
    pages.add_supply_options(
        _add_command(
            commands,
            "supply",
            "give a run a page it could not read",
            lambda options: pages.run_supply(options, _format_step),
        )
    )
    drawing = _add_command(commands, "flow", "draw a flow from its table of steps, as Mermaid", _draw_flow)
    drawing.add_argument("name", metavar="NAME", choices=sorted(FLOWS), help="one of: %(choices)s")
    return parser


def _add_command(
    commands: Any, name: str, help: str, act: Callable[[argparse.Namespace], int]
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=help, description=help[0].upper() + help[1:] + "."
    )
    parser.set_defaults(act=act)
    return parser


def _run_research(options: argparse.Namespace) -> int:
    chosen = {"allowed_domains": options.allow, **source_options.chosen_settings(options)}
    settings = Settings(
        world=options.world, model=options.model, **budget_options.chosen_settings(options), **chosen
    )
    validation.check_new_run(options.question.strip(), normalize_settings(settings), FLOWS)
    bench = Workbench()
    if options.estimate:
        output.write_stdout(budget.estimate_budgets(bench, settings).description)
        return 0
    output.check_network(bench, options.world)
    return output.drive_run(bench, bench.start(options.question, settings), options, _format_step)


def _format_step(name: str, change: dict[str, Any]) -> str:
    """One step in a line, "" when there is nothing a person would want to know."""
    if name == "decide" and change.get("pending"):
        pending = change["pending"]
        refused = "".join(
            f"\n       refused: {refusal['what']}: {refusal['why']}" for refusal in change.get("refusals", [])
        )
        spoke = f" (by rule: {pending['trouble']})" if pending.get("trouble") else ""
        return f"{pending['next_action']} {pending.get('query_or_url') or ''} — {pending.get('reasoning', '')}{spoke}{refused}"
    if name == "budget":
        return str(change.get("why_stopped", ""))
    if name in ("search", "crawl") and change.get("actions"):
        action = change["actions"][-1]
        found = f", {action['hits']} results" if action["hits"] else ""
        return f"{action['outcome']}{': ' + action['detail'] if action['detail'] else ''}{found}"
    if name == "analyze" and change.get("confidence"):
        new = sum(
            1
            for fact in change.get("facts", [])
            if fact["verified"] and fact["step"] == change["confidence"][-1]["step"]
        )
        return f"{new} {'fact' if new == 1 else 'facts'}, confidence {change['confidence'][-1]['value']:.2f}"
    return ""


def _run_eval(options: argparse.Namespace) -> int:
    job = EvaluationJob(
        options.world,
        options.flow,
        options.model,
        limit=options.limit,
        seed=options.seed,
        jobs=options.jobs,
        keep=options.keep,
    )
    result = evaluate(job)
    if options.json:
        output.write_file(options.json, json.dumps(result, ensure_ascii=False, indent=1))
    width = max(map(len, result["metrics"]))
    print(f"{result['world']}: {result['n']} questions, flow {result['flow']}, model {result['model']}")
    for name, value in result["metrics"].items():
        print(f"  {name:<{width}}  {value:g}")
    return 0


def _list_runs(options: argparse.Namespace) -> int:
    runs = Workbench().runs(text=options.text)
    for run in runs:
        level = f"{run.confidence:.2f}" if run.confidence is not None else "  – "
        question = f"{'(imported) ' if run.imported else ''}{run.question[:100]}"
        print(
            f"{run.id}  {run.created_at[:16]}  {run.status.value:<8} {run.verdict or '-':<11} {level}  {question}"
        )
    if not runs:
        output.write_stderr('no runs yet: python -m agent research "QUESTION" makes one')
    return 0


def _draw_flow(options: argparse.Namespace) -> int:
    print(draw_flow(FLOWS[options.name]), end="")
    return 0
