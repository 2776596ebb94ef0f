"""Extraction of a fetched body, whatever it is: HTML, PDF, plain text, a sitemap or feed."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from typing import Any

from agent.text import urls
from agent.text.dates import ReadingDay
from agent.types import Link, Outcome, Page
from agent.web import mime
from agent.web.extract import encoding, forum_posts, html_page, link_lists
from agent.web.extract.extraction import LOCKED, Extraction, PageStructure
from agent.web.parser_pool import PAGE_KINDS, shared_pool

MAX_BYTES_HERE = 50_000
"""A larger page is read in another process, which a stop and limits of CPU time and memory end: the time that
the HTML parser takes grows with the square of some pages (50,000 `<option>`: 18 s; of this size .15 s)."""

_XML_ADDRESS = re.compile(
    r"<(?:\w{1,20}:)?(?:(?:loc|link|guid)\b[^<>]{0,200}>(?:\s{0,99}<!\[CDATA\[)?([^<\]]{1,5000})"
    r"""|link\b[^<>]{0,500}?\bhref\s?=\s?["']([^"'<>]{1,5000}))""",
    re.IGNORECASE,
)


def extract_content(
    raw: bytes, content_type: str, url: str, checkpoint: Callable[[], None] = lambda: None
) -> Extraction:
    """The readable part of a body from `url`; outcome `unsupported` or `empty` when there is none. A document
    (PDF, Office, EPUB, RTF) and a large page are read in another process; meanwhile `checkpoint` is called,
    which may raise."""
    if mime.parse_media_type(content_type) == mime.UNKNOWN_TYPE:  # a text by the ending of its address
        known = mime.BY_ENDING.get(mime.read_ending(url.partition("?")[0]))
        content_type = known.media_type if known and not known.label else content_type
    kind = mime.detect_kind(raw, content_type)
    if kind in mime.DOCUMENTS or (kind in PAGE_KINDS and len(raw) > MAX_BYTES_HERE):
        return shared_pool.read(kind, raw, checkpoint, content_type=content_type, url=url)
    return read_page(kind, raw, content_type, url).limit()


def extract_structure(
    page: Page, today: ReadingDay, checkpoint: Callable[[], None]
) -> tuple[PageStructure, str]:
    """How the markup of an HTML page is built, within the limits of `extract_content`, and why that could not
    be read: then it is empty."""
    day = {"day": str(today), "day_first": today.day_first, "characters": len(page.text)}
    about: dict[str, Any] = {"content_type": page.content_type, "url": page.final_url or page.url, **day}
    if len(page.raw) <= MAX_BYTES_HERE:
        return read_structure(page.raw, **about).structure or PageStructure(), ""
    reading = shared_pool.read("structure", page.raw, checkpoint, **about)
    return reading.structure or PageStructure(), reading.detail


def read_structure(
    raw: bytes, content_type: str, url: str, day: str, day_first: bool | None, characters: int
) -> Extraction:
    """How the page at `url`, read on `day` (ISO), is built; its extracted text has that many characters."""
    today = ReadingDay(day)
    today.day_first = day_first
    html = encoding.decode(raw, content_type)
    posts = forum_posts.find_posts(html, today)
    links = link_lists.find_link_candidates(html, url, today)
    features = link_lists.measure_page_features(html, links, posts=len(posts), characters=characters)
    next_url = link_lists.find_next_page(html, url)
    return Extraction(structure=PageStructure(posts, links, features, next_url))


def read_page(kind: str, raw: bytes, content_type: str, url: str) -> Extraction:
    """The readable part of a body of a kind that is no document."""
    match kind:
        case "html":
            return html_page.extract_html(encoding.decode(raw, content_type), url)
        case "text":
            read = mime.find_text_format(content_type, url).load_reader()
            reading = read(encoding.decode(raw, content_type))
            if not reading.title and not url.startswith(urls.FILE_SCHEME):  # a file is named by its label
                reading.title = url.rstrip("/").rsplit("/", 1)[-1].split("?")[0]
            return reading
        case "xml":
            return _extract_xml(encoding.decode(raw, content_type), url)
        case "locked":
            return Extraction(outcome=Outcome.UNSUPPORTED, detail=LOCKED.format("document"))
        case "empty":
            nothing = "The address answered with nothing at all. Look for the same elsewhere."
            return Extraction(outcome=Outcome.EMPTY, detail=nothing)
        case _:
            stated = mime.parse_media_type(content_type) or "an unknown type"
            unreadable = f"This is not a text that can be read here ({stated}). Open it yourself."
            return Extraction(outcome=Outcome.UNSUPPORTED, detail=unreadable)


def _extract_xml(source: str, url: str) -> Extraction:
    """The text of a sitemap or feed, and its addresses as links. Read by pattern: feeds are often no whole
    XML, and without an XML parser there are no entities and no outside files."""
    found = (unescape(left or right) for left, right in _XML_ADDRESS.findall(source))
    links = list(dict.fromkeys(filter(None, (urls.resolve(url, said.strip()) for said in found))))
    bare = re.sub(r"<[^<>!]*>", "\n", source).replace("<![CDATA[", "").replace("]]>", "")
    lines = unescape(re.sub(r"<!\s?[^<>]*>", "", bare)).splitlines()
    text = "\n".join(filter(None, map(str.strip, lines)))
    if not links and not text:
        return Extraction(outcome=Outcome.EMPTY, detail="The file lists no addresses and holds no text.")
    title = "Sitemap" if "<urlset" in source or "<sitemapindex" in source else ""
    return Extraction(title=title, text=text, links=[Link(url=link) for link in links])
