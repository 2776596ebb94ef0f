"""Results of any engine in one form."""

from __future__ import annotations

from agent.web.search_results import RawResult, build_hits, strip_markup
from tests.tables import by_table


def test_one_hit_per_page_ranked_from_one() -> None:
    found = build_hits(
        "x",
        [
            RawResult("https://A.example.com/p/?utm_source=x#top", "First", "one"),
            RawResult("https://a.example.com/p", "Again", "two"),
            RawResult("javascript:alert(1)", "No", ""),
            RawResult("/relative", "No", ""),
            RawResult("https://b.example.com/", "<b>Second</b> &amp; last", "<em>two</em>\n  words"),
        ],
        10,
    )
    assert [(hit.rank, hit.title, hit.snippet, hit.engine) for hit in found] == [
        (1, "First", "one", "x"),
        (2, "Second & last", "two words", "x"),
    ]
    assert found[0].url == "https://A.example.com/p/?utm_source=x#top"


@by_table
def test_plain_text(markup: str, text: str) -> None:
    assert strip_markup(markup) == text
