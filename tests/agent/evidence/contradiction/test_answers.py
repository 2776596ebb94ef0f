"""Sources that answer one question differently are told; what is the same, a part, a series or about
something else is not."""

from dataclasses import replace
from itertools import count

import pytest

from agent.evidence.contradiction.answers import MAX_COMPARED_FACTS, find_rival_answers
from agent.text.question_analysis import parse_question
from agent.types import Fact

_numbers = count(1)
A, B = "https://a.example/1", "https://b.example/2"


def fact(statement: str, url: str, title: str = "", relevance: float = 0.8) -> Fact:
    n = next(_numbers)
    return Fact(
        id=f"f{n:05}",
        statement=statement,
        quote=statement,
        url=url,
        title=title,
        verified=True,
        step=n,
        relevance=relevance,
    )


def told(question: str, kind: str, one: str, other: str, **more: object) -> list[tuple[str, str]]:
    facts = [fact(one, A, **more), fact(other, B, **more)]  # type: ignore[arg-type]
    return [
        (rival.contradiction.left, rival.contradiction.right)
        for rival in find_rival_answers(facts, replace(parse_question(question), answer_type=kind))
    ]


@pytest.mark.parametrize(
    ("question", "kind", "one", "other", "values"),
    [
        (
            "What is Anna Berg's profession?",
            "thing",
            "Anna Berg (born 1890) is a Norwegian farmer known for her brown cheese.",
            "Anna Berg (born 1890) is a Norwegian chemist known for her way with milk.",
            ("farmer", "chemist"),
        ),
        (
            "Where is the Nordvik Dairy located?",
            "place",
            "The Nordvik Dairy is a small farm in Lillehavn, Agder.",
            "Nordvik Dairy, in Skarvik, Telemark, is a dairy.",
            ("Lillehavn, Agder", "Skarvik, Telemark"),
        ),
        (
            "Who is the singer of the album Nordvik Blues?",
            "person",
            "Nordvik Blues is the third album by Norwegian singer Anna Berg.",
            "The album Nordvik Blues, by Olaf Lund, came out in May.",
            ("Anna Berg", "Olaf Lund"),
        ),
        (
            "When was Anna Berg born?",
            "date",
            "Anna Berg (3 May 1890 – 1961) kept cows.",
            "Anna Berg was born on 4 June 1895 in Lillehavn.",
            ("3 May 1890", "4 June 1895"),
        ),
        (
            "How many people live in Lillehavn?",
            "number",
            "Lillehavn has 4,210 people.",
            "There were 5,000 people in Lillehavn, says the town.",
            ("4,210 people", "5,000 people"),
        ),
    ],
)
def test_another_answer_is_told(
    question: str, kind: str, one: str, other: str, values: tuple[str, str]
) -> None:
    assert told(question, kind, one, other) == [values]


@pytest.mark.parametrize(
    ("question", "kind", "one", "other"),
    [
        (
            "When was Anna Berg born?",
            "date",
            "Anna Berg was born in 1890.",
            "Anna Berg was born on 3 May 1890.",
        ),
        ("When was Anna Berg born?", "date", "Anna Berg was born in 1890.", "Olaf Lund was born in 1901."),
        (
            "How many people live in Lillehavn?",
            "number",
            "In 2023 Lillehavn had 4,210 people.",
            "In 2025 Lillehavn had 4,400 people.",
        ),
        (
            "How many people live in Lillehavn?",
            "number",
            "Lillehavn has 4,210 people.",
            "Lillehavn has 12 farms and the third oldest church.",
        ),
        (
            "Where is the Nordvik Dairy?",
            "place",
            "The Nordvik Dairy stands in Lillehavn, Agder.",
            "The Nordvik Dairy stands in Norway.",
        ),
        (
            "Who founded the Nordvik Dairy?",
            "person",
            "The Nordvik Dairy was founded by A. Berg.",
            "The Nordvik Dairy was founded by Anna Berg.",
        ),
        (
            "Who founded the Nordvik Dairy?",
            "person",
            "The Nordvik Dairy was founded by Anna Berg and Olaf Lund.",
            "The Nordvik Dairy was founded by Olaf Lund and Anna Berg.",
        ),
        (
            "What is the Nordvik Dairy known for?",
            "thing",
            "The Nordvik Dairy is known for its cheese in all of Norway.",
            "The Nordvik Dairy is known for its brown cheese in all of Norway.",
        ),
        (
            "who won the 1971 cup",
            "person",
            "The 1971 cup was won by Anna Berg.",
            "The 1972 cup was won by Olaf Lund.",
        ),
    ],
)
def test_what_is_no_other_answer_is_not(question: str, kind: str, one: str, other: str) -> None:
    assert told(question, kind, one, other) == []


def test_one_site_and_what_hardly_bears_on_the_question_are_not_compared() -> None:
    question, one, other = (
        replace(parse_question("When was Anna Berg born?"), answer_type="date"),
        "Anna Berg was born in 1890.",
        "Anna Berg was born in 1895.",
    )
    assert list(find_rival_answers([fact(one, A), fact(other, B)], question))
    assert not list(find_rival_answers([fact(one, A), fact(other, "https://a.example/2")], question))
    assert not list(find_rival_answers([fact(one, A), fact(other, B, relevance=0.1)], question))


def test_what_tells_two_of_a_name_apart_in_brackets_is_told_only_when_nothing_else_differs() -> None:
    one, other = (
        "Anna Berg (farmer) Anna Berg is a Norwegian farmer of note.",
        "Anna Berg (chemist) Anna Berg is a Norwegian chemist of note.",
    )
    assert told("What is Anna Berg's profession?", "thing", one, other) == [("farmer", "chemist")]


def test_the_work_does_not_grow_with_the_square_of_the_facts() -> None:
    question = replace(parse_question("When was Anna Berg born?"), answer_type="date")
    facts = [fact(f"Anna Berg was born in {1000 + n}.", f"https://s{n}.example/") for n in range(3000)]
    assert len(list(find_rival_answers(facts, question))) == MAX_COMPARED_FACTS * (MAX_COMPARED_FACTS - 1) / 2
