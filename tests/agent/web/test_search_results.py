"""Results of any engine in one form, and a run's choice of sources: told to engines, applied to results and
pages."""

from __future__ import annotations

from datetime import date
from types import SimpleNamespace
from typing import Any

import pytest

from agent.types import Link, Outcome, Page, SearchHit, SearchResult, SourceFilter
from agent.web import search_results
from agent.web.search_results import RawResult, build_result, strip_markup
from tests.records import fill
from tests.tables import by_table

TODAY = date(2026, 11, 21)
ENGINE: Any = SimpleNamespace(name="x", label="X")
A_PAGE = Page(
    url="https://a.example/",
    final_url="https://a.example/",
    outcome=Outcome.OK,
    text="The dairy in the valley employs thirty-one people and makes cheese of the milk of the farms.",
    links=[Link("https://a.example/b")],
    raw=b"x",
)


def test_one_hit_per_page_ranked_from_one() -> None:
    results = [
        RawResult("https://A.example.com/p/?utm_source=x#top", "First", "one"),
        RawResult("https://a.example.com/p", "Again", "two"),
        RawResult("javascript:alert(1)", "No", ""),
        RawResult("/relative", "No", ""),
        RawResult("https://b.example.com/", "<b>Second</b> &amp; last", "<em>two</em>\n  words"),
    ]
    first, second = build_result(ENGINE, "words", results, 10).hits
    assert (first.rank, first.title, first.snippet, first.engine) == (1, "First", "one", "x")
    assert (second.rank, second.title, second.snippet) == (2, "Second & last", "two words")
    assert first.url == "https://A.example.com/p/?utm_source=x#top"


@by_table
def test_plain_text(markup: str, text: str) -> None:
    assert strip_markup(markup) == text


@pytest.mark.parametrize(
    ("allowed", "blocked", "told"),
    [
        ([], [], "cheese"),
        (["a.example"], [], "cheese site:a.example"),
        (["*.a.example", "b.example"], ["c.example"], "cheese (site:a.example OR site:b.example)"),
        ([], ["c.example", "*.d.example"], "cheese -site:c.example -site:d.example"),
        ([f"h{n}.example" for n in range(9)], [], "cheese"),
    ],
)
def test_domains_stand_in_the_query(allowed: list[str], blocked: list[str], told: str) -> None:
    reach = SourceFilter(allowed_domains=allowed, blocked_domains=blocked)
    assert search_results.add_site_operators("cheese", reach) == told


@by_table
def test_the_term_that_holds_the_time(since: str, term: str | None, days: int) -> None:
    reach = SourceFilter(since=since)
    assert search_results.time_limit(reach, TODAY) == term and search_results.days_back(reach, TODAY) == days


@pytest.mark.parametrize(
    ("reach", "kept", "detail"),
    [
        (
            {"blocked_domains": ["b.example"]},
            2,
            "1 of 3 results lie outside the chosen sources and were left out.",
        ),
        (
            {"allowed_domains": ["c.example"]},
            0,
            "3 of 3 results lie outside the chosen sources and were left out.",
        ),
    ],
)
def test_results_outside_are_dropped_counted_and_told(reach: dict[str, Any], kept: int, detail: str) -> None:
    urls = ("https://a.example/1", "https://b.example/", "https://a.example/2")
    hits = [
        SearchHit(url=url, rank=1, published_at="", title="", snippet="", engine="", publication=None)
        for url in urls
    ]
    found = fill(SearchResult, engine="e", query="q", outcome=Outcome.OK, hits=hits)
    result = search_results.filter_hits(found, SourceFilter(**reach))
    assert (len(result.hits), result.left_out, result.detail) == (kept, 3 - kept, detail)
    assert result.outcome is (Outcome.OK if kept else Outcome.EMPTY)


def test_a_page_outside_the_time_is_refused_with_its_links_and_without_its_text() -> None:
    old, new = (A_PAGE.replace(published_at=day) for day in ("2019-03-02", "2020-03-02"))
    page = search_results.filter_page(old, SourceFilter(since="2020-01-01"))
    assert page.outcome is Outcome.REFUSED and "published 2019-03-02" in page.detail
    assert (page.text, page.raw) == ("", b"") and page.links
    assert search_results.filter_page(new, SourceFilter(since="2020-01-01")) == new


@by_table
def test_a_page_in_another_language_is_refused(stated: str, text: str, counts: bool) -> None:
    page = A_PAGE.replace(language=stated, text=text)
    found = search_results.filter_page(page, SourceFilter(language="sv"))
    assert (found.outcome is Outcome.OK) is counts
