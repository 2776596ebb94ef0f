"""Kills runs of the demo world with SIGKILL at random moments until each is done, and compares them with runs
left alone.

    python tests/bench/kills.py [--kills 200] [--seed 1]

Each child process drives one run (keyless, demo world); the parent kills it after a random delay and starts
another, which must take the run up where it stood. In the end every run must have reached review, its steps
must be numbered without gap or double, and what they changed must equal, time stamps aside, what an
undisturbed run changed. Exit code 1 when any of this fails."""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from agent import config as configuration  # noqa: E402
from agent.store.database import Store  # noqa: E402
from agent.types import Settings, Status, Step  # noqa: E402
from agent.workbench import Workbench  # noqa: E402

QUESTIONS = (
    "How old are the children of the couple who run Älvmora Mejeri?",
    "How high is the mountain that the blue cheese of Älvmora Mejeri is named after?",
    "In which year was Älvmora Mejeri founded?",
    "How many tonnes of milk did Älvmora Mejeri take in during 2025?",
)
_TIMES = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*Z?")


def told(steps: list[Step]) -> list[str]:
    """What the steps changed, without the times at which they did."""
    return [
        _TIMES.sub(
            "T", json.dumps([step.n, step.name, step.change, step.next], sort_keys=True, ensure_ascii=False)
        )
        for step in steps
    ]


def undisturbed(question: str) -> list[str]:
    """The steps of the same question in a store of its own, left alone."""
    with tempfile.TemporaryDirectory() as folder:
        bench = Workbench(configuration.read_config({"TOUCHSTONE_DATA": folder}))
        run_id = bench.start(question, Settings(world="demo", model="keyless"))
        bench.drive(run_id)
        steps = told(bench.snapshot(run_id).steps)
        bench.shutdown()
        return steps


def child(folder: str, run_id: str) -> int:
    """A process that drives the run to its end, if it is let."""
    pid = os.fork()
    if pid == 0:
        bench = Workbench(configuration.read_config({"TOUCHSTONE_DATA": folder}))
        bench.drive(run_id)
        os._exit(0)
    return pid


def main(arguments: list[str]) -> int:
    """Kill, resume, compare; prints one line of figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    dice, kills, runs, wrong, worst = random.Random(options.seed), 0, 0, [], 0.0
    expected = {question: undisturbed(question) for question in QUESTIONS}
    with tempfile.TemporaryDirectory() as folder:
        config = configuration.read_config({"TOUCHSTONE_DATA": folder})
        while kills < options.kills:
            question = QUESTIONS[runs % len(QUESTIONS)]
            runs += 1
            store = Store(config.database_url)
            settings = Settings(world="demo", model="keyless")
            first = Step(
                n=0,
                name="ask",
                change={"question": question, "settings": settings.model_dump()},
                next="decide",
                by="person",
            )
            run_id = store.ledger.create(question, settings, first)
            store.close()
            killed = 0
            while True:
                began, pid = time.monotonic(), child(folder, run_id)
                patience = dice.uniform(0.005, 0.25) if killed < 8 and kills < options.kills else 120.0
                if ended(pid, patience):
                    worst = max(worst, time.monotonic() - began)
                    break
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                killed, kills = killed + 1, kills + 1
            wrong += check(config, run_id, expected[question])
    print(f"{kills} kills, {runs} runs, {len(wrong)} wrong; the longest last stretch took {worst:.1f} s")
    for line in wrong[:20]:
        print(" ", line)
    return 1 if wrong else 0


def ended(pid: int, patience: float) -> bool:
    """Wait for a process to end by itself; False when it has not within `patience` seconds."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        if os.waitpid(pid, os.WNOHANG)[0]:
            return True
        time.sleep(0.002)
    return False


def check(config: configuration.Config, run_id: str, expected: list[str]) -> list[str]:
    """What is wrong with a run that was killed: nothing, if all is well."""
    store = Store(config.database_url)
    run, steps = store.ledger.get(run_id), store.ledger.steps(run_id)
    with store.engine.connect() as connection:
        sound = connection.exec_driver_sql("PRAGMA integrity_check").scalar()
    store.close()
    wrong = [] if sound == "ok" else [f"{run_id}: the database is damaged: {sound}"]
    if run.status is not Status.REVIEW:
        wrong.append(f"{run_id}: it is {run.status.value}, not in review {run.error}")
    if [step.n for step in steps] != list(range(len(steps))):
        wrong.append(f"{run_id}: the steps are numbered {[step.n for step in steps]}")
    got = told(steps)
    if got != expected:
        at = next(
            (n for n, (a, b) in enumerate(zip(got, expected, strict=False)) if a != b),
            min(len(got), len(expected)),
        )
        wrong.append(f"{run_id}: step {at} differs ({len(got)} steps, {len(expected)} expected)")
    return wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
