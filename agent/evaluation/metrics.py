"""How an evaluated question is scored: pure functions from an answer and a gold question to figures.

The answer normalisation (lower case, no punctuation, no articles) and token F1 are those of SQuAD v1.1
(Rajpurkar et al. 2016); Brier score: mean squared error of a probability (Brier 1950); ECE: expected
calibration error over ten equal bins (Guo et al. 2017).

What a confidence is held against (`right`): whether a gold answer stands in the answer; where a question has
a long answer only, whether at least HALF of its words do, each as often as it holds them. Brier, ECE and
their kin go over answered, answerable questions."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence
from statistics import mean, median
from typing import Any

CUT_WORDS = 120
BINS = 10
MIN_WORD_SHARE = 0.5
"""The share of a long gold answer's words that must stand in an answer for it to be right."""
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_CITATION_MARKS = re.compile(r"\[\d+(?:,\s*\d+)*\]")
_PUNCTUATION = str.maketrans("", "", string.punctuation + "“”‘’–—…«»")


def normalize_answer(text: str) -> str:
    """Lower case, without punctuation and articles, single spaces."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def trim_answer(text: str) -> str:
    """The answer text that counts: without citation marks, its first CUT_WORDS words."""
    return " ".join(_CITATION_MARKS.sub("", text).split()[:CUT_WORDS])


def contains_answer(golds: Sequence[str], text: str, *, every: bool = False) -> bool:
    """Does a gold answer (every one, with `every`) stand in the text as whole words?"""
    inside = f" {normalize_answer(text)} "
    found = [f" {normalize_answer(gold)} " in inside for gold in golds if normalize_answer(gold)]
    return bool(found) and (all(found) if every else any(found))


def covers_answer(gold: str, text: str) -> bool:
    """Do at least HALF of a long gold answer's words stand in the text?"""
    want, got = Counter(normalize_answer(gold).split()), Counter(normalize_answer(text).split())
    return bool(want) and sum((want & got).values()) >= MIN_WORD_SHARE * sum(want.values())


def token_f1(text: str, gold: str) -> float:
    """Unigram F1 of two texts."""
    got, want = normalize_answer(text).split(), normalize_answer(gold).split()
    same = sum((Counter(got) & Counter(want)).values())
    return 2 * same / (len(got) + len(want)) if same else 0.0


def brier(pairs: Sequence[tuple[float, bool]]) -> float:
    """Mean squared distance of confidences and outcomes."""
    return mean((confidence - hit) ** 2 for confidence, hit in pairs)


def ece(pairs: Sequence[tuple[float, bool]]) -> float:
    """Expected calibration error over BINS equal bins."""
    bins: dict[int, list[tuple[float, bool]]] = {}
    for confidence, hit in pairs:
        bins.setdefault(min(BINS - 1, int(confidence * BINS)), []).append((confidence, hit))
    return sum(
        len(b) / len(pairs) * abs(mean(c for c, _ in b) - mean(float(h) for _, h in b)) for b in bins.values()
    )


def constant_brier(pairs: Sequence[tuple[float, bool]]) -> float:
    """The Brier score of who always says the share of right answers: a confidence that knows anything stays
    below."""
    share = mean(float(hit) for _, hit in pairs)
    return share * (1 - share)


def confidence_outcomes(rows: Sequence[dict[str, Any]]) -> list[tuple[float, bool]]:
    """The confidence of each answered, answerable question, and whether the answer was right."""
    answered = (
        (r["confidence"], r.get("right"))
        for r in rows
        if r["answerable"] is True and r["verdict"] in ("answered", "partial")
    )
    return [(confidence, bool(right)) for confidence, right in answered if right is not None]


def reliability_bins(rows: Sequence[dict[str, Any]]) -> list[dict[str, float]]:
    """Of each bin that has answers: its bounds, how many, their mean confidence, and the share of them that
    was right."""
    pairs = confidence_outcomes(rows)
    found = []
    for n in range(BINS):
        here = [(c, h) for c, h in pairs if min(BINS - 1, int(c * BINS)) == n]
        if here:
            sure, right = mean(c for c, _ in here), mean(float(h) for _, h in here)
            told = {
                "from": n / BINS,
                "to": (n + 1) / BINS,
                "n": len(here),
                "confidence": sure,
                "right": right,
            }
            found.append({name: round(value, 4) for name, value in told.items()})
    return found


def compute_metrics(rows: Sequence[dict[str, Any]]) -> dict[str, float]:
    """All figures over scored questions, shares between 0 and 1; a figure that does not apply is left out."""
    can, cannot = [r for r in rows if r["answerable"] is True], [r for r in rows if r["answerable"] is False]
    out: dict[str, float | None] = {
        name: _mean(can, name)
        for name in ("support_recall", "all_support", "answer_hit", "fact_hit", "long_f1")
    }
    answered = [r for r in can if r["verdict"] in ("answered", "partial")]
    out["long_f1_answered"] = _mean(answered, "long_f1")
    out["retrieval_recall_at_5"] = _mean(can, "retrieval_recall_at_5")
    out["retrieval_recall_at_5_follow_ups"] = _mean(
        [r for r in can if r.get("follow_up")], "retrieval_recall_at_5"
    )
    out["refused_unanswerable"], out["refused_answerable"] = _mean(cannot, "refused"), _mean(can, "refused")
    if cannot and can:
        out["balanced_refusal"] = (
            (out["refused_unanswerable"] or 0.0) + 1 - (out["refused_answerable"] or 0.0)
        ) / 2
    for name in (
        "conflict_named",
        "conflict_named_both_read",
        "conflict_named_falsely",
        "misinformation_stated",
    ):
        out[name] = _mean(rows, name)
    if pairs := confidence_outcomes(rows):
        out["brier"], out["brier_of_a_constant"], out["ece"] = brier(pairs), constant_brier(pairs), ece(pairs)
    for name in ("fabricated_quotes", "fabricated_urls", "unsupported_statements", "crashes"):
        out[name] = sum(r[name] for r in rows)
    for name, key in (
        ("pages_per_question", "pages"),
        ("steps_per_question", "steps"),
        ("llm_calls_per_question", "llm_calls"),
    ):
        out[name] = _mean(rows, key)
    out["prompt_tokens_per_question"] = _mean(rows, "prompt_tokens")
    out["answer_words_median"] = _median(
        [r["answer_words"] for r in rows if r["verdict"] in ("answered", "partial")]
    )
    out["cpu_ms_per_step_median"] = _median([ms for r in rows for ms in r["step_cpu_ms"]])
    out["seconds_per_question_median"] = _median([r["seconds"] for r in rows])
    return {name: round(float(value), 4) for name, value in out.items() if value is not None}


def refusal_curve(rows: Sequence[dict[str, Any]], points: int = 21) -> list[dict[str, float]]:
    """What refusing below each threshold of the best evidence's bearing would give, in `points` steps from 0
    to 1.

    `auroc` (the same in each row) is the chance that an answerable question's evidence bears more than an
    unanswerable one's. Empty when the rows carry no bearing or are all of one kind."""
    can = [r["bearing"] for r in rows if r["answerable"] is True and "bearing" in r]
    cannot = [r["bearing"] for r in rows if r["answerable"] is False and "bearing" in r]
    if not can or not cannot:
        return []
    auroc = sum((a > b) + 0.5 * (a == b) for a in can for b in cannot) / (len(can) * len(cannot))
    curve = []
    for n in range(points):
        threshold = n / (points - 1)
        right, wrong = (
            sum(b < threshold for b in cannot) / len(cannot),
            sum(a < threshold for a in can) / len(can),
        )
        row = {
            "threshold": threshold,
            "refused_unanswerable": right,
            "refused_answerable": wrong,
            "balanced_refusal": (right + 1 - wrong) / 2,
            "auroc": auroc,
        }
        curve.append({name: round(value, 4) for name, value in row.items()})
    return curve


def _mean(rows: Sequence[dict[str, Any]], name: str) -> float | None:
    values = [float(row[name]) for row in rows if row.get(name) is not None]
    return mean(values) if values else None


def _median(values: Sequence[float]) -> float | None:
    return median(values) if values else None
