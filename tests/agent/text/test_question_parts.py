"""A compound question falls into its question clauses; any other stays whole."""

from __future__ import annotations

import pytest

from agent.text.question_parts import (
    format_question,
    remove_output_form,
    resolve_parts,
    split_compound_question,
)


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "When was the bridge built, and who designed it?",
            ["When was the bridge built", "who designed it?"],
        ),
        (
            "What battery does the Kite 3 use? How long does it last?",
            ["What battery does the Kite 3 use?", "How long does it last?"],
        ),
        (
            "Wann wurde die Brücke gebaut und wer hat sie entworfen?",
            ["Wann wurde die Brücke gebaut", "wer hat sie entworfen?"],
        ),
        (
            "Is delivery free and do you repair broken glass?",
            ["Is delivery free", "do you repair broken glass?"],
        ),
        (
            "How long is the warranty, and does the price include it?",
            ["How long is the warranty", "does the price include it?"],
        ),
        ("I own a Kite 3. Where is it made? Is it still sold?", ["Where is it made?", "Is it still sold?"]),
    ],
)
def test_each_clause_that_asks_something_is_a_part(question: str, parts: list[str]) -> None:
    assert split_compound_question(question) == parts


@pytest.mark.parametrize(
    "question",
    [
        "When did the dairy in Lillehavn open?",
        "Who is older, Anna Berg or Bert Holm?",
        "Name the singer who wrote “Tide” and who produced “Ebb”.",
        "Who was born in Lillehavn and was the first to row to Selm?",
        "What and where is the Lantern House?",
        "Which singer, who was born in Lillehavn, wrote “Tide”?",
        "When did the dairy open? Write it as a table with headings.",
        "Who was born first? Anna Berg or Bert Holm?",
        "the dairy and what it sells",
        "",
    ],
)
def test_what_asks_one_thing_stays_whole(question: str) -> None:
    assert split_compound_question(question) == [question]


@pytest.mark.parametrize(
    "request_text",
    [
        "Write a full report comparing the two ferries of Lillehavn: length, price and crew",
        "Compare the two ferries of Lillehavn: length, price, and crew.",
        "the two ferries of Lillehavn: length, price, crew",
        "Compare the two ferries of Lillehavn: length, price, and crew. Full report.",
        "the two ferries of Lillehavn: length, price and crew. In one sentence.",
    ],
)
def test_a_list_behind_a_topic_asks_each_of_its_items_of_the_topic(request_text: str) -> None:
    topic = "the two ferries of Lillehavn"
    assert split_compound_question(request_text) == [
        f"{topic}: {item}" for item in ("length", "price", "crew")
    ]


def test_a_report_that_is_asked_about_is_no_form() -> None:
    question = "Who wrote the full report?"
    assert remove_output_form(question) == question
    assert remove_output_form("Who runs the mill? Full report.").rstrip(" .") == "Who runs the mill?"


@pytest.mark.parametrize(
    "question",
    ["Who wrote Harbour: Night and Harbour: Day?", "Compare Alva and Brage", "Lillehavn: the long way home"],
)
def test_a_colon_of_a_title_opens_no_list(question: str) -> None:
    assert split_compound_question(question) == [question]


@pytest.mark.parametrize(
    ("question", "second"),
    [
        ("Who owns the dairy, and who runs it?", "who runs the dairy?"),
        (
            "How many people work at the old dairy, and what is its address?",
            "what is the old dairy’s address?",
        ),
        ("When did the ferry pier open, and who designed it?", "who designed the ferry pier?"),
        ("When was Tora Lind born, and where did she study?", "where did Tora Lind study?"),
        ("Who owns Berga Dairy, and how old is it?", "how old is Berga Dairy?"),
    ],
)
def test_a_pronoun_stands_for_the_one_thing_that_the_first_part_names(question: str, second: str) -> None:
    assert resolve_parts(split_compound_question(question))[1] == second


@pytest.mark.parametrize(
    "question",
    [
        "Who owns Berga Dairy, and where does he live?",
        "When was the old bridge built, and who designed it?",
        "Who is the head of the dairy, and who owns it?",
        "When did Anna Berg marry Bert Holm, and where did she study?",
        "Who owns the dairy, and when did Bert Holm leave it?",
    ],
)
def test_a_pronoun_that_may_mean_something_else_stays(question: str) -> None:
    parts = split_compound_question(question)
    assert resolve_parts(parts) == parts


def test_a_long_list_of_questions_is_left_to_a_model() -> None:
    many = " ".join(f"When was house {n} built?" for n in range(9))
    assert split_compound_question(many) == [many]


@pytest.mark.parametrize(
    "question",
    [
        "Write a short report with headings and a table: when did the Lillehavn dairy open?",
        "When did the Lillehavn dairy open? In about 300 words, with bullet points.",
        "Please give me a list: when did the Lillehavn dairy open?",
    ],
)
def test_words_on_the_form_of_the_answer_are_no_part_of_the_question(question: str) -> None:
    assert "when did the lillehavn dairy open?" in (rest := remove_output_form(question).casefold())
    assert len(rest) <= len("when did the lillehavn dairy open?") + 2


@pytest.mark.parametrize(
    "question", ["Who made the periodic table?", "Which headings does the log have?", "Write a report."]
)
def test_a_question_about_such_things_stays(question: str) -> None:
    assert remove_output_form(question) == question


@pytest.mark.parametrize(
    ("asked", "heading"),
    [
        ("how many employees does it have", "How many employees does it have?"),
        ("write a full report on the kilns of Lunde with tables", "The kilns of Lunde"),
        ("compare the kilns of Lunde and Myra", "Compare the kilns of Lunde and Myra"),
        ("Who owns it?", "Who owns it?"),
    ],
)
def test_a_heading_has_a_capital_and_no_words_on_the_form_of_the_answer(asked: str, heading: str) -> None:
    assert format_question(asked) == heading
