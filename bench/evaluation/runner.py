"""Evaluates a world: asks each of its questions in a temporary store, without a model unless one is named,
and scores the answers.

It uses the workbench like any other surface and adds nothing to what a run does. The scores are made by
`question_score`, the metrics by `metrics`."""

from __future__ import annotations

import gzip
import json
import logging
import os
import random
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from agent.api import make_ask
from agent.errors import NotFound, UsageError
from agent.settings import config as configuration
from agent.text.urls import host
from agent.types import CollectLimits, Outcome, Settings, Status, Turn
from agent.workbench import Workbench
from bench.evaluation import collection_score, metrics, query_rewriting
from bench.evaluation.question_score import score_run

log = logging.getLogger(__name__)
EVALUATED_FLOWS = ("chat", "collect", "reply", "research", "site")
"""Flows that answer questions, and `collect`, whose questions name the items to gather."""
LIBRARY_FLOWS = ("reply", "chat")
"""Flows that answer from the library: the documents of the world are added to it first."""
DEFAULT_ENVIRONMENT = {"CONFIG_FILE": "", "KB_DIR": "", "TEAM_DIR": "", "CONVERSATIONAL_MODE": "true"}
"""The operator's knowledge base and settings do not influence an evaluation."""


@dataclass(frozen=True)
class EvaluationJob:
    """What to evaluate: a world, a flow, a model, at most `limit` questions (0: all) drawn with `seed`, in
    `jobs` processes (0: one a core)."""

    world: str
    flow: str = "research"
    model: str = "keyless"
    limit: int = 0
    seed: int = 0
    jobs: int = 0
    keep: str = ""
    """The folder that keeps the stores; empty: they are deleted."""


def evaluate(job: EvaluationJob) -> dict[str, Any]:
    """The object that `eval --json` writes. Raises NotFound or UsageError when there is nothing to ask."""
    if job.flow not in EVALUATED_FLOWS:
        raise UsageError(f"{job.flow} is not measured by questions: choose {', '.join(EVALUATED_FLOWS)}")
    if job.limit < 0 or job.jobs < 0:
        raise UsageError(
            "--limit and --jobs count questions and processes: give a number from 0 (no limit, one a core) up"
        )
    folder = _world_folder(job)
    given, urls = read_questions(folder), read_urls(folder)
    questions = [each for each in given if ("items" in each) == (job.flow == "collect")]
    if not questions:
        raise UsageError(
            f"no question of {folder} is for the flow {job.flow}: those of collect name `start_url` and the "
            "`items` to gather, those of other flows none"
        )
    is_rewriting = not urls and all("rewrite" in question for question in questions)
    if not urls and not is_rewriting:
        raise UsageError(
            f"{folder} has questions but no documents; the flow {job.flow} needs docs.jsonl or "
            f"docs.jsonl.gz there"
        )
    if 0 < job.limit < len(questions):
        questions = random.Random(job.seed).sample(questions, job.limit)
    head = {"world": job.world, "flow": "rewrite" if is_rewriting else job.flow, "model": job.model}
    if is_rewriting:
        return {**head, **_evaluate_rewrites(job, questions)}
    order = {question["id"]: n for n, question in enumerate(questions)}
    with tempfile.TemporaryDirectory(prefix="touchstone-eval-") as scratch:
        scored = _score_all(replace(job, keep=job.keep or scratch), questions, urls)
        rows = sorted(_show_progress(scored, len(questions), "question"), key=lambda row: order[row["id"]])
    if job.flow == "collect":
        shares = collection_score.compute_metrics(rows)
        return {**head, "n": len(rows), "metrics": shares, "questions": rows}
    bins = metrics.reliability_bins(rows)
    return {
        **head,
        "n": len(rows),
        "metrics": metrics.compute_metrics(rows),
        **({"reliability": bins} if bins else {}),
        "questions": [{name: value for name, value in row.items() if name != "step_cpu_ms"} for row in rows],
    }


def _evaluate_rewrites(job: EvaluationJob, questions: list[dict[str, Any]]) -> dict[str, Any]:
    """The scores of a set of rewrites: only one role is called, no run started. Raises UsageError."""
    ask = make_ask(job.model, configuration.read_config())
    rows = [
        query_rewriting.score_rewrite(question, parse_history(question.get("history", [])), ask)
        for question in _show_progress(questions, len(questions), "turn")
    ]
    return {"n": len(rows), "metrics": query_rewriting.compute_metrics(rows), "questions": rows}


def _show_progress(rows: Iterable[dict[str, Any]], total: int, unit: str) -> Iterable[dict[str, Any]]:
    from tqdm import tqdm  # imported here: only an evaluation needs it

    shown: Iterable[dict[str, Any]] = tqdm(rows, total=total, unit=unit)
    return shown


def _world_folder(job: EvaluationJob) -> Path:
    return configuration.ROOT / "demo" if job.world == "demo" else Path(job.world)


def read_questions(folder: Path) -> list[dict[str, Any]]:
    """The questions of a set. Raises NotFound when there are none."""
    rows = list(_read_jsonl(folder, "questions"))
    if not rows:
        raise NotFound(
            f"{folder} holds no questions.jsonl or questions.jsonl.gz: name a folder that does, or demo"
        )
    return rows


def read_urls(folder: Path) -> dict[str, str]:
    """The address of each document by its id."""
    return {row["id"]: row["url"] for row in _read_jsonl(folder, "docs")}


def _read_jsonl(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    plain, packed = folder / f"{name}.jsonl", folder / f"{name}.jsonl.gz"
    path = plain if plain.is_file() else packed
    if not path.is_file():
        return
    with gzip.open(path, "rt", encoding="utf-8") if path is packed else path.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.strip())


def _score_all(
    job: EvaluationJob, questions: list[dict[str, Any]], urls: dict[str, str]
) -> Iterator[dict[str, Any]]:
    jobs = min(job.jobs or os.cpu_count() or 1, len(questions))
    if jobs == 1:
        bench = open_workbench(job)
        for question in questions:
            yield score_question(bench, job, question, urls)
        bench.shutdown()
        return
    with ProcessPoolExecutor(
        jobs, mp_context=get_context("spawn"), initializer=_init_process, initargs=(job, urls)
    ) as pool:
        for future in as_completed([pool.submit(_score_in_process, question) for question in questions]):
            yield future.result()


_process_state: dict[str, Any] = {}
"""The state of an evaluating process: its workbench, the job, the addresses."""


def _init_process(job: EvaluationJob, urls: dict[str, str]) -> None:
    _process_state.update(bench=open_workbench(job), job=job, urls=urls)


def _score_in_process(question: dict[str, Any]) -> dict[str, Any]:
    return score_question(_process_state["bench"], _process_state["job"], question, _process_state["urls"])


def open_workbench(job: EvaluationJob) -> Workbench:
    """A workbench with a store of its own; for a flow on the library, with the world's documents in it."""
    folder = Path(job.keep or tempfile.mkdtemp(prefix="touchstone-eval-")).resolve()
    bench = Workbench(
        configuration.read_config(
            {"TOUCHSTONE_DATA": str(folder / str(os.getpid())), "DATABASE_URL": "", **DEFAULT_ENVIRONMENT}
        )
    )
    if job.flow in LIBRARY_FLOWS:
        _fill_library(bench, job)
    return bench


def _fill_library(bench: Workbench, job: EvaluationJob) -> None:
    """Add the documents of the world to the library."""
    world = bench.worker.world(job.world)
    fetched = (world.fetch(url) for url in read_urls(_world_folder(job)).values())
    for page in fetched:
        if page.outcome is Outcome.OK and page.text.strip():
            bench.library.add_page(page)


def score_question(
    bench: Workbench, job: EvaluationJob, question: dict[str, Any], urls: dict[str, str]
) -> dict[str, Any]:
    """Ask one question and score its run. A failed run counts as a crash."""
    began = time.monotonic()
    run_id = bench.start(
        question["question"], settings_for(job, question), history=parse_history(question.get("history", []))
    )
    status = bench.drive(run_id)
    view = bench.snapshot(run_id)
    if status is Status.FAILED:
        log.error("%s failed: %s", question["id"], view.run.error)
    return {
        "id": question["id"],
        "answerable": question.get("answerable"),
        "type": question.get("type", ""),
        **(
            collection_score.score_collection(bench, view, question)
            if job.flow == "collect"
            else score_run(bench, view, question, urls)
        ),
        "crashes": int(status is Status.FAILED),
        "seconds": round(time.monotonic() - began, 3),
    }


def settings_for(job: EvaluationJob, question: dict[str, Any]) -> Settings:
    """The settings a question is asked with. `site` is limited to the host of the question and starts at its
    root (or `start_url`). Raises UsageError when a question for `site` names neither."""
    start = question.get("start_url") or ""
    settings = Settings(flow=job.flow, world=job.world, model=job.model, start_urls=[start] if start else [])
    if job.flow == "collect":
        limits = CollectLimits(max_articles=question.get("max_articles", CollectLimits().max_articles))
        return settings.replace(collect=limits)
    if job.flow != "site":
        return settings
    domain = question.get("host") or host(start)
    if not domain:
        raise UsageError(
            f"the question {question['id']} names no `host` and no `start_url`; the flow site needs one"
        )
    return settings.replace(start_urls=[start or f"https://{domain}/"], allowed_domains=[domain])


def parse_history(history: list[dict[str, str]]) -> list[Turn]:
    """The earlier messages of a conversation as turns."""
    found: list[Turn] = []
    for message in history:
        if message.get("role") == "user":
            found.append(Turn(user=message["text"], bot="", run_id="", answered=True))
        elif found:
            found[-1] = found[-1].replace(bot=message["text"])
    return found
