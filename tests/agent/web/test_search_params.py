"""What search engines are told of the chosen sources."""

from __future__ import annotations

from datetime import date

import pytest

from agent.types import SourceFilter
from agent.web import search_results
from tests.tables import by_table

TODAY = date(2026, 11, 21)


@pytest.mark.parametrize(
    ("reach", "told"),
    [
        (SourceFilter(), "cheese"),
        (SourceFilter(allowed=["a.example"]), "cheese site:a.example"),
        (
            SourceFilter(allowed=["*.a.example", "b.example"], blocked=["c.example"]),
            "cheese (site:a.example OR site:b.example)",
        ),
        (SourceFilter(blocked=["c.example", "*.d.example"]), "cheese -site:c.example -site:d.example"),
        (SourceFilter(allowed=[f"h{n}.example" for n in range(9)]), "cheese"),
    ],
)
def test_domains_stand_in_the_query(reach, told):
    assert search_results.add_site_operators("cheese", reach) == told


@by_table
def test_the_term_that_holds_the_time(since, term, days):
    assert (
        search_results.time_limit(SourceFilter(since=since), TODAY),
        search_results.days_back(SourceFilter(since=since), TODAY),
    ) == (term, days)


def test_a_language_is_a_region():
    assert (
        search_results.region_code(SourceFilter(language="sv"), "us-en"),
        search_results.region_code(SourceFilter(), "de-de"),
        search_results.region_code(SourceFilter(language="is"), "us-en"),
    ) == ("se-sv", "de-de", "us-en")
