"""Words that point out of their question, and names put in their place."""

from __future__ import annotations

import pytest

from agent.text.pointing import pointer, possessive, put


@pytest.mark.parametrize(
    ("question", "word", "kind"),
    [
        ("How heavy is it?", "it", "it"),
        ("Who are their neighbours?", "their", "they"),
        ("When did she retire?", "she", "he"),
        ("Is it cold there?", "it", "it"),
        ("How do I get there?", "there", "there"),
        ("What does this mean?", "this", "this"),
        ("And if it is broken?", "it", "it"),
    ],
)
def test_the_first_word_that_points_out(question: str, word: str, kind: str) -> None:
    found = pointer(question)
    assert found is not None and (found.word, found.kind, question[found.start : found.end]) == (
        word,
        kind,
        word,
    )


@pytest.mark.parametrize(
    "question",
    [
        "What is a heron and why is it grey?",  # it has its heron
        "Is it better to wait?",
        "It is raining, can I go on?",
        "Is there a ferry?",
        "Are there any ferries?",
        "How long does it take to walk?",
        "How long does it take?",
        "Must a guest sign his/her name?",
        "I did it. Which road leads north?",
        "Hur mår hon?",
        "What is this tower called?",
        "Tell me about rye bread and its history.",
        "If I eat no meat at all, is it bad for me?",
        "I thought about the bells again and it was a good thing to do",
    ],
)
def test_words_that_point_inside_or_at_nothing(question: str) -> None:
    assert pointer(question) is None


@pytest.mark.parametrize(
    ("question", "name", "made"),
    [
        ("How heavy is it?", "the bell", "How heavy is the bell?"),
        ("What is its weight?", "the bell", "What is the weight of the bell?"),
        ("Where is their nest?", "herons", "Where is the nest of herons?"),
        ("Who is her boss?", "Ada Quill", "Who is Ada Quill’s boss?"),
        ("Who paid his fees?", "James", "Who paid James’ fees?"),
        ("What can I eat there?", "Lövnäs", "What can I eat in Lövnäs?"),
        ("How do I get to there?", "Lövnäs", "How do I get to Lövnäs?"),
        ("It costs how much?", "the bell", "The bell costs how much?"),
    ],
)
def test_a_name_in_its_place(question: str, name: str, made: str) -> None:
    found = pointer(question)
    assert found is not None and put(question, found, name) == made


def test_owners() -> None:
    assert (possessive("Ada"), possessive("James")) == ("Ada’s", "James’")
