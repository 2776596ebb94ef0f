"""Which sentences answer a question."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.retrieval.candidates import describe_row
from agent.retrieval.quotation import find_topic
from agent.retrieval.relevance import score_fact, score_sentences
from agent.text.question_analysis import parse_question
from agent.types import Fact, Passage

ASKED = "When was the ferry Blue Heron built?"


def passage(text: str, **more) -> Passage:
    return Passage(
        **{
            "id": "p:0",
            "page_id": "p",
            "url": "https://a.example/",
            "text": text,
            "start": 500,
            "end": 500 + len(text),
            **more,
        }
    )


def best(question: str, text: str, **more) -> str:
    return score_sentences(question, [passage(text, **more)])[0].quote


TEXT = (
    "The harbour is small. The ferry Blue Heron was built in 1907. It sank later. Herons are blue at times."
)


def test_the_sentence_that_answers_comes_first_and_is_the_pages_own() -> None:
    found = score_sentences(ASKED, [passage(TEXT)])
    assert found[0].quote == "The ferry Blue Heron was built in 1907." and len(found) == 4
    assert all(candidate.quote in TEXT and 0 <= candidate.score <= 1 for candidate in found)
    assert [c.score for c in found] == sorted((c.score for c in found), reverse=True)


def test_holding_the_kind_of_thing_asked_for_counts() -> None:
    assert best(
        ASKED, "The ferry Blue Heron was built by Ada Quill. The ferry Blue Heron was built during 1907."
    ).endswith("1907.")
    assert "Quill" in best(
        "Who built the ferry Blue Heron?",
        "The ferry Blue Heron was built in 1907. The ferry Blue Heron was built by Ada Quill.",
    )


def test_title_heading_and_neighbours_count_less_than_the_sentence() -> None:
    bare = score_sentences(ASKED, [passage("It was built in 1907.")])[0].score
    titled = score_sentences(ASKED, [passage("It was built in 1907.", title="Blue Heron")])[0].score
    whole = score_sentences(ASKED, [passage("Blue Heron was built in 1907.")])[0].score
    assert bare < titled < whole
    beside = next(
        c
        for c in score_sentences(ASKED, [passage("Blue Heron is white. It was built in 1907.")])
        if c.quote.startswith("It")
    )
    assert bare < beside.score < titled


def test_opening_the_page_counts() -> None:
    first, later = (
        score_sentences(ASKED, [passage("The ferry Heron.", start=start)])[0] for start in (0, 500)
    )
    assert first.score > later.score


def test_titles_headings_and_scraps_are_no_sentences() -> None:
    text = "Blue Heron\nHistory\nOk.\nThe Blue Heron was built in 1907."
    assert [
        c.quote
        for c in score_sentences(ASKED, [passage(text, title="Blue Heron", heading="Ferries › History")])
    ] == ["The Blue Heron was built in 1907."]


def test_table_rows_are_whole_lines_told_with_their_header() -> None:
    header, row = "Ferry | Built | Yard", "Blue Heron | 1907 | Quill"
    found = score_sentences(ASKED, [passage(f"Grey Gull | 1899 | Lund\n{row}", heading=header, rows=True)])
    assert (
        found[0].quote == row and describe_row(header, row) == "Ferry: Blue Heron; Built: 1907; Yard: Quill"
    )


@pytest.mark.parametrize(
    ("header", "row", "told"),
    [
        ("A | B", "1 | 2 | 3", "1 | 2 | 3"),
        ("A | B", "A | B", "A | B"),
        ("A", "1", "1"),
        ("A | ", "1 | 2", "A: 1; 2"),
        ("A | B", "1 | ", "A: 1"),
        ("Data", "Weight | 310 g", "Weight: 310 g"),
    ],
)
def test_a_row_whose_header_does_not_fit(header: str, row: str, told: str) -> None:
    assert describe_row(header, row) == told


def test_other_languages_and_scripts() -> None:
    assert (
        best("東京の人口は何人ですか?", "天気がとても良い一日でした。東京の人口は千四百万人です。")
        == "東京の人口は千四百万人です。"
    )
    assert best(
        "Wann wurde die Brücke gebaut?", "Die Brücke ist lang. Die Brücke wurde 1907 gebaut."
    ).endswith("1907 gebaut.")


def test_nothing_in_common_is_worth_nothing() -> None:
    assert score_sentences(ASKED, [passage("Nothing of the kind stands here.")])[0].score == 0


def test_a_fact_is_scored_by_the_same_rule() -> None:
    quote = "The ferry Blue Heron was built in 1907."
    fact = Fact(id="f", statement=quote, quote=quote, start=500)
    assert score_fact(ASKED, fact) == score_sentences(ASKED, [passage(quote)])[0].score
    assert score_fact(ASKED, fact.model_copy(update={"start": 0})) > score_fact(ASKED, fact)


def test_the_topic_is_a_name_of_the_question_or_the_title() -> None:
    asked = parse_question(ASKED)
    assert find_topic(asked, "Ferries", "Blue Heron was built in 1907.") == "Blue Heron"
    assert find_topic(asked, "Grey Gull | Ferries of the north", "It was built in 1907.") == "Grey Gull"
    assert find_topic(asked, "", "It was built.") == "It was built."


@given(st.text(), st.text(max_size=400), st.text(max_size=60), st.booleans())
def test_any_text_is_scored_between_0_and_1_by_quotes_of_its_own(
    question: str, text: str, title: str, rows: bool
) -> None:
    given_ = [passage(text, title=title, heading=title, rows=rows)]
    found = score_sentences(question, given_)
    assert all(c.quote in text and c.quote.strip() and 0 <= c.score <= 1 for c in found)
    assert found == score_sentences(question, given_)
    assert isinstance(describe_row(title, text), str)
    assert isinstance(find_topic(parse_question(question), title, text), str)
