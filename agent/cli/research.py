"""`research`: ask the web, or another world."""

from __future__ import annotations

from typing import Annotated, cast

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
)
from agent.cli.output import check_network, drive_and_print, write_stdout
from agent.engine.run_settings import normalize_settings
from agent.flows import FLOWS
from agent.types import ReportLength, Settings
from agent.workbench import Workbench


def run(
    question: Question,
    *,
    world: World = "live",
    model: Model = "auto",
    report: ReportOption = "standard",
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
        world=world,
        model=model,
        report=cast(ReportLength, report),
        allowed_domains=allow,
        **budgets.settings,
        **sources.settings(),
    )
    validation.check_new_run(question.strip(), normalize_settings(settings), FLOWS)
    bench = Workbench()
    if estimate:
        write_stdout(budget.estimate_budgets(bench, settings).description)
        return 0
    if follow:
        return _follow(bench, follow, question, settings, files)
    check_network(bench, world)
    return drive_and_print(bench, bench.start(question, settings), files)


def _follow(bench: Workbench, run_id: str, question: str, given: Settings, files: OutputFiles) -> int:
    """A further question with the settings of the thread, and in their place those that were given."""
    previous, plain = bench.store.ledger.get(run_id).settings, Settings()
    changed = {
        name: value for name, value in given if value != getattr(plain, name) and name not in ("thread_id",)
    }
    settings = previous.replace(**changed)
    check_network(bench, settings.world)
    return drive_and_print(bench, bench.follow_up(run_id, question, settings), files)
