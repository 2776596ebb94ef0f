"""`eval`: score a world by its questions."""

from __future__ import annotations

from argparse import Namespace

from agent.cli.options import JSON_FILE, choice, option
from agent.cli.output import to_json, write_file, write_stdout
from bench.evaluation.runner import EVALUATED_FLOWS, EvaluationJob, evaluate

ARGUMENTS = (
    option("world", metavar="DIR|demo", help="a folder with questions and documents"),
    choice(
        "--flow",
        metavar="NAME",
        default="research",
        choices=EVALUATED_FLOWS,
        help=f"one of {', '.join(EVALUATED_FLOWS)} [default: %(default)s]",
    ),
    option("--model", metavar="NAME", default="keyless", help="the model [default: %(default)s]"),
    option("--limit", metavar="N", type=int, default=0, help="ask only N questions, drawn at random"),
    option("--seed", metavar="S", type=int, default=0, help="seed of the draw"),
    option("--jobs", metavar="N", type=int, default=0, help="processes; 0: one a core"),
    option("--keep", metavar="DIR", default="", help="keep the stores of the runs in this folder"),
    JSON_FILE,
)


def run(args: Namespace) -> int:
    """Ask the questions and print the metrics; returns the exit code."""
    draw = {"limit": args.limit, "seed": args.seed, "jobs": args.jobs}
    result = evaluate(EvaluationJob(args.world, args.flow, args.model, **draw, keep=args.keep))
    if args.json_file:
        write_file(args.json_file, to_json(result))
    width = max(map(len, result["metrics"]))
    write_stdout(
        f"{result['world']}: {result['n']} questions, flow {result['flow']}, model {result['model']}"
    )
    for name, value in result["metrics"].items():
        write_stdout(f"  {name:<{width}}  {value:g}")
    return 0
