"""Links with their dates, the next page, and how a page is built."""

from __future__ import annotations

from agent.web.extract.link_lists import find_link_candidates, find_next_page, measure_page_features
from tests.tables import by_table

HERE, TODAY = "https://a.example/news/", "2026-11-21"


def features(html: str, *, posts: int, text: str):
    return measure_page_features(
        html, find_link_candidates(html, HERE, TODAY), posts=posts, characters=len(text)
    )


def dated(html: str) -> dict[str, str]:
    return {offer.url: offer.date for offer in find_link_candidates(html, HERE, TODAY)}


def test_the_date_beside_an_entry_whatever_the_list_is_made_of() -> None:
    html = """<body><ul><li><time datetime="2026-11-19">19 November</time> <a href="/a">A headline of a story</a></li></ul>
    <table><tr><td><a href="/b">A thread about cheese</a></td><td>karl</td><td>18 November 2026</td></tr></table>
    <article><h2><a href="/c">Another headline here</a></h2><p>3 days ago</p></article>
    <p><a href="/2026/10/04/d">By its address</a></p><p><a href="/e">Undated</a></p></body>"""
    assert dated(html) == {
        "https://a.example/a": "2026-11-19",
        "https://a.example/b": "2026-11-18",
        "https://a.example/c": "2026-11-18",
        "https://a.example/2026/10/04/d": "2026-10-04",
        "https://a.example/e": "",
    }


def test_one_entry_does_not_take_the_date_of_the_next() -> None:
    html = '<div><div><a href="/a">The first headline</a></div><div><a href="/b">The second headline</a> <span>1 November 2026</span></div></div>'
    assert dated(html) == {"https://a.example/a": "", "https://a.example/b": "2026-11-01"}


def test_menus_are_told_apart_and_each_address_comes_once_where_it_says_most() -> None:
    html = '<nav><a href="/a">Top</a><a href="/x">Login</a></nav><main><p><a href="/a">The whole story of the day</a></p></main>'
    found = {offer.url: (offer.text, offer.content) for offer in find_link_candidates(html, HERE, TODAY)}
    assert found == {
        "https://a.example/x": ("Login", False),
        "https://a.example/a": ("The whole story of the day", True),
    }


@by_table
def test_the_next_page(html: str, wanted: str) -> None:
    assert find_next_page(f"<body>{html}</body>", HERE) == wanted


def test_signs_of_an_article_and_of_a_list() -> None:
    words = "Plain words that make up a story. " * 30
    article = f'<script type="application/ld+json">{{"@type": "NewsArticle"}}</script><article><h1>T</h1><p>{words}</p></article>'
    told = features(article, posts=0, text=words)
    assert told.article and told.link_share == 0
    rows = "".join(
        f'<li><a href="/{n}">A headline of number {n}</a> {n} November 2026</li>' for n in range(1, 9)
    )
    told = features(f"<ul>{rows}</ul>", posts=0, text="A headline of number 1 1 November 2026 " * 8)
    assert (told.dated_links, told.alike_links, told.article) == (8, 8, False) and told.link_share > 0.4
    assert features("", posts=0, text="").words == 0


def test_entries_below_a_date_have_it_until_the_next_heading() -> None:
    html = """<h3>17 November 2026</h3><ul><li><a href="/a">Re: The ferry</a></li></ul>
    <h3>October 2026</h3><ul><li><a href="/b">Re: The lamp</a></li></ul><h3>Older</h3><a href="/c">Archive of all</a>"""
    assert dated(html) == {
        "https://a.example/a": "2026-11-17",
        "https://a.example/b": "2026-10",
        "https://a.example/c": "",
    }
