"""How much of a question is covered, and which of its words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.retrieval.term_coverage import (
    TITLE_WEIGHT,
    added_share,
    covered_share,
    folded_names,
    measure_coverage,
)
from agent.text.question_analysis import parse_question
from agent.types import Fact

ASKED = "When did the ferry of Lövnäs close?"


def fact(quote: str, title: str = "", **more) -> Fact:
    return Fact(
        **{"id": quote[:8], "statement": quote, "quote": quote, "title": title, "verified": True, **more}
    )


def test_a_quote_that_says_all_covers_all() -> None:
    known = measure_coverage(ASKED, [fact("The ferry of Lövnäs was closed in 1979.")])
    assert (known.share, known.best_share, known.covered) == (1.0, 1.0, parse_question(ASKED).weights.keys())


def test_the_best_quote_must_hold_what_is_asked_for() -> None:
    known = measure_coverage(ASKED, [fact("The ferry of Lövnäs was closed.")])
    assert known.share == 1.0 and known.best_share == 0.0


def test_the_title_counts_less_than_the_quote() -> None:
    asked = parse_question("Lövnäs?")
    assert covered_share(asked, "Lövnäs is old.") == 1.0
    assert covered_share(asked, "It is old.", "Lövnäs") == pytest.approx(TITLE_WEIGHT)
    assert covered_share(asked, "It is old.") == 0.0


def test_quotes_together_cover_more_than_each() -> None:
    one, other = fact("The ferry crossed in 1979."), fact("Lövnäs is a village.")
    both = measure_coverage(ASKED, [one, other]).share
    assert both > max(measure_coverage(ASKED, [one]).share, measure_coverage(ASKED, [other]).share) > 0


def test_only_usable_facts_count() -> None:
    good = "The ferry of Lövnäs was closed in 1979."
    for marks in ({"verified": False}, {"disputed": True}, {"decision": "struck"}):
        assert measure_coverage(ASKED, [fact(good, **marks)]).share == 0.0
    assert measure_coverage(ASKED, [fact(good, verified=False, decision="pinned")]).share == 1.0


def test_what_is_covered_is_what_a_quote_or_its_title_holds() -> None:
    assert measure_coverage(ASKED, [fact("The ferry.")]).covered == {"ferri"}
    assert measure_coverage(ASKED, [fact("It is old.", "Lövnäs")]).covered == {"lovna"}
    assert measure_coverage("東京の人口は?", [fact("東京は大きい。")]).covered == {"東京"}


def test_what_a_text_adds_is_what_was_not_covered() -> None:
    asked = parse_question(ASKED)
    assert added_share(asked, "A ferry.", {"ferri"}) == 0.0
    assert added_share(asked, "A ferry in Lövnäs.", {"ferri"}) == pytest.approx(
        asked.weights["lovna"] / asked.total_weight
    )
    assert folded_names(asked) == {"lovnas"}


@given(st.text(), st.lists(st.text(max_size=80), max_size=4), st.text(max_size=80))
def test_knowing_more_never_covers_less(question: str, quotes: list[str], more: str) -> None:
    facts = [fact(quote, id=str(n)) for n, quote in enumerate(quotes)]
    before, after = measure_coverage(question, facts), measure_coverage(question, [*facts, fact(more)])
    assert 0 <= before.share <= after.share <= 1 and 0 <= before.best_share <= after.best_share <= 1
    assert before.covered <= after.covered
