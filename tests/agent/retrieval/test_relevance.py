"""How relevant a fact is to a question."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent.retrieval.scorer import score_fact
from agent.types import Fact

ASKED = "When was the ferry Blue Heron built?"


def score(quote: str, title: str = "", question: str = ASKED) -> float:
    return score_fact(question, Fact(id="f", statement=quote, quote=quote, title=title))


def test_a_fact_that_holds_more_of_the_question_is_more_relevant() -> None:
    whole, half = score("The ferry Blue Heron was built in 1907."), score("The ferry was built in 1907.")
    assert whole > half > score("Nothing of the kind stands here.") == 0


def test_the_title_says_what_the_quote_is_about() -> None:
    assert score("It was built in 1907.", "Blue Heron") > score("It was built in 1907.")


def test_other_languages_and_scripts() -> None:
    assert score("东京的人口是一千四百万人。", question="东京的人口是多少?") > 0
    assert score("Die Brücke wurde 1907 gebaut.", question="Wann wurde die Brücke gebaut?") > 0


@given(st.text(), st.text(max_size=400), st.text(max_size=60))
def test_any_text_is_scored_between_0_and_1(question: str, quote: str, title: str) -> None:
    assert 0 <= score(quote, title, question) <= 1
