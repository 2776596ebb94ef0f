"""What of a search or page counts by the chosen sources, and how what does not is told."""

from __future__ import annotations

from agent.text.language import detect_language
from agent.types import Link, Outcome, Page, SearchHit, SearchResult, SourceFilter
from agent.web import search_results
from tests.records import fill
from tests.tables import by_table

SWEDISH = (
    "Mejeriet i dalen har trettioen anställda och tillverkar ost av mjölk från gårdarna runt omkring sjön."
)
ENGLISH = "The dairy in the valley employs thirty-one people and makes cheese of the milk of the farms around the lake."


def found(*urls: str, published: str = "") -> SearchResult:
    hits = [
        SearchHit(url=url, rank=n, published_at=published, title="", snippet="", engine="", publication=None)
        for n, url in enumerate(urls, 1)
    ]
    return fill(SearchResult, engine="e", query="q", outcome=Outcome.OK, hits=hits)


def read(**more) -> Page:
    url = "https://a.example/"
    return Page(
        **{
            "url": url,
            "final_url": url,
            "outcome": Outcome.OK,
            "text": ENGLISH,
            "links": [Link("https://a.example/b")],
            "raw": b"x",
            **more,
        }
    )


def test_results_outside_are_dropped_counted_and_told():
    kept = search_results.filter_hits(
        found("https://a.example/1", "https://b.example/", "https://a.example/2"),
        SourceFilter(blocked=["b.example"]),
    )
    assert [hit.url for hit in kept.hits] == [
        "https://a.example/1",
        "https://a.example/2",
    ] and kept.left_out == 1
    assert (
        kept.detail == "1 of 3 results lie outside the chosen sources and were left out."
        and kept.outcome is Outcome.OK
    )


def test_when_nothing_is_left_the_search_was_empty():
    kept = search_results.filter_hits(found("https://b.example/"), SourceFilter(allowed=["a.example"]))
    assert (kept.outcome, kept.hits, kept.left_out) == (Outcome.EMPTY, [], 1)


def test_a_page_outside_the_time_is_refused_with_its_links_and_without_its_text():
    page = search_results.filter_page(read(published_at="2019-03-02"), SourceFilter(since="2020-01-01"))
    assert (
        page.outcome is Outcome.REFUSED
        and "published 2019-03-02" in page.detail
        and page.text == ""
        and page.raw == b""
        and page.links
    )
    assert search_results.filter_page(
        read(published_at="2020-03-02"), SourceFilter(since="2020-01-01")
    ) == read(published_at="2020-03-02")


@by_table
def test_a_page_in_another_language_is_refused(stated, text, counts):
    assert (
        search_results.filter_page(read(language=stated, text=text), SourceFilter(language="sv")).outcome
        is Outcome.OK
    ) is counts


def test_a_text_tells_its_language():
    assert (detect_language(SWEDISH), detect_language(ENGLISH), detect_language("ok")) == ("sv", "en", "")
