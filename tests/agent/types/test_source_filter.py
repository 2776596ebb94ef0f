"""The choice of sources: which addresses it lets in, which dates and languages count, and how it is told."""

from __future__ import annotations

import pytest

from agent.types import Settings, SourceFilter
from tests.tables import by_table


@by_table
def test_what_is_blocked_takes_all_below_it_and_goes_before_what_is_allowed(url, admitted):
    settings = Settings(allowed_domains=["a.example", "*.b.example"], blocked_domains=["no.b.example"])
    assert settings.allows(url) is admitted


def test_a_host_is_the_same_in_letters_and_in_punycode():
    wire = "https://www.xn--hgans-jra6j.example/x"
    assert not SourceFilter(blocked_domains=["Höganäs.example"]).allows(wire)
    assert SourceFilter(allowed_domains=["*.höganäs.example"]).allows(wire)
    assert not SourceFilter(blocked_domains=["xn--hgans-jra6j.example"]).allows("https://höganäs.example/")


@by_table
def test_a_date_counts_unless_all_it_may_mean_lies_outside(published, counts):
    told = SourceFilter(since="2020-01-01", before="2020-07-01").date_problem(published)
    assert (not told) is counts
    assert (
        counts
        or f"published {published[:10]}; this run takes only pages published on or after 2020-01-01 and before 2020-07-01."
        in told
    )


def test_a_page_without_a_date_counts_until_a_person_says_otherwise():
    assert SourceFilter(since="2020-01-01").date_problem("") == ""
    assert "states no date" in SourceFilter(since="2020-01-01", dated_only=True).date_problem("")
    assert SourceFilter(dated_only=True).date_problem("") == "", "no time is asked for"


@pytest.mark.parametrize(
    ("language", "counts"), [("sv", True), ("sv-FI", True), ("en", False), ("nb", False), ("", True)]
)
def test_a_language_counts_by_its_first_part_and_an_unknown_one_always(language, counts):
    assert (not SourceFilter(language="sv").language_problem(language)) is counts


def test_norwegian_goes_by_several_names():
    assert SourceFilter(language="no").language_problem("nn_NO") == ""
    assert "in Swedish; this run takes only pages in Norwegian" in SourceFilter(
        language="no"
    ).language_problem("sv")


def test_the_choice_is_told_in_words():
    assert Settings().source_descriptions == []
    chosen = Settings(
        allowed_domains=["a.example"],
        blocked_domains=["b.example"],
        since="2020-01-01",
        dated_only=True,
        language="sv",
        engines=["duckduckgo"],
    )
    assert chosen.source_descriptions == [
        "only a.example",
        "never b.example",
        "published on or after 2020-01-01 (undated pages left out)",
        "in Swedish",
        "found with DuckDuckGo",
    ]
