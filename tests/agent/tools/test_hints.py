"""What search engines are told of the chosen sources."""

from __future__ import annotations

from datetime import date

import pytest

from agent.tools import hints
from agent.types import Reach

TODAY = date(2026, 11, 21)


@pytest.mark.parametrize(
    ("reach", "told"),
    [
        (Reach(), "cheese"),
        (Reach(allowed=["a.example"]), "cheese site:a.example"),
        (Reach(allowed=["*.a.example", "b.example"], blocked=["c.example"]), "cheese (site:a.example OR site:b.example)"),
        (Reach(blocked=["c.example", "*.d.example"]), "cheese -site:c.example -site:d.example"),
        (Reach(allowed=[f"h{n}.example" for n in range(9)]), "cheese"),
    ],
)
def test_domains_stand_in_the_query(reach, told):
    assert hints.worded("cheese", reach) == told


@pytest.mark.parametrize(
    ("since", "term", "days"), [("", None, 0), ("2026-11-20", "d", 1), ("2026-11-15", "w", 6), ("2026-11-01", "m", 20), ("2026-01-01", "y", 324),
                                ("2020-01-01", None, 2516), ("2027-01-01", "d", 1)],
)  # fmt: skip
def test_the_term_that_holds_the_time(since, term, days):
    assert (hints.term(Reach(since=since), TODAY), hints.days(Reach(since=since), TODAY)) == (term, days)


def test_a_language_is_a_region():
    assert (hints.region(Reach(language="sv"), "us-en"), hints.region(Reach(), "de-de"), hints.region(Reach(language="is"), "us-en")) == (
        "se-sv", "de-de", "us-en",
    )  # fmt: skip
