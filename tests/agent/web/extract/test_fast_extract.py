"""A page at a glance: the same links and words as the careful reading, and the careful one where it
matters."""

from __future__ import annotations

from html import unescape

import pytest

from agent.text import urls
from agent.types import Outcome, Page
from agent.web.extract import dispatch, fast_extract

HTML = "text/html; charset=utf-8"
BODY = """<html><head><title> The  lamp </title><script>bad()</script></head><body><nav><a href="/a">A</a></nav>
<main><h1>The lamp</h1><p>It is <b>green</b> &amp; warm.</p><a href="b.html#x">B</a><a href="../c?d=1">C</a><a href="https://o.example/p/./q">O</a>
<a href="javascript:x()">J</a><a href="mailto:x@y">M</a><a href="#top">T</a><a href="/a">again</a></main><style>p{}</style></body></html>"""


def test_links_and_words_are_those_of_the_careful_reading():
    fast, careful = (
        extract(BODY.encode(), HTML, "https://s.example/dir/page")
        for extract in (fast_extract.extract_content_fast, dispatch.extract_content)
    )
    assert {link.url: link.text for link in fast.links} == {link.url: link.text for link in careful.links}
    assert fast.title == "The lamp" and {"green", "&", "warm."} <= set(fast.text.split())
    assert "bad()" not in fast.text and "p{}" not in fast.text


@pytest.mark.parametrize("base", ["https://s.example/dir/page", "http://s.example:8080/"])
def test_every_spelling_of_an_address_is_resolved_as_one_by_one(base):
    hrefs = [
        "/a",
        "/a/./b",
        "/a/../b",
        "//o.example/x",
        "b.html",
        "?q=1",
        "",
        " /padded ",
        "/with space",
        "/two\nlines",
        "/frag#x",
        "#top",
        "https://o.example",
        "https://o.example/p?q=/.",
        "HTTPS://O.example/P",
        "http:/one",
        "/back\\slash",
        "/tab\there",
        "javascript:x()",
        "mailto:a@b",
        "tel:1",
        "ftp://f.example/",
        "/ä",
        "/%7Eu",
        "/a&amp;b",
        "data:text/html,x",
    ]
    for some in (
        hrefs,
        [href for href in hrefs if "\n" not in href],
        [href for href in hrefs if not {"\n", "."} & set(href)],
        ["/a"],
        [],
    ):
        rows = "".join(f'<a href="{href}">{n}</a>' for n, href in enumerate(some))
        wanted = {urls.resolve(base, unescape(href)) for href in some if href and href[0] != "#"} - {""}
        found = {
            link.url
            for link in fast_extract.extract_content_fast(
                f"<html><body><p>words</p>{rows}</body></html>".encode(), HTML, base
            ).links
        }
        assert found == wanted


def test_the_first_base_counts_and_not_the_page():
    links = fast_extract.extract_content_fast(
        b'<html><head><base target=x><base href="/b/"><base href="/c/"></head><body><a href="d">D</a></body></html>',
        HTML,
        "https://s.example/a/",
    ).links
    assert [link.url for link in links] == ["https://s.example/b/d"]


def test_what_is_no_plain_page_is_read_with_care():
    assert (
        fast_extract.extract_content_fast(b"plain words", "text/plain", "https://s.example/a.txt").text
        == "plain words"
    )
    refresh = b'<html><head><meta http-equiv="Refresh" content="0;url=/next"></head><body>go</body></html>'
    assert (
        fast_extract.extract_content_fast(refresh, HTML, "https://s.example/").refresh_url
        == "https://s.example/next"
    )
    assert (
        fast_extract.extract_content_fast(b"<html><body></body></html>", HTML, "https://s.example/").outcome
        is Outcome.EMPTY
    )


def test_a_skimmed_page_can_be_read_again_from_its_body():
    here = "https://s.example/"
    page = Page(
        url=here, final_url=here, outcome=Outcome.OK, content_type=HTML, text="A\nThe lamp", raw=BODY.encode()
    )
    again = fast_extract.extract_fully(page)
    assert again.headings and "A\n" not in again.text and len(again.sha256) == 64
    gone = page.model_copy(update={"outcome": Outcome.NOT_FOUND})
    assert fast_extract.extract_fully(gone) is gone
