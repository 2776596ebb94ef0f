"""Bodies of every kind through the one way in."""

from __future__ import annotations

import pytest

from agent.errors import StopRequested
from agent.types import Outcome
from agent.web.extract import dispatch
from agent.web.extract.extraction import Extraction
from tests.agent.web.extract.sample_documents import make_docx

URL = "https://a.example.com/files/notes.md"


@pytest.mark.parametrize(
    ("raw", "name", "content_type"),
    [
        (b"a,b\n1,2\n", "f.csv", "application/octet-stream"),
        (b"a\tb\n1\t2\n", "f.tsv?x=1", "text/plain"),
        (b'{"a": 1, "b": 2}\n', "f.ndjson", "application/octet-stream"),
        (b'{"a": 1, "b": 2}\n', "f.jsonl", "application/json"),
        (b"a,b\n1,2\n", "f", "application/csv"),
    ],
)
def test_a_table_is_known_by_its_type_or_its_ending(raw: bytes, name: str, content_type: str) -> None:
    page = dispatch.extract_content(raw, content_type, f"https://a.example.com/{name}")
    assert page.tables[0].rows == [["a", "b"], ["1", "2"]] and page.title == name.split("?")[0]


def test_a_document_is_read_in_a_process_that_a_stop_ends() -> None:
    def stop() -> None:
        raise StopRequested

    assert dispatch.extract_content(make_docx(), "", URL).title == "Vat & cellar"
    with pytest.raises(StopRequested):
        dispatch.extract_content(make_docx(), "", URL, stop)


def test_a_large_page_is_read_in_a_process_that_a_stop_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trust case S2.5: 50,000 options took 18 s, and no stop ended them."""
    asked: list[str] = []

    def read(kind: str, *_: object, url: str, **__: object) -> Extraction:
        asked.append(f"{kind} {url}")
        return Extraction(text="read elsewhere")

    monkeypatch.setattr(dispatch.shared_pool, "read", read)
    for n in (10, 20_000):
        dispatch.extract_content(b"<select>" + b"<option>x" * n, "text/html", URL)
    assert asked == [f"html {URL}"]


def test_a_sitemap_is_its_links() -> None:
    raw = b"<?xml version='1.0'?><urlset><url><loc> https://a.example.com/1?x=1&amp;y=2 </loc></url><url><loc>https://a.example.com/2</loc></url></urlset>"
    page = dispatch.extract_content(raw, "application/xml", "https://a.example.com/sitemap.xml")
    assert (page.outcome, page.title) == (Outcome.OK, "Sitemap")
    assert [link.url for link in page.links] == ["https://a.example.com/1?x=1&y=2", "https://a.example.com/2"]


def test_a_feed_gives_links_and_text() -> None:
    item = b"<title>New cheese</title><link>https://a.example.com/c</link><description><![CDATA[It is <b>blue</b>.]]></description>"
    raw = b"<rss><channel><item>" + item + b"</item></channel></rss>"
    page = dispatch.extract_content(raw, "application/rss+xml", URL)
    assert [link.url for link in page.links] == ["https://a.example.com/c"]
    assert "New cheese" in page.text and "blue" in page.text


def test_entity_bombs_stay_closed() -> None:
    raw = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]><x>&b;&f;</x>'
    assert "root:" not in dispatch.extract_content(raw, "application/xml", URL).text


def test_what_can_not_be_read_says_so() -> None:
    for raw, content_type in (
        (b"\x89PNG\r\n", "image/png"),
        (b"PK\x03\x04", "application/zip"),
        (b"\x00\x01\x02", ""),
    ):
        page = dispatch.extract_content(raw, content_type, URL)
        assert page.outcome is Outcome.UNSUPPORTED and page.detail and not page.text
    assert dispatch.extract_content(b"", "text/html", URL).outcome is Outcome.EMPTY


@pytest.mark.parametrize(
    ("raw", "text", "links"),
    [
        ("<rss><dc:date>2026-01-02</dc:date><p>5&nbsp;EUR.</p></rss>", "2026-01-02\n5\xa0EUR.", []),
        ("<rss><d><![CDATA[<p>The <b>mill</b></p>]]></d></rss>", "The\nmill", []),
        (f"{'<a>' * 400}deep{'</a>' * 400}", "deep", []),
        ("x <urlset><loc>/1?a=1&b=2</loc></urlset><urlset><loc>/2</loc></urlset>", None, ["1?a=1&b=2", "2"]),
        ('<feed><link rel="self" href="/z"/><entry/></feed>', "", ["z"]),
    ],
)
def test_feeds_that_are_no_whole_xml_are_read(raw: str, text: str | None, links: list[str]) -> None:
    page = dispatch.extract_content(raw.encode(), "application/xml", "https://a.example.com/feed")
    assert text is None or page.text == text
    assert [link.url for link in page.links] == [f"https://a.example.com/{name}" for name in links]
