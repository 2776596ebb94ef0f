"""`eval`: score a world by its questions."""

from __future__ import annotations

from argparse import Namespace

from agent.cli.options import JSON_FILE, command, option
from agent.cli.output import to_json, write_file, write_stdout
from bench.evaluation import runner


@command(
    option("world DIR|demo", "a folder with questions and documents"),
    option(
        "--flow NAME",
        f"one of {', '.join(runner.EVALUATED_FLOWS)} [default: research]",
        default="research",
        choices=runner.EVALUATED_FLOWS,
    ),
    option("--model NAME", "the model [default: keyless]", default="keyless"),
    option("--limit N", "ask only N questions, drawn at random", default=0, type=int),
    option("--seed S", "seed of the draw", default=0, type=int),
    option("--jobs N", "processes; 0: one a core", default=0, type=int),
    option("--keep DIR", "keep the stores of the runs in this folder", default=""),
    JSON_FILE,
)
def evaluate(args: Namespace) -> int:
    """Ask the questions and print the metrics; returns the exit code."""
    draw = {"limit": args.limit, "seed": args.seed, "jobs": args.jobs}
    result = runner.evaluate(runner.EvaluationJob(args.world, args.flow, args.model, **draw, keep=args.keep))
    if args.json_file:
        write_file(args.json_file, to_json(result))
    width = max(map(len, result["metrics"]))
    write_stdout(
        f"{result['world']}: {result['n']} questions, flow {result['flow']}, model {result['model']}"
    )
    for name, value in result["metrics"].items():
        write_stdout(f"  {name:<{width}}  {value:g}")
    return 0
