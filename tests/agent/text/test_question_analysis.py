"""What a question asks: weights, names, whether it takes several pages, its parts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.text.question_analysis import (
    COMMON_WORD_WEIGHT,
    NAME_WEIGHT,
    NUMBER_WEIGHT,
    WORD_WEIGHT,
    extract_keywords,
    parse_question,
    split_question,
    strip_question,
)

ADDRESS = "https://kallsteg.example/docs/c2/error-codes"


def test_names_and_numbers_weigh_more_than_words_and_common_ones_less() -> None:
    asked = parse_question("Which company of Älvmora made 412 cheeses?")
    assert asked.weights == {
        "compani": COMMON_WORD_WEIGHT,
        "alvmora": NAME_WEIGHT,
        "made": COMMON_WORD_WEIGHT,
        "412": NUMBER_WEIGHT,
        "chees": WORD_WEIGHT,
    }
    assert asked.names == ("Älvmora",) and asked.total_weight == sum(asked.weights.values())


@pytest.mark.parametrize(
    ("question", "hops"),
    [
        ("Who founded Älvmora Mejeri?", False),
        ("How deep is lake Granvattnet?", False),
        ("Wann wurde die Brücke gebaut?", False),
        ("How old are the children of the couple who run Älvmora Mejeri?", True),
        ("Which is older, Älvmora Mejeri or Kallsteg Instruments?", True),
        ("What is the capital of the country that Ada Quill was born in?", True),
        ("Who is Ada Quill's father's employer?", True),
    ],
)
def test_one_page_or_several(question: str, hops: bool) -> None:
    assert parse_question(question).is_multi_hop is hops


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Who founded it?", "person"),
        ("When did the ferry stop?", "date"),
        ("Where is Lövnäs?", "place"),
        ("How many panels?", "number"),
        ("Why did it stop?", "reason"),
        ("How do I reset it?", "howto"),
        ("What is a heron?", "definition"),
        ("Name the cheese.", "thing"),
        ("Vem är ordförande?", "person"),
        ("Wann wurde sie gebaut?", "date"),
        ("¿Cuántos hay?", "number"),
        ("Pourquoi?", "reason"),
    ],
)
def test_the_kind_of_answer(question: str, kind: str) -> None:
    assert parse_question(question).answer_type == kind


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
    assert set(parse_question(asks).weights) == {"e17", "mean"}
    assert "kallsteg" not in extract_keywords(asks) + " ".join(split_question(asks))


def test_parts_are_its_names_and_clauses_and_never_nothing() -> None:
    found = split_question("Which is older, Älvmora Mejeri or Kallsteg Instruments?")
    assert found[:2] == ["Älvmora Mejeri", "Kallsteg Instruments"]
    assert split_question("Who is it?") == ["Who is it?"]


def test_keywords_are_what_is_typed_into_a_search_box() -> None:
    assert extract_keywords("Who were the founders of Älvmora Mejeri?") == "founders Älvmora Mejeri"
    assert extract_keywords("Who is it?") == "Who is it?"


@given(st.text())
def test_any_question_can_be_taken_apart(question: str) -> None:
    asked = parse_question(question)
    assert asked == parse_question(question) and asked.total_weight > 0
    assert all(
        weight in (NAME_WEIGHT, NUMBER_WEIGHT, WORD_WEIGHT, COMMON_WORD_WEIGHT)
        for weight in asked.weights.values()
    )
    assert split_question(question) and isinstance(extract_keywords(question), str)


def test_blanks_in_a_question_are_walked_once() -> None:
    for blank in " \n\t":
        assert (
            strip_question(f"Who runs{blank * 300_000}the dairy{blank * 300_000}?") == "Who runs the dairy?"
        )
