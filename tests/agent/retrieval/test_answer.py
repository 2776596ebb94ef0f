"""The answer that passages give without a model: lead, passages, parts and refusals, on invented pages."""

from __future__ import annotations

import pytest

from agent.retrieval.answer import (
    MAX_PASSAGES,
    MAX_WORDS,
    WORDS_BELOW,
    describe_row,
    find_answer,
    find_best_lines,
)
from agent.retrieval.scorer import CollectionCounts, CountedPassages
from agent.types import Passage
from agent.types.web import PassageKind
from tests.tables import by_table


def make_passage(
    n: int,
    text: str,
    *,
    heading: str = "",
    kind: PassageKind = "prose",
    label: str = "",
    title: str = "Kilns",
) -> Passage:
    return Passage(
        id=f"p{n}:0",
        page_id=f"p{n}",
        url=f"https://kilns.example/{n}",
        title=title,
        heading=heading,
        kind=kind,
        label=label,
        text=text,
        start=0,
        end=len(text),
    )


KILNS = [
    make_passage(
        1,
        "FlueTimeout\nSeconds the flue stays open after firing. The default is 90.",
        heading="Directives",
        kind="definition",
        label="FlueTimeout",
    ),
    make_passage(
        2,
        "-q\n--quiet\nSay nothing while the kiln heats up.",
        heading="Options of fire",
        kind="definition",
        label="-q\n--quiet",
    ),
    make_passage(
        7, "The workshop was founded by Ada Quill in 1907. It closes on Mondays.", heading="History"
    ),
]


def lead(question: str, passages: list[Passage] = KILNS) -> str:
    found = find_answer(question, passages).parts[0].lead
    return found.statement if found else ""


def test_the_line_with_the_words_of_the_question_leads() -> None:
    assert lead("Who founded the workshop?") == "The workshop was founded by Ada Quill in 1907."
    assert lead("What does --quiet do?").endswith("Say nothing while the kiln heats up.")


@pytest.mark.parametrize(
    "asked",
    [
        "Tell me who founded the workshop",
        "Do you know who founded the workshop?",
        "Please, who founded the workshop?",
    ],
)
def test_words_that_ask_to_be_told_are_not_looked_for(asked: str) -> None:
    found = find_answer(asked, KILNS)
    assert lead(asked) == "The workshop was founded by Ada Quill in 1907." and not found.missing
    assert found.parts[0].question == asked, "it is shown as it was typed"


def test_a_table_row_is_told_with_its_header() -> None:
    table = make_passage(
        1,
        "Big Ada | 40 | gas\nLittle Ada | 12 | wood\nOld Bert | 25 | wood",
        kind="rows",
        label="Kiln | Shelves | Fuel",
        title="Our kilns",
    )
    assert lead("How many shelves does the kiln Old Bert have?", [table]) == (
        "Kiln: Old Bert; Shelves: 25; Fuel: wood"
    )


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("What does the --glow-blue option do?", "--glow-blue"),
        ("What is the value of max_flue_threads?", "max_flue_threads"),
        ("Which football team won the championship?", "football"),
    ],
)
def test_what_stands_nowhere_is_named_and_nothing_is_shown(question: str, missing: str) -> None:
    found = find_answer(question, KILNS)
    assert not found.parts[0].lead and missing in found.missing


def test_each_part_has_its_own_lead() -> None:
    parts = ["Who founded the workshop?", "Who is mayor of Atlantis?"]
    found = find_answer(" ".join(parts), KILNS, parts=parts)
    assert [bool(part.lead) for part in found.parts] == [True, False]


def test_quotes_are_verbatim_stretches_and_lengths_are_kept() -> None:
    long = make_passage(
        9, " ".join(f"Kiln rule {n} says that ash must be removed by hand." for n in range(40))
    )
    part = find_answer("Which kiln rule says that ash must be removed?", [*KILNS, long]).parts[0]
    assert part.lead and len(part.lead.statement.split()) <= MAX_WORDS
    assert 0 < len(part.passages) <= MAX_PASSAGES
    assert sum(len(one.statement.split()) for one in part.passages) <= WORDS_BELOW
    assert all(quote.quote in long.text for quote in part.quotes)


def test_words_are_weighed_over_the_collection_where_its_counts_are_known() -> None:
    passages = [make_passage(n, f"The kiln of bench {n} is warm.") for n in range(5)]
    rare = CollectionCounts(5000, {"kiln": 4000, "bench": 2500, "glaze": 1, "warm": 2500})
    common = CollectionCounts(5000, {**rare.document_frequencies, "glaze": 4999})
    asked = "Which glaze has the warm kiln bench?"
    assert not find_answer(asked, CountedPassages(passages, rare)).parts[0].lead
    assert find_answer(asked, passages, counts=common).parts[0].lead


def test_the_best_lines_are_found_without_a_refusal() -> None:
    lines = find_best_lines("Who founded the football workshop?", KILNS, 3)
    assert lines[0].quote == "The workshop was founded by Ada Quill in 1907." and len(lines) <= 3
    assert find_best_lines("?", [], 3) == []


def test_the_page_of_a_thing_that_the_lead_names_comes_next() -> None:
    pages = [
        make_passage(24, "The Skerry bowl was fired in the Tolvan kiln.", title="Skerry bowl"),
        make_passage(25, "It was lit by Asta Berg.", title="Tolvan kiln - Kiln atlas"),
        make_passage(26, "Ada Quill owns a Skerry bowl.", title="Bowls"),
    ]
    [part] = find_answer("Who lit the kiln that fired the Skerry bowl?", pages).parts
    assert part.passages[0].statement == "It was lit by Asta Berg."


@by_table
def test_a_row_is_told_with_its_header_where_that_fits(header: str, row: str, told: str) -> None:
    assert describe_row(header, row) == told
