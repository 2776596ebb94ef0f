"""Results of any engine in one form."""

from __future__ import annotations

import pytest

from agent.tools.search import Raw, hits, plain


def test_one_hit_per_page_ranked_from_one() -> None:
    found = hits(
        "x",
        [
            Raw("https://A.example.com/p/?utm_source=x#top", "First", "one"),
            Raw("https://a.example.com/p", "Again", "two"),
            Raw("javascript:alert(1)", "No", ""),
            Raw("/relative", "No", ""),
            Raw("https://b.example.com/", "<b>Second</b> &amp; last", "<em>two</em>\n  words"),
        ],
        10,
    )
    assert [(hit.rank, hit.title, hit.snippet, hit.engine) for hit in found] == [(1, "First", "one", "x"), (2, "Second & last", "two words", "x")]
    assert found[0].url == "https://A.example.com/p/?utm_source=x#top"


def test_no_more_than_asked_for() -> None:
    assert len(hits("x", [Raw(f"https://a.example.com/{n}", "", "") for n in range(30)], 10)) == 10


@pytest.mark.parametrize(
    ("markup", "text"),
    [("a < b and c > d", "a < b and c > d"), ("&lt;script&gt;", "<script>"), ("<p>x</p><br/>y", "xy"), ("a&nbsp;b", "a b"), ("", "")],
)
def test_plain_text(markup: str, text: str) -> None:
    assert plain(markup) == text
