"""Word for word but for spelling, as whole sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.evidence.claims.quoted import is_quoted
from agent.evidence.claims.words import read_text

PLANT = "The plant closed in 1990."


def _is_quoted(claim: str, quote: str) -> bool:
    return is_quoted(read_text(claim), read_text(quote))


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        (PLANT, "The plant closed in 1990."),
        (PLANT, "The plant closed in 1990, and was sold."),
        (
            "The plant closed in 1990. It was sold.",
            "He left. The plant closed in 1990. It was sold. He came.",
        ),
        ("A plant closed in 1990", "“The plant closed in 1990”"),
        ("The cafe doesn't open on Sundays.", "The café does n't open on Sundays."),
        ("It closes at 5 pm.", "It closes at 17:00."),
        ("See https://dale.example/r for more.", "See https://dale.example/r for more."),
        ("“Why did they close it?”", "Why did they close it?"),
        ("Why? It closed in 1990.", "Why? It closed in 1990."),
        ("学校有350名学生", "学校有350名学生。"),
    ],
)
def test_whole_sentences_of_the_quote_are_quoted(claim: str, quote: str) -> None:
    assert _is_quoted(claim, quote)


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        (PLANT, "It is not true that the plant closed in 1990."),
        (PLANT, "He denied that the plant closed in 1990."),
        (PLANT, "If the plant closed in 1990, jobs were lost."),
        (PLANT, "The plant closed in 1990, critics claim."),
        (PLANT, "The plant closed in 1990 if the records are right."),
        (PLANT, "The plant closed in 1990? Nobody knows."),
        (PLANT, "Few believe the plant closed in 1990."),
        (PLANT, "The owner of the plant closed in 1990 a deal."),
        ("Prices rose", "Olive oil prices rose."),
        ("The paint is free", "The paint is free of lead."),
        ("The plant produces oil", "The plant produces oil filters."),
        ("She does not speak German.", "She does not speak German very well."),
        ("All birds can fly", "All birds can fly except penguins."),
        ("It grew by 20", "It grew by 20 percent."),
        ("It costs 5 euros", "It costs 5 euros more than last year."),
        ("It costs 5 euros", "It costs 5 euros per hour."),
        ("The well is 30 m deep", "The well is 30 m deep at most."),
        ("The bridge is open", "The bridge is open only to cyclists."),
        (PLANT, "He denied, on Monday, that the plant closed in 1990."),
        (PLANT, "Wrong – the plant closed in 1990."),
        ("See https://dale.example/x for more.", "See https://dale.example/r for more."),
        ("Did the plant close?", "We know it: did the plant close."),
        ("Entry is free.", "Entry is free for children."),
        ("The bridge is open.", "The bridge is open on Sundays."),
        ("The bridge is closed.", "The bridge is closed on Monday."),
        ("She was born in Berg.", "She was born in Berg, Dale County."),
        ("Lund owns the mill.", "Berg and Lund owns the mill in Dale."),
        ("It closed at 5 pm", "It closed at 5 am"),
        ("The plant closed and was sold in 1990.", PLANT),
        ("1990", PLANT),
        ("", PLANT),
    ],
)
def test_a_cut_that_changes_the_meaning_is_not_quoted(claim: str, quote: str) -> None:
    assert not _is_quoted(claim, quote)


@given(st.sampled_from(["will not", "may", "reportedly", "hardly"]), st.integers(min_value=2, max_value=99))
def test_no_word_may_be_left_out(word: str, age: int) -> None:
    claim = f"The school turn {age} this year."
    assert _is_quoted(claim, f"We hear. {claim}")
    assert not _is_quoted(claim, claim.replace("turn", f"{word} turn"))


@pytest.mark.slow
def test_long_quotes_take_linear_time() -> None:
    quote = "The plant grew in the valley and many more of them came. " * 3000
    assert not _is_quoted("The plant grew in the valley and many more of them went.", quote)
