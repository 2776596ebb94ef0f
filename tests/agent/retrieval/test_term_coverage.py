"""How much of a question's words a text covers."""

from __future__ import annotations

import pytest

from agent.retrieval.scorer import TITLE_WEIGHT, covered_share
from agent.text.question_analysis import parse_question


def test_the_title_counts_less_than_the_quote() -> None:
    asked = parse_question("Lövnäs?")
    assert covered_share(asked, "Lövnäs is old.") == 1.0
    assert covered_share(asked, "It is old.", "Lövnäs") == pytest.approx(TITLE_WEIGHT)
    assert covered_share(asked, "It is old.") == 0.0
