"""`research`: ask the web, or another world."""

from __future__ import annotations

from argparse import Namespace

from agent.actions import budget, validation
from agent.cli.options import (
    ALLOW,
    BUDGETS,
    MODEL,
    OUTPUT_FILES,
    QUESTION,
    REPORT,
    SEARCH_SOURCES,
    WORLD,
    flag,
    option,
    read_settings,
)
from agent.cli.output import check_network, drive_and_print, follow_up, write_stdout
from agent.engine.run_settings import normalize_settings
from agent.flows import FLOWS
from agent.workbench import Workbench

ARGUMENTS = (
    QUESTION,
    WORLD,
    MODEL,
    REPORT,
    *BUDGETS,
    flag("--estimate", "only print what it is likely to need"),
    ALLOW,
    *SEARCH_SOURCES,
    option("--follow RUN", "a further question in the thread of this run: its facts are known"),
    *OUTPUT_FILES,
)


def run(args: Namespace) -> int:
    """Ask and print the answer; returns the exit code."""
    question, settings = args.question, read_settings(args)
    validation.check_new_run(question.strip(), normalize_settings(settings), FLOWS)
    bench = Workbench()
    if args.estimate:
        write_stdout(budget.estimate_budgets(bench, settings).description)
        return 0
    if args.follow:
        return drive_and_print(bench, follow_up(bench, args.follow, question, settings), args)
    check_network(bench, settings.world)
    return drive_and_print(bench, bench.start(question, settings), args)
