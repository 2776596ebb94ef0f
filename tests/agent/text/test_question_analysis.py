"""What a question asks by its words alone: names, figures, keywords, no addresses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.text.question_analysis import extract_keywords, parse_question, strip_question

ADDRESS = "https://kallsteg.example/docs/c2/error-codes"


def test_the_names_and_figures_of_a_question_are_known() -> None:
    asked = parse_question("Which company of Älvmora made 412 cheeses?")
    assert asked.names == ("Älvmora",) and asked.figures == {"412"}


@pytest.mark.parametrize(
    "asks",
    [
        f"What does E17 mean according to {ADDRESS}?",
        f"What does E17 mean on {ADDRESS} ?",
        f"{ADDRESS} What does E17 mean?",
    ],
)
def test_an_address_says_where_and_not_what(asks: str) -> None:
    assert strip_question(asks).rstrip(" ?") == "What does E17 mean"
    assert set(parse_question(asks).words) == {"e17", "mean"}
    assert "kallsteg" not in extract_keywords(asks)


def test_keywords_are_what_is_typed_into_a_search_box() -> None:
    assert extract_keywords("Who were the founders of Älvmora Mejeri?") == "founders Älvmora Mejeri"
    assert extract_keywords("Who is it?") == "Who is it?"


@given(st.text())
def test_any_question_can_be_taken_apart(question: str) -> None:
    assert parse_question(question) == parse_question(question)
    assert isinstance(extract_keywords(question), str)


def test_blanks_in_a_question_are_walked_once() -> None:
    for blank in " \n\t":
        assert (
            strip_question(f"Who runs{blank * 300_000}the dairy{blank * 300_000}?") == "Who runs the dairy?"
        )
