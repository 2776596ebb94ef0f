"""Kills runs of the demo world with SIGKILL at random moments until each is done, and compares them with runs
left alone.

    python -m bench.kills [--kills 200] [--seed 1] [--kinds keyless rounds report]

Each child process drives one run (of the demo world without a model, or with a scripted one that proposes rounds
of three; or one that only writes its full report, section by section); the parent kills it after a random delay and starts another, which must take
the run up where it stood. In the end every run must have reached review, its steps
must be numbered without gap or double, and what they changed must equal, time stamps aside, what an
undisturbed run changed. No prompt may reach the model again once the store has its answer. Exit code 1 when any
of this fails."""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import signal
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from agent.settings import config as configuration
from agent.store.database import Store
from agent.store.dialect import is_sqlite
from agent.types import Settings, Status, Step
from agent.workbench import Workbench
from bench import make_parser, write_figures
from tests.web.claim_judge import ALWAYS, check_reply
from tests.web.reporting_model import ReportScript, start_report
from tests.web.scripted import ScriptedModel

QUESTIONS = (
    "How old are the children of the couple who run Älvmora Mejeri?",
    "How high is the mountain that the blue cheese of Älvmora Mejeri is named after?",
    "In which year was Älvmora Mejeri founded?",
    "How many tonnes of milk did Älvmora Mejeri take in during 2025?",
)
KINDS = {
    "keyless": Settings(world="demo", model="keyless"),
    "rounds": Settings(world="demo", max_steps=8, max_pages=8),
    "report": Settings(world="demo", report="full"),
}
"""One action a round without a model; rounds of three actions side by side; the writing of a report."""
_TIMES = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*Z?")


class RoundsModel:
    """A model whose replies follow from the prompt alone: rounds of three unread results, the first sentence
    of each passage as a fact, an answer from two facts."""

    def __call__(self, messages: list[dict[str, Any]], shape: type[Any]) -> Any:
        prompt = "\n".join(str(message["content"]) for message in messages)
        time.sleep(0.01)
        match shape.__name__:
            case "PlanReply":
                return {"parts": []}
            case "DecisionReply":
                lines = [line for line in prompt.splitlines() if re.match(r"u\d+ http", line)]
                ids = [line.split()[0] for line in lines if not line.endswith("(read)")]
                pages = [{"next_action": "crawl_url", "query_or_url": name} for name in ids[:3]]
                return {"actions": pages or [{"next_action": "send_to_hitl"}]}
            case "AnalyzerReply":
                shown = re.split(r"Passage (p\d+)[^\n]*:\n", prompt.split("Pages of this round")[-1])
                texts = zip(shown[1::2], shown[2::2], strict=True)
                quotes = [(name, text.splitlines()[2].split(". ")[0]) for name, text in texts]
                facts = [{"quote": quote, "statement": quote, "passage_id": name} for name, quote in quotes]
                return {"facts": facts[:6], "confidence_score": 0.4, "assessment": "Read."}
            case "ReportReply":
                ids = list(dict.fromkeys(re.findall(r"\b(f\d+) \[", prompt)))
                return {"answer": [{"text": "It is told.", "fact_ids": ids[:2]}]}
        return check_reply(prompt, shape.__name__, ALWAYS)


class ReportModel:
    """Writes a full report of three sections, slowly enough to be killed in each."""

    def __init__(self) -> None:
        self.script = ReportScript()

    def __call__(self, messages: list[dict[str, Any]], _shape: type[Any]) -> Any:
        prompt = "\n".join(str(message["content"]) for message in messages)
        time.sleep(0.03)
        return self.script.served(SimpleNamespace(prompt=prompt))  # type: ignore[arg-type]


class Asked:
    """The prompts that reach a model, one hash a line in a file that outlives the process."""

    def __init__(self, folder: str, mind: Any) -> None:
        self.path, self.mind = Path(folder) / "asked.txt", mind

    def __call__(self, messages: list[dict[str, Any]], shape: type[Any]) -> Any:
        with self.path.open("ab", buffering=0) as file:
            file.write(hash_prompt(messages).encode() + b"\n")
        return self.mind(messages, shape)


def hash_prompt(messages: Iterable[dict[str, Any]]) -> str:
    """What tells one prompt of a run from another."""
    return hashlib.sha256(json.dumps(list(messages), sort_keys=True).encode()).hexdigest()


def take_asked(folder: str) -> list[str]:
    """The prompts that reached a model since the last look."""
    path = Path(folder) / "asked.txt"
    asked = path.read_text().split() if path.exists() else []
    path.unlink(missing_ok=True)
    return asked


def open_bench(folder: str, settings: Settings) -> Workbench:
    """The workbench of a process; with a scripted model where the run has one."""
    bench = Workbench(configuration.read_config({"TOUCHSTONE_DATA": folder, "OLLAMA_URL": ""}))
    if settings.model != "keyless":
        mind = Asked(folder, ReportModel() if settings.report == "full" else RoundsModel())
        bench.worker.model_client = lambda name, fast="": (ScriptedModel(mind), "")  # type: ignore[method-assign]
    return bench


def begin(folder: str, question: str, settings: Settings) -> str:
    """A run that nobody drives yet; one that only writes its report knows its facts already."""
    bench = open_bench(folder, settings)
    is_report = settings.report == "full"
    run_id = start_report(bench) if is_report else bench.start(question, settings)
    bench.shutdown()
    return run_id


def told(steps: list[Step]) -> list[str]:
    """What the steps changed, without the times at which they did."""
    return [
        _TIMES.sub(
            "T", json.dumps([step.n, step.name, step.change, step.next], sort_keys=True, ensure_ascii=False)
        )
        for step in steps
    ]


def undisturbed(question: str, settings: Settings) -> list[str]:
    """The steps of the same question in a store of its own, left alone."""
    with tempfile.TemporaryDirectory() as folder:
        run_id = begin(folder, question, settings)
        bench = open_bench(folder, settings)
        bench.drive(run_id)
        steps = told(bench.snapshot(run_id).steps)
        bench.shutdown()
        asked = take_asked(folder)
        assert len(asked) == len(set(asked)), "a run left alone asks nothing twice"
        return steps


def child(folder: str, run_id: str, settings: Settings) -> int:
    """A process that drives the run to its end, if it is let."""
    pid = os.fork()
    if pid == 0:
        open_bench(folder, settings).drive(run_id)
        os._exit(0)
    return pid


def main(arguments: list[str]) -> int:
    """Kill, resume, compare; prints one line of figures."""
    parser = make_parser(__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=["keyless", "rounds"])
    options = parser.parse_args(arguments)
    dice, kills, runs, wrong, worst, within = random.Random(options.seed), 0, 0, [], 0.0, 0
    calls, again = 0, 0
    cases = [(question, kind) for question in QUESTIONS for kind in map(KINDS.__getitem__, options.kinds)]
    expected = [undisturbed(question, settings) for question, settings in cases]
    with tempfile.TemporaryDirectory() as folder:
        config = configuration.read_config({"TOUCHSTONE_DATA": folder, "OLLAMA_URL": ""})
        while kills < options.kills:
            question, settings = cases[runs % len(cases)]
            runs += 1
            run_id = begin(folder, question, settings)
            killed, paid = 0, set[str]()
            while True:
                began, pid = time.monotonic(), child(folder, run_id, settings)
                patience = dice.uniform(0.005, 0.4) if killed < 8 and kills < options.kills else 120.0
                if not (is_over := ended(pid, patience)):
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)
                asked = take_asked(folder)
                calls += len(asked)
                twice = len(asked) - len(set(asked) - paid)
                if twice:
                    again += twice
                    wrong.append(f"{run_id}: {twice} answered calls were paid again after kill {killed}")
                if is_over:
                    worst = max(worst, time.monotonic() - began)
                    break
                killed, kills = killed + 1, kills + 1
                head, paid = read_progress(config, run_id)
                within += head > 0
            wrong += check(config, run_id, expected[(runs - 1) % len(cases)])
    print(
        f"{kills} kills ({within} after the first step), {runs} runs, {len(wrong)} wrong, {again} of {calls} "
        f"model calls paid again; the longest last stretch took {worst:.1f} s"
    )
    for line in wrong[:20]:
        print(" ", line)
    write_figures(
        options.json, {"kills": kills, "runs": runs, "wrong": len(wrong), "calls": calls, "paid_again": again}
    )
    return 1 if wrong else 0


def read_progress(config: configuration.Config, run_id: str) -> tuple[int, set[str]]:
    """The number of the run's last step, and the prompts whose answer is stored."""
    store = Store(config.database_url)
    head = len(store.ledger.steps(run_id)) - 1
    paid = {hash_prompt(call.prompt) for call in store.calls.list_for_run(run_id) if call.prompt_tokens}
    store.close()
    return head, paid


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
        of_a_file = is_sqlite(connection.dialect)
        sound = connection.exec_driver_sql("PRAGMA integrity_check").scalar() if of_a_file else "ok"
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
