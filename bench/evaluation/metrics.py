"""Metrics of evaluated questions: pure functions from answers and gold answers to numbers.

The answer normalisation (lower case, no punctuation, no articles) and token F1 are those of SQuAD v1.1
(Rajpurkar et al. 2016); Brier score: mean squared error of a probability (Brier 1950); ECE: expected
calibration error over ten equal bins (Guo et al. 2017).

Confidence is compared with `right`: the answer contains a gold answer; where a question has only a long gold
answer, at least MIN_WORD_SHARE of its words, each as often as there. Brier score, ECE and the reliability
bins cover the answered questions that have an answer."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import mean, median
from typing import Any

CUT_WORDS = 120
LEAD_WORDS = 40
"""Words of the first sentence in which `lead_hit` looks for a gold answer."""
BINS = 10
MIN_WORD_SHARE = 0.5
ANSWERED_VERDICTS = ("answered", "partial", "passages_found")
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_CITATION_MARKS = re.compile(r"\[\d+(?:,\s*\d+)*\]")
_PUNCTUATION = str.maketrans("", "", string.punctuation + "“”‘’–—…«»")

Row = Mapping[str, Any]
"""A scored question; see `bench.evaluation.question_score`."""
Outcome = tuple[float, bool]
"""A confidence, and whether the answer was right."""


def normalize_answer(text: str) -> str:
    """Lower case, without punctuation and articles, single spaces."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def trim_answer(text: str) -> str:
    """The first CUT_WORDS words of an answer without citation marks."""
    return " ".join(_CITATION_MARKS.sub("", text).split()[:CUT_WORDS])


def trim_lead(text: str) -> str:
    """The first LEAD_WORDS words of a sentence without citation marks."""
    return " ".join(_CITATION_MARKS.sub("", text).split()[:LEAD_WORDS])


def contains_answer(golds: Sequence[str], text: str, *, every: bool = False) -> bool:
    """Whether the text contains a gold answer (with `every`: all of them) as whole words."""
    inside = f" {normalize_answer(text)} "
    found = [f" {gold} " in inside for gold in map(normalize_answer, golds) if gold]
    return bool(found) and (all(found) if every else any(found))


def covers_answer(gold: str, text: str) -> bool:
    """Whether the text contains at least MIN_WORD_SHARE of the words of a long gold answer."""
    wanted, words = Counter(normalize_answer(gold).split()), Counter(normalize_answer(text).split())
    return bool(wanted) and (wanted & words).total() >= MIN_WORD_SHARE * wanted.total()


def token_f1(text: str, gold: str) -> float:
    """Unigram F1 of two texts."""
    words, wanted = normalize_answer(text).split(), normalize_answer(gold).split()
    same = (Counter(words) & Counter(wanted)).total()
    return 2 * same / (len(words) + len(wanted)) if same else 0.0


def mean_of(rows: Iterable[Row], name: str) -> float | None:
    """The mean of a column over the rows that have it; None when none has."""
    values = [float(row[name]) for row in rows if row.get(name) is not None]
    return mean(values) if values else None


def round_metrics(metrics: Mapping[str, float | None]) -> dict[str, float]:
    """The metrics that apply, with four decimals."""
    return {name: round(float(value), 4) for name, value in metrics.items() if value is not None}


def brier(pairs: Sequence[Outcome]) -> float:
    """Mean squared distance of confidences and outcomes."""
    return mean((confidence - hit) ** 2 for confidence, hit in pairs)


def constant_brier(pairs: Sequence[Outcome]) -> float:
    """The Brier score of a constant confidence, the share of right answers: an informative one is below."""
    share = mean(float(hit) for _, hit in pairs)
    return share * (1 - share)


def ece(pairs: Sequence[Outcome]) -> float:
    """Expected calibration error over BINS equal bins."""
    return sum(row["n"] / len(pairs) * abs(row["confidence"] - row["right"]) for row in _fill_bins(pairs))


def reliability_bins(rows: Sequence[Row]) -> list[dict[str, float]]:
    """For each bin with answers: its bounds, their number, mean confidence and share of right ones."""
    return [round_metrics(row) for row in _fill_bins(confidence_outcomes(rows))]


def _fill_bins(pairs: Sequence[Outcome]) -> list[dict[str, float]]:
    bins: dict[int, list[Outcome]] = {}
    for confidence, hit in pairs:
        bins.setdefault(min(BINS - 1, int(confidence * BINS)), []).append((confidence, hit))
    return [
        {
            "from": n / BINS,
            "to": (n + 1) / BINS,
            "n": len(inside),
            "confidence": mean(confidence for confidence, _ in inside),
            "right": mean(float(hit) for _, hit in inside),
        }
        for n, inside in sorted(bins.items())
    ]


def confidence_outcomes(rows: Iterable[Row]) -> list[Outcome]:
    """The confidence of each answered question that has one and an answer, and whether it was right."""
    return [
        (row["confidence"], bool(row["right"]))
        for row in rows
        if row["answerable"] is True and _is_answered(row)
        if row.get("right") is not None and row["confidence"] is not None
    ]


def _is_answered(row: Row) -> bool:
    return row["verdict"] in ANSWERED_VERDICTS


def compute_metrics(rows: Sequence[Row]) -> dict[str, float]:
    """All metrics of scored questions, shares between 0 and 1; a metric that does not apply is left out."""
    can, cannot = [r for r in rows if r["answerable"] is True], [r for r in rows if r["answerable"] is False]
    follow_ups = [row for row in can if row.get("follow_up")]
    answered = [row for row in rows if _is_answered(row)]
    found: dict[str, float | None] = {
        name: mean_of(can, name)
        for name in ("support_recall", "all_support", "answer_hit", "lead_hit", "fact_hit", "long_f1")
    }
    found["long_f1_answered"] = mean_of(filter(_is_answered, can), "long_f1")
    found["retrieval_recall_at_5"] = mean_of(can, "retrieval_recall_at_5")
    found["retrieval_recall_at_5_follow_ups"] = mean_of(follow_ups, "retrieval_recall_at_5")
    refused_right, refused_wrong = mean_of(cannot, "refused"), mean_of(can, "refused")
    found["refused_unanswerable"], found["refused_answerable"] = refused_right, refused_wrong
    if refused_right is not None and refused_wrong is not None:
        found["balanced_refusal"] = (refused_right + 1 - refused_wrong) / 2
    for name in (
        "conflict_named",
        "conflict_named_both_read",
        "conflict_named_falsely",
        "misinformation_stated",
    ):
        found[name] = mean_of(rows, name)
    if pairs := confidence_outcomes(rows):
        found |= {"brier": brier(pairs), "brier_of_a_constant": constant_brier(pairs), "ece": ece(pairs)}
    for name in ("fabricated_quotes", "fabricated_urls", "unsupported_statements", "crashes"):
        found[name] = sum(row[name] for row in rows)
    for name in ("pages", "steps", "llm_calls", "prompt_tokens"):
        found[f"{name}_per_question"] = mean_of(rows, name)
    found["answer_words_median"] = _median(row["answer_words"] for row in answered)
    found["cpu_ms_per_step_median"] = _median(ms for row in rows for ms in row["step_cpu_ms"])
    found["seconds_per_question_median"] = _median(row["seconds"] for row in rows)
    return round_metrics(found)


def _median(values: Iterable[float]) -> float | None:
    known = list(values)
    return median(known) if known else None
