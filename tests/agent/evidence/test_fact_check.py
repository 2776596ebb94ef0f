"""A fact's statement says no more than its quote, as far as code tells; else the quote stands in its place."""

from __future__ import annotations

import pytest

from agent.evidence.citation_check import check_support, contradicts_quote, state_with_subject, verify_fact
from agent.types import Fact, Sentence

PAGE = "The Nordvik dairy. It was founded on 3 May 1921 by Anna Berg. In 1962 it employed 1,240 people."
QUOTE = "founded on 3 May 1921 by Anna Berg"


def said(statement: str, quote: str = QUOTE) -> Fact:
    return Fact(id="f1", statement=statement, quote=quote, title="Nordvik dairy", by="model")


def test_a_statement_that_code_cannot_fault_stays() -> None:
    found = verify_fact(said("Anna Berg founded it on 3 May 1921."), PAGE, "abc")
    assert found.verified and found.statement == "Anna Berg founded it on 3 May 1921."
    assert found.refused_statement == ""


@pytest.mark.parametrize(
    ("statement", "quote"),
    [("It was founded in 1913.", QUOTE), ("It employed 1,420 people.", "In 1962 it employed 1,240 people.")],
)
def test_a_vetoed_statement_is_replaced_by_the_quote_and_the_fact_is_kept(statement: str, quote: str) -> None:
    found = verify_fact(said(statement, quote), PAGE, "abc")
    assert found.verified and found.statement == found.quote == quote
    assert found.refused_statement == statement and not contradicts_quote(found, PAGE)


def test_the_quote_in_place_of_a_refused_statement_stands_behind_its_subject_and_is_quoted() -> None:
    wrong = said("It was founded in 1913.", "It was founded on 3 May 1921 by Anna Berg.")
    bare = verify_fact(wrong.replace(heading="History"), PAGE, "abc")
    text = state_with_subject(bare)
    assert text == "Nordvik dairy › History: “It was founded on 3 May 1921 by Anna Berg.”"
    [checked] = check_support([Sentence(text=text, fact_ids=["f1"])], {"f1": bare})
    assert checked.check == "quoted" and bare.statement == bare.quote, "stored and compared as the quote"
    other = Sentence(text=text.replace("1921", "1922"), fact_ids=["f1"])
    assert check_support([other], {"f1": bare})[0].check == "differs"


def test_a_quote_that_names_its_subject_and_a_statement_that_holds_stay_as_they_are() -> None:
    page = "The Nordvik dairy has 20 cows."
    named = verify_fact(said("It has 30 cows.", page), page, "abc")
    assert named.refused_statement and state_with_subject(named) == page
    held = said("Anna Berg founded it on 3 May 1921.")
    assert state_with_subject(verify_fact(held, PAGE, "abc")) == held.statement


def test_a_quote_that_is_not_there_leaves_the_fact_unverified() -> None:
    found = verify_fact(said("It was founded in 1913.", "founded on 4 May 1913 by Anna Berg"), PAGE, "abc")
    assert not found.verified and found.statement == "It was founded in 1913."


def test_a_figure_beside_the_quote_is_no_evidence() -> None:
    assert contradicts_quote(said("It had 1,240 people in 1921."), PAGE)
