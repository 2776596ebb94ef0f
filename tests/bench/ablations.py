"""Switches off one rule of the answer without a model after the other, and prints what each is worth.

    python -m tests.bench.ablations [FOLDER ...] [--flow chat|site|research] [--limit N] [--seed N]
                                    [--only WORDS] [--cache DIR]

Each FOLDER is a world with questions (see docs/evaluation.md; the demo when none is named). What the answer is
chosen from is collected once and kept in `--cache`: for `chat` the ten best passages of the library; for
`site` the 60 best of the pages on the question's `host`, below its `start_url`, or of that page alone where no host
is named; for `research` the facts of a
whole run. Then each question is answered again with each rule off. A question may have `right`, a pattern that
a right answer holds, in place of `answers`.

A line per rule and folder: how many answerable questions got a right answer, a right lead, were refused; how
many unanswerable ones were refused; the F1 of the long answers that were given; the median words. `=` stands
before a rule that changed nothing at all."""

from __future__ import annotations

import argparse
import pickle
import random
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import Any

from agent.retrieval import answer, asked_question, candidates
from agent.retrieval.answer import Chain
from agent.retrieval.scorer import CountedPassages, build_search_texts, fuse_rankings, rank_passages
from agent.roles import report
from bench.evaluation import metrics, runner

SITE_PASSAGES, CHAT_PASSAGES = 60, 10
Patch = tuple[ModuleType, str, Any]
Case = tuple[dict[str, Any], Any]
"""A question, and what its answer is chosen from: passages or facts."""


def _nothing(*_: object, **__: object) -> tuple[()]:
    return ()


def _without_fit(kind: str) -> Patch:
    return candidates, "_FITS", {key: fit for key, fit in candidates._FITS.items() if key != kind}


RULES: dict[str, list[Patch]] = {
    "as it is": [],
    "shape of the answer": [(candidates, "SHAPE_WEIGHT", 0.0)],
    **{f"shape: {kind}": [_without_fit(kind)] for kind in candidates._FITS},
    "shape: date, number, person, place, reason": [(candidates, "has_answer_type", lambda *_: True)],
    "subject of a definition": [(asked_question, "_find_subject", _nothing)],
    "articles after a copula": [(candidates, "_COPULAS", frozenset())],
    "rank of the passage": [(candidates, "RANK_WEIGHT", 0.0)],
    "headings": [(candidates, "TITLE_WEIGHT", 0.0)],
    "lines beside": [(candidates, "NEAR_WEIGHT", 0.0)],
    "words that name the shape": [(asked_question, "_find_frame", lambda *_: frozenset())],
    "words of a request": [(asked_question, "load_words", lambda _: frozenset())],
    "codes": [(asked_question, "find_unmistakable_codes", _nothing), (asked_question, "_LETTER", re.compile(r"(?!)()()"))],
    "missing: all": [(answer, "find_missing_terms", _nothing)],
    "missing: identifiers": [(asked_question, "_IDENTIFIER", re.compile(r"(?!)"))],
    "missing: codes": [(asked_question, "find_unmistakable_codes", _nothing)],
    "missing: names": [(asked_question, "_find_asked_names", _nothing)],
    "chain of several pages": [(answer, "find_chain", lambda *_, **__: Chain([], None))],
    "share of the lead": [(answer, "MIN_SHARE_OF_LEAD", 0.0)],
    "fit": [(answer, "MIN_FIT", 0.0)],
}  # fmt: skip


@contextmanager
def switch_off(patches: Sequence[Patch]) -> Iterator[None]:
    """The program with these names of its modules replaced."""
    former = [(module, name, getattr(module, name)) for module, name, _ in patches]
    for module, name, value in patches:
        setattr(module, name, value)
    try:
        yield
    finally:
        for module, name, value in former:
            setattr(module, name, value)


def collect_cases(folder: str, flow: str, limit: int, seed: int) -> list[Case]:
    """The questions of a folder, each with what its answer is chosen from."""
    job = runner.EvaluationJob(folder, flow=flow, jobs=1)
    questions = runner.read_questions(runner._world_folder(job))
    if 0 < limit < len(questions):
        questions = random.Random(seed).sample(questions, limit)
    urls = runner.read_urls(runner._world_folder(job))
    bench = runner.open_workbench(job if flow != "site" else runner.EvaluationJob(folder, flow="chat"))
    ids = {source.url: source.page_id for source in bench.library.sources(limit=1_000_000)}
    cases = list[Case]()
    for n, question in enumerate(questions, start=1):
        print(f"\r{Path(folder).name} {n}/{len(questions)}", end="", file=sys.stderr)
        text = question["question"]
        if flow == "research":
            run = bench.start(text, runner.settings_for(job, question))
            bench.drive(run)
            state = bench.snapshot(run).state
            cases.append((question, (list(state.facts.values()), state.actions)))
        elif flow == "site":
            start = question.get("start_url") or f"https://{question['host']}/"
            under = start.rpartition("/")[0] if question.get("host") else start
            pages = [page for url, page in ids.items() if url.startswith(under)]
            cases.append((question, bench.library.search_pages(text, pages, SITE_PASSAGES)))
        else:
            turns = runner.parse_history(question.get("history", []))
            found = [bench.library.search(one, CHAT_PASSAGES).hits for one in build_search_texts(text, turns)]
            refs = {hit.ref.id: hit.ref for hits in found for hit in hits}
            best = fuse_rankings([[hit.ref.id for hit in hits] for hits in found])[:CHAT_PASSAGES]
            texts = [refs[name].to_passage(bench.page(refs[name].page_id).text, 0.0) for name, _ in best]
            counts = bench.library.count_terms(text)
            cases.append((question, CountedPassages(rank_passages(text, texts, len(texts), counts), counts)))
    print(f", {len(urls)} documents", file=sys.stderr)
    bench.shutdown()
    return cases


def answer_again(question: str, source: Any) -> tuple[str, str, bool]:
    """The lead, the whole answer, and whether it is a refusal."""
    if isinstance(source, CountedPassages):
        found = answer.find_answer(question, source)
        lines = [
            quote for part in found.parts for quote in (*([part.lead] if part.lead else ()), *part.passages)
        ]
        texts = [quote.statement or quote.quote for quote in lines]
        lead = next((part.lead.statement for part in found.parts if part.lead), "")
    else:
        facts, history = source
        reply = report.report_fallback(
            question=question, notes=[], facts=facts, conflicts=[], history=history, former=None
        )
        texts = [sentence.text for sentence in reply.answer if sentence.place != "other"]
        lead = next((sentence.text for sentence in reply.answer if sentence.place == "lead"), "")
    return metrics.trim_lead(lead), metrics.trim_answer("\n".join(texts)), not texts


def mark_right(question: dict[str, Any], text: str) -> bool:
    """Whether a text holds a right answer."""
    if pattern := question.get("right"):
        return bool(re.search(pattern, text, re.IGNORECASE | re.DOTALL))
    if golds := [str(gold) for gold in question.get("answers", [])]:
        return metrics.contains_answer(golds, text, every=question.get("answer_mode") == "all")
    return metrics.covers_answer(question.get("long_answer", ""), text)


def score(cases: Sequence[Case]) -> tuple[str, list[str]]:
    """The figures of a set, and the answers they are of."""
    can, cannot = list[tuple[bool, bool, bool]](), list[bool]()
    words, shares, texts = list[int](), list[float](), list[str]()
    for question, source in cases:
        lead, text, refused = answer_again(question["question"], source)
        texts.append(text)
        if question.get("answerable") is False:
            cannot.append(refused)
        elif question.get("answerable") is True:
            can.append((mark_right(question, text), mark_right(question, lead), refused))
            if not refused:
                words.append(len(text.split()))
                shares += [metrics.token_f1(text, gold)] if (gold := question.get("long_answer")) else []
    n = len(can) or 1
    right, led, refused_n = (sum(row[k] for row in can) / n for k in range(3))
    told = f"right {right:.3f}  lead {led:.3f}  refused {refused_n:.3f}"
    if cannot:
        rightly = sum(cannot) / len(cannot)
        told += f"  rightly {rightly:.3f}  balanced {(rightly + 1 - refused_n) / 2:.3f}"
    told += f"  F1 {sum(shares) / len(shares):.3f}" if shares else ""
    return f"{told}  words {median(words or [0]):.0f}", texts


def load_cases(folder: str, cache: str, collect: Callable[[], list[Case]]) -> list[Case]:
    """The cases of a folder, from the cache where they are in it."""
    if not cache:
        return collect()
    file = Path(cache) / f"{Path(folder).name}.pickle"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(pickle.dumps(collect()))
    found: list[Case] = pickle.loads(file.read_bytes())
    return found


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("folder", nargs="*", default=["demo"])
    options.add_argument("--flow", choices=("chat", "site", "research"), default="chat")
    options.add_argument("--limit", type=int, default=0)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--only", default="", help="the rules that hold these words")
    options.add_argument("--cache", default="", help="a folder of this program's own files")
    given = options.parse_args()
    for folder in given.folder:
        collect = partial(collect_cases, folder, given.flow, given.limit, given.seed)
        cases, before = (
            load_cases(folder, given.cache and f"{given.cache}/{given.flow}", collect),
            list[str](),
        )
        print(f"{folder}, {given.flow}, {len(cases)} questions")
        for name, patches in RULES.items():
            if before and given.only not in name:
                continue
            with switch_off(patches):
                told, texts = score(cases)
            changed = sum(a != b for a, b in zip(texts, before or texts, strict=True))
            print(
                f"{'=' if before and not changed else ' '} {name:<44} {told}  changed {changed}", flush=True
            )
            before = before or texts


if __name__ == "__main__":
    main()
