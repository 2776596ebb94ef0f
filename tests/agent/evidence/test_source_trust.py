"""The first trust in a page: visible signs, each with its reason, between bounds."""

from __future__ import annotations

import pytest

from agent.evidence.sources import assess_trust, trust_label
from agent.types import Outcome, Page
from tests.tables import by_table


def page(url: str, **more: str) -> Page:
    return Page(url="https://asked.example/", final_url=url, outcome=Outcome.OK, **more)


@by_table
def test_the_host_is_judged_where_the_page_ended(url, value):
    assert assess_trust(page(url)).value == value


def test_each_sign_adds_its_reason_and_nothing_leads_out_of_bounds():
    signed = assess_trust(page("https://www.health.gov/", author="Ada Quill", published_at="2026-01-01"))
    assert signed.value == 0.9 and signed.reasons == (
        "an official or academic domain",
        "an author",
        "a date",
    )
    assert assess_trust(page("https://a.example/")).reasons == ("nothing speaks for or against it",)
    assert assess_trust(Page(url="https://forum.a.example/", final_url="", outcome=Outcome.OK)).value == 0.4


@pytest.mark.parametrize(
    ("value", "word"),
    [(0.0, "not at all"), (0.05, "low"), (0.5, "normal"), (0.65, "normal"), (0.8, "high"), (1, "fully")],
)
def test_a_figure_in_words(value, word):
    assert trust_label(value) == word
