"""Whether a sentence holds the kind of thing that was asked for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.text.answer_type import ANSWER_TYPES, detect_answer_type, has_answer_type


@pytest.mark.parametrize(
    ("kind", "yes", "no"),
    [
        ("date", "It was founded in 1979.", "It was founded early."),
        ("date", "Sie begann am 3. März.", "Sie begann bald."),
        ("number", "There are twelve of them.", "There are some of them."),
        ("number", "Es gibt 2 Brücken.", "Es gibt Brücken."),
        ("person", "It was led by Ada Quill.", "It was led by someone."),
        ("place", "It stands in Lövnäs.", "It stands alone."),
        ("reason", "It closed because of the ice.", "It closed on a day."),
        ("definition", "A heron is a bird.", "Herons wade."),
    ],
)
def test_a_sentence_that_holds_it_and_one_that_does_not(kind: str, yes: str, no: str) -> None:
    assert has_answer_type(kind, yes) and not has_answer_type(kind, no)


def test_a_name_of_the_question_is_no_answer() -> None:
    assert not has_answer_type("person", "Ada Quill founded it.", frozenset({"ada quill"}))
    assert has_answer_type("person", "Ada Quill founded it with Berta Lund.", frozenset({"ada quill"}))


def test_anything_answers_where_no_kind_can_be_told() -> None:
    assert has_answer_type("thing", "") and has_answer_type("manner", "whatever")


@given(st.text(), st.text())
def test_any_text_has_a_kind(question: str, sentence: str) -> None:
    kind = detect_answer_type(question)
    assert kind in ANSWER_TYPES and isinstance(has_answer_type(kind, sentence), bool)
