"""Scores a world: asks each of its questions, keyless unless a model is named, in a throw-away store, and
compares.

A door: it uses the workbench like any other surface and adds nothing to what a run does. What is counted and
how: `scoring`."""

from __future__ import annotations

import gzip
import json
import logging
import os
import random
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from tqdm import tqdm

from agent import config as configuration
from agent.engine.run_state import RunState
from agent.errors import NotFound, UsageError
from agent.evaluation import metrics, query_rewriting
from agent.flows.chat.dialogue import conversation_kind
from agent.flows.shared.conflict_sentences import CONFLICT_PREFIX
from agent.text.urls import canonicalize
from agent.text.urls import host as hostname
from agent.types import Outcome, Settings, SiteLimits, Status, Turn
from agent.workbench import RunSnapshot, Workbench

log = logging.getLogger(__name__)
MAX_PAGES = 12
"""Pages a question may read: a hard limit of the measurement."""
LIBRARY_FLOWS = ("reply", "chat", "chat_simple")
"""Flows that answer from the library: the world's documents are put there first."""
DEFAULT_ENVIRONMENT = {"CONFIG_FILE": "", "KB_DIR": "", "TEAM_DIR": "", "CONVERSATIONAL_MODE": "true"}
"""An operator's own knowledge base and settings of `reply` and `chat` are no part of a measurement."""
RECALL_AT = 5
"""Sources that are counted as retrieved, the first ones."""


@dataclass(frozen=True)
class EvaluationJob:
    """What to evaluate: a world, a flow, a model, at most `limit` questions drawn with `seed`, in `jobs`
    processes."""

    world: str
    flow: str = "research"
    model: str = "keyless"
    limit: int = 0
    seed: int = 0
    jobs: int = 0
    keep: str = ""
    """A folder the stores are kept in; empty: thrown away."""


def evaluate(job: EvaluationJob) -> dict[str, Any]:
    """The object that `eval --json` writes. Raises NotFound or UsageError when there is nothing to ask."""
    if job.limit < 0 or job.jobs < 0:
        raise UsageError(
            "--limit and --jobs count questions and processes: give a number from 0 (no limit, one a core) up"
        )
    folder = configuration.ROOT / "demo" if job.world == "demo" else Path(job.world)
    questions, urls = read_questions(folder), read_urls(folder)
    if not urls and all("rewrite" in question for question in questions):
        return _evaluate_rewrites(job, _sample_questions(job, questions))
    if not urls:
        raise UsageError(
            f"{folder} has questions but no documents; the flow {job.flow} needs docs.jsonl or docs.jsonl.gz there"
        )
    questions = _sample_questions(job, questions)
    order = {question["id"]: n for n, question in enumerate(questions)}
    with tempfile.TemporaryDirectory(prefix="touchstone-eval-") as scratch:
        asked = _score_all(replace(job, keep=job.keep or scratch), questions, urls)
        rows = sorted(tqdm(asked, total=len(questions), unit="question"), key=lambda row: order[row["id"]])
    shown = [{name: value for name, value in row.items() if name != "step_cpu_ms"} for row in rows]
    curve, bins = metrics.refusal_curve(rows), metrics.reliability_bins(rows)
    return {
        "world": job.world,
        "flow": job.flow,
        "model": job.model,
        "n": len(rows),
        "metrics": metrics.compute_metrics(rows),
        **({"refusal_curve": curve} if curve else {}),
        **({"reliability": bins} if bins else {}),
        "questions": shown,
    }


def _sample_questions(job: EvaluationJob, questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return (
        random.Random(job.seed).sample(questions, job.limit) if 0 < job.limit < len(questions) else questions
    )


def _evaluate_rewrites(job: EvaluationJob, questions: list[dict[str, Any]]) -> dict[str, Any]:
    """What a set of rewrites gives: no run is started, only the one role is asked. Raises UsageError when the
    model is not there."""
    asking = query_rewriting.make_ask(job.model, configuration.read_config())
    rows = [
        query_rewriting.score_rewrite(question, parse_history(question.get("history", [])), asking)
        for question in tqdm(questions, unit="turn")
    ]
    return {
        "world": job.world,
        "flow": "rewrite",
        "model": job.model,
        "n": len(rows),
        "metrics": query_rewriting.compute_metrics(rows),
        "questions": rows,
    }


def read_questions(folder: Path) -> list[dict[str, Any]]:
    """The questions of a set. Raises NotFound when there are none."""
    rows = list(_read_jsonl(folder, "questions"))
    if not rows:
        raise NotFound(
            f"{folder} holds no questions.jsonl or questions.jsonl.gz: name a folder that does, or demo"
        )
    return rows


def read_urls(folder: Path) -> dict[str, str]:
    """The documents' addresses by their ids."""
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
"""What one evaluating process holds: its workbench, the job, the addresses."""


def _init_process(job: EvaluationJob, urls: dict[str, str]) -> None:
    _process_state.update(bench=open_workbench(job), job=job, urls=urls)


def _score_in_process(question: dict[str, Any]) -> dict[str, Any]:
    return score_question(_process_state["bench"], _process_state["job"], question, _process_state["urls"])


def open_workbench(job: EvaluationJob) -> Workbench:
    """A workbench with a throw-away store of its own; for a flow that answers from the library, with the
    world on its shelf."""
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
    """Put the world's documents on the shelf of the library."""
    world = bench.worker.world(job.world)
    urls = read_urls(configuration.ROOT / "demo" if job.world == "demo" else Path(job.world))
    fetched = (world.fetch(url) for url in urls.values())
    bench.library.add_pages(page for page in fetched if page.outcome is Outcome.OK)


def score_question(
    bench: Workbench, job: EvaluationJob, question: dict[str, Any], urls: dict[str, str]
) -> dict[str, Any]:
    """Ask one question and score what came out. A run that fails is counted as a crash, never hidden."""
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
        **_measure_run(bench, view, question, urls),
        "crashes": int(status is Status.FAILED),
        "seconds": round(time.monotonic() - began, 3),
    }


def settings_for(job: EvaluationJob, question: dict[str, Any]) -> Settings:
    """What a question is asked with. `site`: its host is the site, the root (or `start_url`) the start, and
    PAGES the limit."""
    start, host = question.get("start_url"), question.get("host") or hostname(question.get("start_url") or "")
    if job.flow != "site":
        return Settings(flow=job.flow, world=job.world, model=job.model, start_urls=[start] if start else [])
    if not host:
        raise UsageError(
            f"the question {question['id']} names no `host` and no `start_url`; the flow site needs one"
        )
    begin = [start or f"https://{host}/"]
    return Settings(
        flow="site",
        world=job.world,
        model=job.model,
        start_urls=begin,
        allowed_domains=[host],
        site=SiteLimits(max_pages=MAX_PAGES),
    )


def parse_history(history: list[dict[str, str]]) -> list[Turn]:
    """The earlier messages of a conversation as turns."""
    found: list[Turn] = []
    for message in history:
        if message.get("role") == "user":
            found.append(Turn(user=message["text"]))
        elif found:
            found[-1] = found[-1].model_copy(update={"bot": message["text"]})
    return found


def _measure_run(
    bench: Workbench, view: RunSnapshot, question: dict[str, Any], urls: dict[str, str]
) -> dict[str, Any]:
    state, answer = view.state, view.state.answer
    text = metrics.trim_answer(answer.text) if answer else ""
    refused = answer is not None and answer.verdict == "no_evidence" and answer.reason != "budget"
    read = {
        canonicalize(url)
        for page in state.pages.values()
        if page.page_id
        for url in (page.url, page.final_url)
    }
    wanted = [canonicalize(urls[i]) for i in question.get("supporting_ids", []) if i in urls]
    golds, every = [str(a) for a in question.get("answers", [])], question.get("answer_mode") == "all"
    facts = " \n".join(f"{fact.statement} {fact.quote}" for fact in state.facts.values() if fact.can_support)
    long_answer = question.get("long_answer", "")
    hit = (not refused and metrics.contains_answer(golds, text, every=every)) if golds else None
    return {
        "verdict": answer.verdict if answer else "",
        "reason": answer.reason if answer else "",
        "answer": answer.text if answer else "",
        "confidence": answer.confidence if answer else 0.0,
        "refused": refused,
        **({"bearing": state.own.bearing} if view.run.settings.flow == "site" else {}),
        "basis": state.confidence[-1].basis if state.confidence else {},
        "answer_hit": hit,
        "right": hit
        if golds or not long_answer
        else not refused and metrics.covers_answer(long_answer, text),
        "fact_hit": metrics.contains_answer(golds, facts, every=every) if golds else None,
        "long_f1": (0.0 if refused else metrics.token_f1(text, long_answer)) if long_answer else None,
        "support_recall": sum(url in read for url in wanted) / len(wanted) if wanted else None,
        "all_support": all(url in read for url in wanted) if wanted else None,
        **_measure_retrieval(state, wanted, bool(question.get("history"))),
        **_measure_grounding(bench, view, question, set(map(canonicalize, urls.values()))),
        **_measure_conflict_naming(bench, view, question, urls),
        "unsupported_statements": answer.statements.unsupported if answer else 0,
        "pages": state.pages_read_count,
        "steps": len(state.actions),
        "llm_calls": view.usage.llm_calls,
        "prompt_tokens": view.usage.prompt_tokens,
        "answer_words": len(text.split()),
        "step_cpu_ms": [step.cpu_ms for step in view.steps if step.cpu_ms],
    }


def _measure_retrieval(state: RunState, wanted: list[str], follow_up: bool) -> dict[str, Any]:
    """Of a chat, the share of the wanted addresses among the first sources it retrieved."""
    if conversation_kind(state.settings.flow) != "chat" or not wanted:
        return {}
    first = list(dict.fromkeys(canonicalize(doc.url) for doc in state.own.retrieved_docs))[:RECALL_AT]
    return {
        "retrieval_recall_at_5": sum(url in first for url in wanted) / len(wanted),
        "follow_up": follow_up,
    }


def _measure_grounding(
    bench: Workbench, view: RunSnapshot, question: dict[str, Any], known: set[str]
) -> dict[str, Any]:
    """Checked anew against the stored pages: quotes that do not stand there, sources that are no page of the
    world, conflicts."""
    answer = view.state.answer
    sources = answer.sources if answer else []
    bad = sum(
        1
        for source in sources
        for quote in source.quotes
        if not source.page_id or quote not in bench.page(source.page_id).text
    )
    wrong = question.get("meta", {}).get("wrong_answers", [])
    disputed = any(word in str(question.get("type", "")) for word in ("conflict", "misinfo"))
    said = answer.sentences if answer else []
    plain = " ".join(s.text for s in said if not s.text.startswith(CONFLICT_PREFIX))
    return {
        "fabricated_quotes": bad,
        "fabricated_urls": sum(1 for source in sources if canonicalize(source.url) not in known),
        "conflict_named": bool(answer and answer.conflicts) if disputed else None,
        "misinformation_stated": metrics.contains_answer(wrong, metrics.trim_answer(plain))
        if wrong
        else None,
    }


def _measure_conflict_naming(
    bench: Workbench, view: RunSnapshot, question: dict[str, Any], urls: dict[str, str]
) -> dict[str, Any]:
    """Whether a conflict was named, where the run read both sides of one; and whether one was, where the set
    carries none.

    To name it is to state it in one sentence of the answer's text: a sentence that says the sources disagree,
    in which a right and a wrong answer both stand. Both sides are read when the run read a page with a right
    and another with a wrong answer: as the set tells them (`supporting_ids`, `meta.misinfo_ids`), and for
    sets that do not, by their texts."""
    answer, meta = view.state.answer, question.get("meta", {})
    named = [s.text for s in answer.sentences if s.text.startswith(CONFLICT_PREFIX)] if answer else []
    golds, wrong = (
        [str(a) for a in question.get("answers", [])],
        [str(a) for a in meta.get("wrong_answers", [])],
    )
    if not wrong and not any(
        word in str(question.get("type", "")) for word in ("conflict", "misinfo", "ambiguous")
    ):
        return {"conflict_named_falsely": bool(named)}
    if not wrong or not golds or not _has_read_both_sides(bench, view, question, urls):
        return {}
    return {
        "conflict_named_both_read": any(
            metrics.contains_answer(golds, text) and metrics.contains_answer(wrong, text) for text in named
        )
    }


def _has_read_both_sides(
    bench: Workbench, view: RunSnapshot, question: dict[str, Any], urls: dict[str, str]
) -> bool:
    pages, meta = [page for page in view.state.pages.values() if page.page_id], question["meta"]
    if "misinfo_ids" in meta:
        right, wrong = (
            {canonicalize(urls[i]) for i in ids if i in urls}
            for ids in (question["supporting_ids"], meta["misinfo_ids"])
        )
        read = {canonicalize(page.url) for page in pages}
        return bool(read & (right - wrong)) and bool(read & wrong)
    texts = [bench.page(page.page_id).text for page in pages]
    right_at = [
        n
        for n, text in enumerate(texts)
        if metrics.contains_answer([str(a) for a in question["answers"]], text)
    ]
    return any(
        n != m and metrics.contains_answer(meta["wrong_answers"], texts[m])
        for n in right_at
        for m in range(len(texts))
    )
