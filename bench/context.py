"""Does what the model is shown of a long page hold the answer? For question sets with their documents.

    python -m bench.context FOLDER... [--limit N] [--seed S] [--chars 50000]

A folder holds `docs.jsonl.gz` (id, title, text) and `questions.jsonl.gz` (question, answers, supporting_ids;
`meta.selected_sentences` where the answer is long). Each supporting document is joined with others of its set
to one page of `--chars` characters, at a random place. Printed, per set and way of choosing: the share of
questions of which a gold answer (of long answers the share of the gold sentences) stands in what is shown,
and the tokens shown a page (characters / 4). The gold answers judge; nothing of Touchstone does."""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from agent.retrieval.passages import split_passages
from agent.retrieval.scorer import rank_passages
from agent.retrieval.shown_passages import choose_passages
from agent.types import Outcome, Page, Passage

TODAY = 10
"""Passages of a page that the analyzer was shown before."""
Chooser = Callable[[str, Page], str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--chars", type=int, default=50_000)
    chosen = parser.parse_args()
    for folder in chosen.folders:
        cases = list(make_cases(folder, chosen.limit, chosen.seed, chosen.chars))
        print(f"{folder.name}: {len(cases)} questions, pages of {chosen.chars:,} characters")
        print(f"  {'shown':<28}{'gold stands in it':>18}{'tokens a page':>15}")
        for name, choose in list_choosers().items():
            found, tokens = zip(*(judge(case, choose) for case in cases), strict=True)
            print(f"  {name:<28}{mean(found):>18.3f}{mean(tokens):>15.0f}")


def list_choosers() -> dict[str, Chooser]:
    """The ways of choosing, by name."""
    ways: dict[str, Chooser] = {
        f"first {n:,} characters": lambda _, page, n=n: page.text[:n]  # type: ignore[misc]
        for n in (2_500, 5_000, 10_000, 25_000, 50_000)
    }
    ways["ten passages"] = lambda question, page: join(
        rank_passages(question, split_passages(page, "p"), TODAY)
    )
    for tokens in (400, 800, 1_200, 3_000):
        ways[f"chosen within {tokens} tokens"] = lambda question, page, n=tokens: join(  # type: ignore[misc]
            choose_passages([question], {"p": page}, tokens=n)["p"]
        )
    return ways


def join(passages: Sequence[Passage]) -> str:
    """Their texts with what stands over them."""
    return "\n".join(f"{passage.heading} {passage.label} {passage.text}" for passage in passages)


def judge(case: dict[str, Any], choose: Chooser) -> tuple[float, float]:
    """The share of the gold that stands in what is shown, and the tokens shown a page."""
    shown = [choose(case["question"], page) for page in case["pages"]]
    text = fold(" ".join(shown))
    if case["sentences"]:
        found = mean(fold(sentence) in text for sentence in case["sentences"])
    else:
        found = float(any(f" {fold(answer)} " in f" {text} " for answer in case["answers"]))
    return found, mean(len(part) / 4 for part in shown)


def make_cases(folder: Path, limit: int, seed: int, chars: int) -> Iterator[dict[str, Any]]:
    """The answerable questions whose gold stands in their supporting documents, each with its joined
    pages."""
    docs = {doc["id"]: doc for doc in read(folder / "docs.jsonl.gz")}
    draw = random.Random(seed)
    questions = [q for q in read(folder / "questions.jsonl.gz") if q.get("answerable")]
    draw.shuffle(questions)
    names, count = list(docs), 0
    for question in questions:
        own = [docs[name] for name in question["supporting_ids"] if name in docs]
        text = fold(" ".join(doc["text"] for doc in own))
        sentences = question.get("meta", {}).get("selected_sentences") or []
        sentences = [sentence for sentence in sentences if fold(sentence) in text]
        answers = [answer for answer in question["answers"] if f" {fold(answer)} " in f" {text} "]
        if not own or not (sentences or answers):
            continue
        pages = [make_page(doc, [docs[draw.choice(names)] for _ in range(400)], chars, draw) for doc in own]
        yield {
            "question": question["question"],
            "answers": answers,
            "sentences": sentences,
            "pages": pages,
        }
        count += 1
        if limit and count >= limit:
            return


def make_page(doc: dict[str, Any], others: list[dict[str, Any]], chars: int, draw: random.Random) -> Page:
    """A page of about `chars` characters with the document among others."""
    room, parts = chars - len(doc["text"]), list[str]()
    for other in others:
        if room <= 0:
            break
        if other["id"] != doc["id"]:
            parts.append(f"{other['title']}\n\n{other['text'][:room]}")
            room -= len(parts[-1])
    parts.insert(draw.randrange(len(parts) + 1), f"{doc['title']}\n\n{doc['text']}")
    url = "https://joined.test/"
    return Page(url=url, final_url=url, outcome=Outcome.OK, title="A joined page", text="\n\n".join(parts))


def read(file: Path) -> list[dict[str, Any]]:
    """The records of a gzipped JSON-lines file."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def fold(text: str) -> str:
    """Lower case words without punctuation and articles."""
    words = re.sub(r"[\W_]+", " ", text.lower()).split()
    return " ".join(word for word in words if word not in ("a", "an", "the"))


if __name__ == "__main__":
    main()
