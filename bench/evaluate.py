"""Score a world by its questions: what the figures mean stands in docs/evaluation.md.

python -m bench.evaluate DIR|demo [--flow NAME] [--model NAME] [--limit N] [--seed S] [--json FILE]"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from agent.errors import TouchstoneError
from bench.evaluation import runner


def main(arguments: list[str]) -> int:
    """Ask the questions and print the metrics; returns the exit code, as the command line has them."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.evaluate", description="Score a world by its questions."
    )
    parser.add_argument("world", metavar="DIR|demo", help="a folder with questions and documents")
    parser.add_argument("--flow", choices=runner.EVALUATED_FLOWS, default="research", help="[%(default)s]")
    parser.add_argument("--model", default="keyless", help="the model [%(default)s]")
    parser.add_argument("--limit", type=int, default=0, help="ask only so many questions, drawn at random")
    parser.add_argument("--seed", type=int, default=0, help="seed of the draw")
    parser.add_argument("--jobs", type=int, default=0, help="processes; 0: one a core")
    parser.add_argument(
        "--keep", metavar="DIR", default="", help="keep the stores of the runs in this folder"
    )
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the figures with a row a question")
    asked = parser.parse_args(arguments)
    job = runner.EvaluationJob(
        asked.world, asked.flow, asked.model, asked.limit, asked.seed, asked.jobs, asked.keep
    )
    try:
        result = runner.evaluate(job)
        if asked.json:
            asked.json.write_text(json.dumps(result, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    except (TouchstoneError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2 if isinstance(error, TouchstoneError) else 1
    width = max(map(len, result["metrics"]))
    print(f"{result['world']}: {result['n']} questions, flow {result['flow']}, model {result['model']}")
    for name, value in result["metrics"].items():
        print(f"  {name:<{width}}  {value:g}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
