"""What a statement gives for the thing that is asked, and nothing where no word of the question leads to
it."""

from dataclasses import replace

import pytest

from agent.evidence.contradiction.answer_extraction import extract_answer
from agent.text.question_analysis import parse_question


@pytest.mark.parametrize(
    ("question", "kind", "statement", "given"),
    [
        (
            "When was Anna Berg born?",
            "date",
            "Anna Berg (3 May 1890 – 1961) was a dairy farmer.",
            "3 May 1890",
        ),
        ("When did Anna Berg die?", "date", "Anna Berg (3 May 1890 – 1961) was a dairy farmer.", "1961"),
        (
            "When was the Nordvik Dairy founded?",
            "date",
            "It was sold in 1987, having been established in 1921 by Anna Berg.",
            "1921",
        ),
        ("When was the Nordvik Dairy founded?", "date", "It was sold in 1987.", ""),
        (
            "How many people does the Nordvik Dairy employ?",
            "number",
            "In 2025 it paid 31 people and milked 400 cows.",
            "31 people",
        ),
        (
            "What is the population of Lillehavn?",
            "number",
            "In 2021 the population of the town was 4,210.",
            "4,210",
        ),
        (
            "What is the population of Lillehavn?",
            "number",
            "The population density was 25.6 per square mile.",
            "",
        ),
        ("What is the population of Lillehavn?", "number", "Lillehavn is the third town of the coast.", ""),
        (
            "Who wrote the song Nordvik Blues?",
            "person",
            "Nordvik Blues is a song by Norwegian singer Anna Berg, from 1971.",
            "Anna Berg",
        ),
        ("Who wrote the song Nordvik Blues?", "person", "Nordvik Blues is a song from 1971.", ""),
        (
            "Where is the Nordvik Dairy?",
            "place",
            "The Nordvik Dairy stands in Lillehavn, Agder, near the sea.",
            "Lillehavn, Agder",
        ),
        ("Where is the Nordvik Dairy?", "place", "The Nordvik Dairy stands in Norway.", ""),
        ("Why was the Nordvik Dairy sold?", "reason", "The Nordvik Dairy was sold in 1987.", ""),
    ],
)
def test_the_question_s_words_lead_to_the_value(question: str, kind: str, statement: str, given: str) -> None:
    assert extract_answer(statement, replace(parse_question(question), answer_type=kind)) == given


def test_a_question_is_taken_apart() -> None:
    question = replace(parse_question("What is the profession of Anna Berg in 1921?"), answer_type="thing")
    assert (question.subject, question.attribute, question.name_words, question.figures) == (
        "Anna Berg",
        "profession 1921",
        {"anna", "berg"},
        {"1921"},
    )
    assert (
        replace(parse_question("who founded the dairy"), answer_type="person").subject
        == "“who founded the dairy”"
    )
