"""`eval`: score a world by its questions."""

from __future__ import annotations

from typing import Annotated

import typer

from agent.cli.options import JsonFile, choose_from
from agent.cli.output import to_json, write_file, write_stdout
from agent.evaluation.runner import EVALUATED_FLOWS, EvaluationJob, evaluate


def run(
    world: Annotated[str, typer.Argument(metavar="DIR|demo", help="a folder with questions and documents")],
    *,
    flow: Annotated[
        str,
        typer.Option(
            metavar="NAME", help=f"one of {', '.join(EVALUATED_FLOWS)}", **choose_from(EVALUATED_FLOWS)
        ),
    ] = "research",
    model: Annotated[str, typer.Option(metavar="NAME", help="the model")] = "keyless",
    limit: Annotated[int, typer.Option(metavar="N", help="ask only N questions, drawn at random")] = 0,
    seed: Annotated[int, typer.Option(metavar="S", help="seed of the draw")] = 0,
    jobs: Annotated[int, typer.Option(metavar="N", help="processes; 0: one a core")] = 0,
    keep: Annotated[str, typer.Option(metavar="DIR", help="keep the stores of the runs in this folder")] = "",
    json_file: JsonFile = None,
) -> int:
    """Ask the questions and print the metrics; returns the exit code."""
    result = evaluate(EvaluationJob(world, flow, model, limit=limit, seed=seed, jobs=jobs, keep=keep))
    if json_file:
        write_file(json_file, to_json(result))
    width = max(map(len, result["metrics"]))
    write_stdout(
        f"{result['world']}: {result['n']} questions, flow {result['flow']}, model {result['model']}"
    )
    for name, value in result["metrics"].items():
        write_stdout(f"  {name:<{width}}  {value:g}")
    return 0
