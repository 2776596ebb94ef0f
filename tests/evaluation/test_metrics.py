"""What each figure means, on rows made by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bench.evaluation import metrics
from tests.tables import by_table


@by_table
def test_normal_form(text, normal):
    assert metrics.normalize_answer(text) == normal


def test_the_cut_strips_marks_first():
    assert metrics.trim_answer("One [1] two [2, 3]. Three[4]") == "One two . Three"
    long = " ".join(f"w{n} [1]" for n in range(200))
    assert metrics.trim_answer(long).split() == [f"w{n}" for n in range(120)]


@by_table
def test_a_gold_answer_stands_in_the_text_as_whole_words(golds, text, every, hit):
    assert metrics.contains_answer(golds, text, every=every) is hit


def test_token_f1():
    assert metrics.token_f1("the red fox", "a red fox ran") == pytest.approx(2 * 2 / (2 + 3))
    assert metrics.token_f1("no", "yes") == 0.0
    assert metrics.token_f1("fox fox fox", "fox") == pytest.approx(0.5)


def test_calibration():
    pairs = [(1.0, True), (0.8, False)]
    assert metrics.brier(pairs) == pytest.approx((0 + 0.64) / 2)
    assert metrics.ece(pairs) == pytest.approx(0.5 * 0 + 0.5 * 0.8)
    assert metrics.ece([(0.75, True), (0.75, True), (0.75, True), (0.75, False)]) == pytest.approx(0.0)
    assert metrics.ece([(1.0, True)] * 3 + [(0.95, False)]) == pytest.approx(abs((3 + 0.95) / 4 - 0.75)), (
        "1.0 falls into the last bin"
    )


UNKNOWN = "answer_hit fact_hit right long_f1 support_recall all_support conflict_named misinformation_stated"
NONE = "fabricated_quotes fabricated_urls unsupported_statements crashes llm_calls prompt_tokens"


def row(**more: Any) -> dict[str, Any]:
    plain = {"id": "q", "answerable": True, "verdict": "answered", "confidence": 0.9, "refused": False}
    plain |= {"pages": 2, "steps": 3, "answer_words": 10, "step_cpu_ms": [1.0, 3.0], "seconds": 0.5}
    return {**dict.fromkeys(UNKNOWN.split()), **dict.fromkeys(NONE.split(), 0), **plain, **more}


def refusal(**more: Any) -> dict[str, Any]:
    return row(verdict="no_evidence", refused=True, confidence=0.1, **more)


def test_hits_are_counted_over_the_answerable_only():
    rows = [row(answer_hit=True), row(answer_hit=False), refusal(answer_hit=False)]
    rows += [row(answerable=False, answer_hit=True), row(answerable=None, answer_hit=True)]
    assert metrics.compute_metrics(rows)["answer_hit"] == pytest.approx(1 / 3, abs=1e-4)


def test_a_lead_is_cut_at_forty_words_without_citation_marks():
    assert metrics.trim_lead("The [1] first " + "word " * 50) == " ".join(["The", "first", *["word"] * 38])


def test_passages_that_no_model_judged_count_as_an_answer():
    rows = [row(verdict="passages_found", right=True, answer_words=30), refusal()]
    told = metrics.compute_metrics(rows)
    assert told["answer_words_median"] == 30 and "brier" in told


def test_every_figure_is_explained_in_the_docs():
    every = dict.fromkeys(
        "answer_hit lead_hit fact_hit long_f1 support_recall all_support retrieval_recall_at_5 conflict_named "
        "conflict_named_both_read conflict_named_falsely misinformation_stated right follow_up".split(),
        True,
    )
    told = metrics.compute_metrics([row(**every), row(answerable=False)])
    text = (Path(__file__).parents[2] / "docs" / "evaluation.md").read_text(encoding="utf-8")
    assert {"lead_hit", "balanced_refusal", "brier"} <= set(told)
    assert [name for name in told if f"`{name}`" not in text] == []


def test_refusals_leave_the_undecided_out():
    rows = [row(), refusal(), row(answerable=False), refusal(answerable=None)]
    told = metrics.compute_metrics([*rows, refusal(answerable=False), refusal(answerable=False)])
    assert told["refused_unanswerable"] == pytest.approx(2 / 3, abs=1e-4)
    assert told["refused_answerable"] == 0.5
    assert told["balanced_refusal"] == pytest.approx((2 / 3 + 0.5) / 2, abs=1e-4)


def test_calibration_is_over_what_was_answered():
    rows = [row(right=True, confidence=1.0), row(right=False, confidence=0.5)]
    rows += [refusal(right=False), row(verdict="no_evidence", right=False), row(verdict="", right=False)]
    rows += [row(answerable=None, right=False), row(long_f1=0.4)]
    told = metrics.compute_metrics(rows)
    assert (told["brier"], told["brier_of_a_constant"], told["ece"]) == (0.125, 0.25, 0.25)


def test_a_long_answer_is_right_when_half_of_its_words_are_told():
    gold = "The dairy was founded by two sisters; the sisters sold it."
    assert (
        metrics.covers_answer(gold, "Two sisters founded it.") is False
    )  # 4 of 10 words; "sisters" stands there once
    assert metrics.covers_answer(gold, "Two sisters founded it, and sold.") is True
    assert metrics.covers_answer("", "anything") is False


def test_the_reliability_tells_of_each_bin_how_many_were_right():
    rows = [
        row(right=hit, confidence=c) for c, hit in ((0.62, True), (0.68, False), (1.0, True), (0.95, True))
    ]
    told = metrics.reliability_bins([*rows, refusal(right=False)])
    assert told == [
        {"from": 0.6, "to": 0.7, "n": 2, "confidence": 0.65, "right": 0.5},
        {"from": 0.9, "to": 1.0, "n": 2, "confidence": 0.975, "right": 1.0},
    ]
    assert metrics.reliability_bins([row()]) == []


def test_long_answers():
    told = metrics.compute_metrics([row(long_f1=0.6), refusal(long_f1=0.0)])
    assert told["long_f1"] == 0.3 and told["long_f1_answered"] == 0.6


def test_counts_and_means():
    one = row(fabricated_quotes=2, crashes=1, pages=4, conflict_named=True)
    other = row(answerable=None, conflict_named=False, misinformation_stated=True)
    told = metrics.compute_metrics([one, other])
    summed = (
        "fabricated_quotes crashes pages_per_question steps_per_question conflict_named misinformation_stated"
    )
    assert [told[name] for name in summed.split()] == [2, 1, 3, 3, 0.5, 1]
    middle = "cpu_ms_per_step_median answer_words_median seconds_per_question_median"
    assert [told[name] for name in middle.split()] == [2, 10, 0.5]


def test_what_does_not_apply_is_left_out():
    absent = "long_f1 support_recall conflict_named refused_unanswerable balanced_refusal brier"
    assert not set(absent.split()) & set(metrics.compute_metrics([row()]))
