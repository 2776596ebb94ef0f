"""`research`: ask the web, or another world."""

from __future__ import annotations

from typing import Annotated

import typer

from agent.actions import budget, validation
from agent.cli.options import (
    Allow,
    BudgetOptions,
    Model,
    OutputFiles,
    Question,
    ReportOption,
    SearchOptions,
    World,
    typed,
)
from agent.cli.output import check_network, drive_and_print, follow_up, write_stdout
from agent.engine.run_settings import normalize_settings
from agent.flows import FLOWS
from agent.types import Settings
from agent.workbench import Workbench


def run(
    question: Question,
    *,
    world: World = "",
    model: Model = "",
    report: ReportOption = "",
    budgets: BudgetOptions,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="only print what it is likely to need")
    ] = False,
    allow: Allow = [],  # noqa: B006 - typer reads the default
    sources: SearchOptions,
    follow: Annotated[
        str,
        typer.Option(metavar="RUN", help="a further question in the thread of this run: its facts are known"),
    ] = "",
    files: OutputFiles,
) -> int:
    """Ask and print the answer; returns the exit code."""
    settings = Settings(
        **typed(world=world, model=model, report=report, allowed_domains=allow),
        **budgets.settings,
        **sources.settings(),
    )
    validation.check_new_run(question.strip(), normalize_settings(settings), FLOWS)
    bench = Workbench()
    if estimate:
        write_stdout(budget.estimate_budgets(bench, settings).description)
        return 0
    if follow:
        return drive_and_print(bench, follow_up(bench, follow, question, settings), files)
    check_network(bench, settings.world)
    return drive_and_print(bench, bench.start(question, settings), files)
