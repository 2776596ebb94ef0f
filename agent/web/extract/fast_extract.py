"""A page's title, visible text and links, extracted in a millisecond for crawling; `dispatch` extracts it
fully.

One parse by the same C parser and whole-tree calls only; nothing is judged, so menus stay in the text and
there are no headings. A page that is quoted from is extracted fully first (`extract_fully`)."""

from __future__ import annotations

import re
import threading
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser

from agent.text import urls
from agent.types import Link, Outcome, Page
from agent.web import mime
from agent.web.extract import dispatch, encoding
from agent.web.extract.extraction import Extraction
from agent.web.extract.html_page import MAX_LINKS
from agent.web.extract.nodes import find_base_url, flat_text

MAX_BODY_BYTES = 3_000_000
"""A longer body is extracted fully, where its size is limited."""
_parse_lock = threading.Lock()
"""One page at a time: the interpreter runs one thread anyway, and dozens that take turns in mid-page cost
each other 15 % of their throughput. A page takes a millisecond or two, the longest a twentieth of a
second."""
_UNREAD_TAGS = ["script", "style", "noscript", "template", "svg", "iframe", "select", "button"]
_RESOLVED_LINK = re.compile(r"^(?:(/(?!/)[^\s#\\]*|https?://[^\s#\\/]+/[^\s#\\]*)|.*)$", re.MULTILINE)
"""Captures a line that is a path or an address which needs nothing but its origin; nothing of any other
line."""
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def extract_content_fast(raw: bytes, content_type: str, url: str) -> Extraction:
    """The page, fast; what is no HTML, very large or redirects is extracted fully."""
    if mime.detect_kind(raw, content_type) != "html" or len(raw) > MAX_BODY_BYTES:
        return dispatch.extract_content(raw, content_type, url)
    text = encoding.decode(raw, content_type)
    with _parse_lock:
        page = _extract_html_fast(text, url)
    return page or dispatch.extract_content(raw, content_type, url)


def _extract_html_fast(html: str, url: str) -> Extraction | None:
    tree = LexborHTMLParser(html)
    if tree.body is None or tree.css_first('meta[http-equiv="refresh" i]') is not None:
        return None
    title = tree.css_first("title")
    links = _read_links(tree, find_base_url(tree, url))
    tree.strip_tags(_UNREAD_TAGS)
    text = tree.body.text(separator="\n", strip=True)
    return (
        Extraction(title=flat_text(title) if title is not None else "", text=text, links=links)
        if text
        else None
    )


def extract_fully(page: Page) -> Page:
    """A page that was extracted fast, extracted fully from its stored body: what facts are taken from."""
    if page.outcome is not Outcome.OK or not page.raw:
        return page
    fields = dispatch.extract_content(page.raw, page.content_type, page.final_url).page_fields()
    return page.model_copy(update=fields | {"language": fields["language"] or page.language})


def _read_links(tree: LexborHTMLParser, base: str) -> list[Link]:
    parts = urlsplit(base)
    origin = f"{parts.scheme}://{parts.netloc}"
    nodes = tree.css("a[href], area[href]")
    hrefs = [(node.attrs["href"] or "").strip() for node in nodes]
    texts = _collapse_spaces([node.text() for node in nodes])
    found: dict[str, str] = {}
    for href, plain, text in zip(hrefs, _select_resolved_links(hrefs), texts, strict=True):
        address = (origin + plain if plain[0] == "/" else plain) if plain else _resolve_link(href, base)
        if address and not found.get(address):
            found[address] = text[:300]
            if len(found) >= MAX_LINKS:
                break
    return [Link(address, text) for address, text in found.items()]


def _select_resolved_links(hrefs: list[str]) -> list[str]:
    """Each address as it is where it needs no resolving, else ""; all in one call, because calls add up."""
    lines = "\n".join(hrefs)
    plain: list[str] = _RESOLVED_LINK.findall(lines) if hrefs else []
    if len(plain) != len(hrefs):  # an address of several lines
        return [""] * len(hrefs)
    return ["" if "/." in address else address for address in plain] if "/." in lines else plain


def _resolve_link(href: str, base: str) -> str:
    if not href or href[0] == "#" or (_SCHEME.match(href) and href[:4].lower() != "http"):
        return ""
    return urls.resolve(base, href)


def _collapse_spaces(texts: list[str]) -> list[str]:
    """Each text on one line with single spaces; all in one call. A decoded page holds no NUL (see
    `encoding`)."""
    line = " ".join("\x00".join(texts).split())
    return line.replace(" \x00", "\x00").replace("\x00 ", "\x00").split("\x00") if texts else []
