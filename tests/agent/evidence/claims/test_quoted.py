"""Word for word but for spelling, as whole sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.evidence.claim_check import is_quoted
from agent.evidence.claims.words import read_text
from tests.tables import by_table


def _is_quoted(claim: str, quote: str) -> bool:
    return is_quoted(read_text(claim), read_text(quote))


@by_table
def test_whole_sentences_of_the_quote_are_quoted(claim: str, quote: str) -> None:
    assert _is_quoted(claim, quote)


@by_table
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
