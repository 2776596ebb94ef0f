"""Scoring rewrites: what counts as added, how sets are averaged, and the way through `evaluate`."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from agent.api import make_ask
from agent.errors import UsageError
from agent.llm.model import Completion
from agent.settings.config import read_config
from agent.types import Turn
from bench.evaluation.query_rewriting import added_recall, compute_metrics, score_rewrite
from bench.evaluation.runner import EvaluationJob, evaluate
from tests.records import fill
from tests.tables import by_table

TALK = [{"role": "user", "text": "What is a brass heron?"}, {"role": "assistant", "text": "A weather vane."}]
ROWS = [
    {"id": name, "history": history, "question": asked, "rewrite": meant, "needs_rewrite": asked != meant}
    for name, history, asked, meant in (
        ("points", TALK, "Who built it?", "Who built the brass heron?"),
        ("alone", TALK, "How many cranes has Port Ember?", "How many cranes has Port Ember?"),
        ("opens", [], "Who runs Älvmora Mejeri?", "Who runs Älvmora Mejeri?"),
    )
]


@by_table
def test_added_words_are_the_content_words_of_the_rewrite_that_the_turn_lacks(
    made: str, share: float
) -> None:
    assert added_recall("Who built it?", "Who built the brass heron?", made) == share


def test_a_rewrite_that_adds_no_content_has_no_recall() -> None:
    assert added_recall("Who built the heron?", "And who built the heron?", "Who?") is None


def test_a_set_of_rewrites_is_scored_without_documents(tmp_path: Path) -> None:
    (tmp_path / "questions.jsonl").write_text("\n".join(map(json.dumps, ROWS)), encoding="utf-8")
    told = evaluate(EvaluationJob(str(tmp_path), jobs=1))
    figures = told["metrics"]
    assert (told["flow"], told["n"]) == ("rewrite", 3) and [row["id"] for row in told["questions"]] == [
        "points",
        "alone",
        "opens",
    ]
    assert figures["rewrite_f1"] == figures["rewrite_f1_of_copying"], "without a model nothing is rewritten"
    assert figures["rewrite_added_recall"] == 1.0, "the previous question is searched for too"
    assert figures["rewrite_length_ratio"] < 3 and figures["alone_untouched"] == figures["alone_f1"] == 1.0
    assert evaluate(EvaluationJob(str(tmp_path), limit=1))["n"] == 1


def test_what_is_needed_is_counted_apart_from_what_stands_alone() -> None:
    good = score_rewrite(ROWS[0], [fill(Turn, user="What is a brass heron?")], None)
    spoilt = {
        **score_rewrite(ROWS[1], [fill(Turn, user="Hello")], None),
        "untouched": False,
        "rewrite_f1": 0.5,
    }
    figures = compute_metrics([good, spoilt])
    assert figures["rewrite_f1"] == round(good["rewrite_f1"], 4) and (
        figures["alone_untouched"],
        figures["alone_f1"],
    ) == (0.0, 0.5)
    assert compute_metrics([good]).keys().isdisjoint({"alone_untouched", "alone_f1"})


def test_a_model_can_be_measured(monkeypatch) -> None:
    class Parrot:
        strong = fast = "parrot"
        local = True

        def with_models(self, *, strong: str, fast: str) -> Parrot:
            self.strong, self.fast = strong, fast
            return self

        def context_length(self, _tier) -> int:
            return 32_768

        def complete(self, request) -> Completion:
            assert "Who built it?" in request.messages[-1]["content"]
            return Completion(
                text='{"query": "Who built the brass heron?"}',
                prompt_tokens=1,
                completion_tokens=1,
                seconds=0.0,
                model=self.fast,
                finish_reason="stop",
            )

    monkeypatch.setattr("agent.llm.detect.find_model", lambda _: SimpleNamespace(client=Parrot(), detail=""))
    row = score_rewrite(ROWS[0], [fill(Turn, user="What is a brass heron?")], make_ask("grey", read_config()))
    assert row["read_as"] == "Who built the brass heron?" and row["rewrite_f1"] == 1.0
    assert make_ask("keyless", read_config()) is None


def test_a_model_that_is_not_there_is_wrong_usage(monkeypatch) -> None:
    monkeypatch.setattr(
        "agent.llm.detect.find_model", lambda _: SimpleNamespace(client=None, detail="No model is set up.")
    )
    with pytest.raises(UsageError, match="grey"):
        make_ask("grey", read_config())
