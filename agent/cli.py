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

from agent import budgeting, starting
from agent.commands import batch, carry, chat, collect, fork, hosts, ledger, limits, reply, settle, site, sources, supply, telling, trust
from agent.errors import NotFound, TouchstoneError, UsageError
from agent.evaluate import Job, evaluate
from agent.flows import FLOWS, picture
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
        telling.say(f"touchstone: {wrong}")
        return 2
    except TouchstoneError as failure:
        telling.say(f"touchstone: {failure}")
        return 1
    except BrokenPipeError:  # the reader of our output has read enough
        sys.stderr.close()
        return 0
    except KeyboardInterrupt:
        telling.say("touchstone: interrupted; `python -m agent runs` lists the run, the workbench can resume it")
        return 1


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands; the README's help is checked against it."""
    parser = hosts.Parser(prog="python -m agent", description="Touchstone: research you can check.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    research = _command(commands, "research", "ask a question and get a checked answer", _research)
    research.add_argument("question", metavar="QUESTION")
    research.add_argument("--world", default="live", metavar="live|demo|DIR", help="where to search and read (default: live, the web)")
    research.add_argument("--model", default="auto", metavar="keyless|NAME", help="the model (default: the configured one, else keyless)")
    limits.add(research)
    research.add_argument("--estimate", action="store_true", help="only tell what it is likely to need")
    hosts.add_option(research, [], "default: all")
    sources.add_options(research, engines=True)
    research.add_argument("--json", type=Path, metavar="FILE", help="write the whole run as JSON")
    research.add_argument("--markdown", type=Path, metavar="FILE", help="write the report as Markdown")
    site.add_options(_command(commands, "site", "ask chosen websites, with follow-ups", site.run))
    collect.add_options(_command(commands, "collect", "gather articles or threads from start pages", collect.run))
    chat.add_options(_command(commands, "chat", "talk with what the library holds", chat.run))
    reply.add_options(_command(commands, "reply", "answer a conversation from the knowledge base, or stay silent", reply.run))
    batch.add_options(_command(commands, "batch", "ask many questions from a table, side by side within a budget", batch.run))
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
    ledger.add_facts(_command(commands, "facts", "list what a run knows, with the words it stands on", ledger.run_facts))
    ledger.add_edit(_command(commands, "edit", "correct what a run knows; its answer is written anew", ledger.run_edit))
    settle.add_conflicts(_command(commands, "conflicts", "tell what the sources of a run disagree on", settle.run_conflicts))
    settle.add_settle(_command(commands, "settle", "rule on a conflict, or look for what would settle it", settle.run_settle))
    carry.add_export(_command(commands, "export", "write a run out", carry.run_export))
    carry.add_verify(_command(commands, "verify", "check an evidence bundle, and what its sources say today", carry.run_verify))
    carry.add_import(_command(commands, "import", "open an evidence bundle as a run", carry.run_import))
    fork.add_fork(_command(commands, "fork", "go on from a step of a run, in a new one", fork.run_fork), _line)
    fork.add_compare(_command(commands, "compare", "lay two runs side by side", fork.run_compare))
    trust.add_options(_command(commands, "trust", "say how far a domain is trusted, or list what was said", trust.run))
    supply.add_unread(_command(commands, "unread", "list what a run could not read, and what helps", supply.run_unread))
    supply.add_supply(_command(commands, "supply", "give a run a page it could not read", lambda options: supply.run_supply(options, _line)))
    drawing = _command(commands, "flow", "draw a flow from its table of steps, as Mermaid", _flow)
    drawing.add_argument("name", metavar="NAME", choices=sorted(FLOWS), help="one of: %(choices)s")
    return parser


def _command(commands: Any, name: str, help: str, act: Callable[[argparse.Namespace], int]) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=help, description=help[0].upper() + help[1:] + ".")
    parser.set_defaults(act=act)
    return parser


def _research(options: argparse.Namespace) -> int:
    chosen = {"allowed_domains": options.allow, **sources.chosen(options)}
    settings = Settings(world=options.world, model=options.model, **limits.given(options), **chosen)
    starting.check(options.question.strip(), starting.spelled(settings), FLOWS)
    bench = Workbench()
    if options.estimate:
        telling.tell(budgeting.estimate(bench, settings).told)
        return 0
    telling.reached(bench, options.world)
    return telling.drive(bench, bench.start(options.question, settings), options, _line)


def _line(name: str, change: dict[str, Any]) -> str:
    """One step in a line, "" when there is nothing a person would want to know."""
    if name == "decide" and change.get("pending"):
        pending = change["pending"]
        refused = "".join(f"\n       refused: {refusal['what']}: {refusal['why']}" for refusal in change.get("refusals", []))
        spoke = f" (by rule: {pending['trouble']})" if pending.get("trouble") else ""
        return f"{pending['next_action']} {pending.get('query_or_url') or ''} — {pending.get('reasoning', '')}{spoke}{refused}"
    if name == "budget":
        return str(change.get("why_stopped", ""))
    if name in ("search", "crawl") and change.get("actions"):
        action = change["actions"][-1]
        found = f", {action['hits']} results" if action["hits"] else ""
        return f"{action['outcome']}{': ' + action['detail'] if action['detail'] else ''}{found}"
    if name == "analyze" and change.get("confidence"):
        new = sum(1 for fact in change.get("facts", []) if fact["verified"] and fact["step"] == change["confidence"][-1]["step"])
        return f"{new} {'fact' if new == 1 else 'facts'}, confidence {change['confidence'][-1]['value']:.2f}"
    return ""


def _eval(options: argparse.Namespace) -> int:
    job = Job(options.world, options.flow, options.model, limit=options.limit, seed=options.seed, jobs=options.jobs, keep=options.keep)
    result = evaluate(job)
    if options.json:
        telling.write(options.json, json.dumps(result, ensure_ascii=False, indent=1))
    width = max(map(len, result["metrics"]))
    print(f"{result['world']}: {result['n']} questions, flow {result['flow']}, model {result['model']}")
    for name, value in result["metrics"].items():
        print(f"  {name:<{width}}  {value:g}")
    return 0


def _runs(options: argparse.Namespace) -> int:
    runs = Workbench().runs(text=options.text)
    for run in runs:
        level = f"{run.confidence:.2f}" if run.confidence is not None else "  – "
        question = f"{'(imported) ' if run.imported else ''}{run.question[:100]}"
        print(f"{run.id}  {run.created_at[:16]}  {run.status.value:<8} {run.verdict or '-':<11} {level}  {question}")
    if not runs:
        telling.say('no runs yet: python -m agent research "QUESTION" makes one')
    return 0


def _flow(options: argparse.Namespace) -> int:
    print(picture(FLOWS[options.name]), end="")
    return 0
