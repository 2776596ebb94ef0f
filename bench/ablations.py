"""Switches off one rule after the other, and prints what each is worth.

    python -m bench.ablations finder FOLDER [FOLDER ...] [--flow chat|site] [--limit N] [--seed N]

`finder`: the passage finder. Each FOLDER is a world with questions (see docs/evaluation.md). What an answer
is chosen from is collected once: for `chat` the ten best passages of the library, for `site` the 60 best of
the pages on the question's `host` or below its `start_url`; then each question is answered again with each
rule off. "=" stands before a rule that changes no answer."""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from agent.retrieval import answer
from agent.retrieval.scorer import CountedPassages, rank_passages
from bench.evaluation import metrics, runner

PASSAGES = {"chat": 10, "site": 60}
Case = tuple[dict[str, Any], CountedPassages]
FINDER: dict[str, dict[str, Any]] = {
    "as it is": {},
    "what stands above a line": {"join_head": lambda _passage: ""},
    "other lines of the passage": {"NEAR_SHARE": 0.0},
    "rank of the passage": {"RANK_WEIGHT": 0.0},
    "the entry of a term": {"TERM_SHARE": 0.0},
    "the page that the lead names": {"is_title_named": lambda _text, _title: False},
    "identifiers that stand nowhere": {"_IDENTIFIER": re.compile(r"(?!)")},
    "share of the lead": {"MIN_SHARE_OF_LEAD": 0.0},
    "fit": {"MIN_FIT": 0.0},
}


@contextmanager
def switch_off(rules: dict[str, Any]) -> Iterator[None]:
    """The finder with these names of its module replaced."""
    former = {name: getattr(answer, name) for name in rules}
    try:
        for name, value in rules.items():
            setattr(answer, name, value)
        yield
    finally:
        for name, value in former.items():
            setattr(answer, name, value)


def collect_cases(folder: str, flow: str, limit: int, seed: int) -> list[Case]:
    """The questions of a folder that say whether they can be answered, each with what to choose from."""
    job = runner.EvaluationJob(folder, flow="chat", jobs=1)
    questions = [q for q in runner.read_questions(Path(folder)) if q.get("answerable") is not None]
    if 0 < limit < len(questions):
        questions = random.Random(seed).sample(questions, limit)
    bench = runner.open_workbench(replace(job, flow="chat"))
    pages = {source.url: source.page_id for source in bench.library.sources(limit=1_000_000)}
    cases = list[Case]()
    for question in questions:
        text = question["question"]
        if flow == "site":
            start = question.get("start_url") or f"https://{question['host']}/"
            under = start.rpartition("/")[0] if question.get("host") else start
            ids = [page_id for url, page_id in pages.items() if url.startswith(under)]
            cases.append((question, bench.library.search_pages(text, ids, PASSAGES[flow])))
        else:
            refs = [hit.ref for hit in bench.library.search(text, PASSAGES[flow]).hits]
            found = [ref.to_passage(bench.page(ref.page_id).text, 0.0) for ref in refs]
            counts = bench.library.count_terms(text)
            cases.append((question, CountedPassages(rank_passages(text, found, len(found), counts), counts)))
    bench.shutdown()
    return cases


def score(cases: Sequence[Case]) -> tuple[str, list[str]]:
    """The figures of a set in a line, and the answers they are of."""
    can, refused, texts = list[tuple[bool, bool, bool]](), list[bool](), list[str]()
    for question, passages in cases:
        found = answer.find_answer(question["question"], passages)
        lines = [quote.statement for part in found.parts for quote in part.quotes]
        texts.append(metrics.trim_answer("\n".join(lines)))
        if not question["answerable"]:
            refused.append(not lines)
            continue
        golds = [str(gold) for gold in question.get("answers", [])]
        led, whole = metrics.trim_lead(lines[0]) if lines else "", texts[-1]
        if golds:
            every = question.get("answer_mode") == "all"
            right, lead = (metrics.contains_answer(golds, text, every=every) for text in (whole, led))
        else:
            right, lead = (
                metrics.covers_answer(question.get("long_answer", ""), text) for text in (whole, led)
            )
        can.append((right, lead, not lines))
    right_n, lead_n, refused_n = (sum(row[k] for row in can) / (len(can) or 1) for k in range(3))
    told = f"right {right_n:.3f}  lead {lead_n:.3f}  refused {refused_n:.3f}"
    told += f"  rightly {sum(refused) / len(refused):.3f}" if refused else ""
    return f"{told}  words {median([len(text.split()) for text in texts if text] or [0]):.0f}", texts


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("rules", choices=("finder",))
    options.add_argument("folder", nargs="+")
    options.add_argument("--flow", choices=tuple(PASSAGES), default="chat")
    options.add_argument("--limit", type=int, default=0)
    options.add_argument("--seed", type=int, default=0)
    given = options.parse_args()
    for folder in given.folder:
        cases, before = collect_cases(folder, given.flow, given.limit, given.seed), list[str]()
        print(f"{folder}, {given.flow}, {len(cases)} questions")
        for name, rules in FINDER.items():
            with switch_off(rules):
                told, texts = score(cases)
            changed = sum(a != b for a, b in zip(texts, before or texts, strict=True))
            print(
                f"{'=' if before and not changed else ' '} {name:<32} {told}  changed {changed}", flush=True
            )
            before = before or texts


if __name__ == "__main__":
    main()
