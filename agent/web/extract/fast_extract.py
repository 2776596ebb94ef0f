"""A page at a glance: its title, visible text and links, for crawling many pages cheaply. The careful reading
is `extract`.

One parse by the same C parser, whole-tree calls only; nothing is judged, so menus stay in the text and there
are no headings. A page that is quoted from is read with care first (`again`). Knows no network."""

from __future__ import annotations

import hashlib
import re
import threading
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from agent.text import urls
from agent.types import Link, Outcome, Page
from agent.web import mime
from agent.web.extract import dispatch, encoding
from agent.web.extract.extraction import Extraction

MAX_LINKS = 5_000
MAX_BODY_BYTES = 3_000_000
"""Characters of a body that are skimmed; a longer one is read with care (which knows how to tame it)."""
_parse_lock = threading.Lock()
"""One page is skimmed at a time: the interpreter runs one thread anyway, and dozens that take turns in
mid-page cost each other 15 % of their throughput. A page takes a millisecond or two, the longest a twentieth
of a second."""
_UNREAD_TAGS = ["script", "style", "noscript", "template", "svg", "iframe", "select", "button"]
_RESOLVED_LINK = re.compile(r"^(?:(/(?!/)[^\s#\\]*|https?://[^\s#\\/]+/[^\s#\\]*)|.*)$", re.MULTILINE)
"""A line that is a path or an address which needs nothing but its origin; of any other line nothing is
caught."""
_HEAD_SELECTOR = 'title, base[href], meta[http-equiv="refresh" i]'
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def extract_content_fast(raw: bytes, content_type: str, url: str) -> Extraction:
    """The skimmed page; what is no HTML, or is very large, is read with care."""
    if mime.detect_kind(raw, content_type) != "html" or len(raw) > MAX_BODY_BYTES:
        return dispatch.extract_content(raw, content_type, url)
    text = encoding.decode(raw, content_type)
    with _parse_lock:
        page = _extract_html_fast(text, url)
    return page or dispatch.extract_content(raw, content_type, url)


def _extract_html_fast(html: str, url: str) -> Extraction | None:
    """The page of this markup; None when it must be read with care."""
    tree = LexborHTMLParser(html)
    title, base, sends_on = _read_head(tree)
    if tree.body is None or sends_on:
        return None
    links = _read_links(tree, (urls.resolve(url, base) if base else "") or url)
    tree.strip_tags(_UNREAD_TAGS)
    text = tree.body.text(separator="\n", strip=True)
    return Extraction(title=title, text=text, links=links) if text else None


def _read_head(tree: LexborHTMLParser) -> tuple[str, str, bool]:
    """Its title; the base its links stand on, as written; does it send its reader on?"""
    found: dict[str, LexborNode] = {}
    for node in tree.css(_HEAD_SELECTOR):
        found.setdefault(str(node.tag), node)
    title = " ".join(found["title"].text().split()) if "title" in found else ""
    base = found["base"].attributes.get("href") or "" if "base" in found else ""
    return title, base, "meta" in found


def extract_fully(page: Page) -> Page:
    """A skimmed page, read with care from its stored body: what facts are taken from."""
    if page.outcome is not Outcome.OK or not page.raw:
        return page
    careful = dispatch.extract_content(page.raw, page.content_type, page.final_url)
    told = {
        name: getattr(careful, name)
        for name in (
            "outcome",
            "detail",
            "title",
            "author",
            "published_at",
            "text",
            "headings",
            "tables",
            "links",
        )
    }
    sha256 = hashlib.sha256(careful.text.encode()).hexdigest()
    return page.model_copy(update={**told, "language": careful.language or page.language, "sha256": sha256})


def _read_links(tree: LexborHTMLParser, base: str) -> list[Link]:
    parts = urlsplit(base)
    origin = f"{parts.scheme}://{parts.netloc}"
    nodes = tree.css("a[href], area[href]")
    hrefs = [(node.attrs["href"] or "").strip() for node in nodes]
    found: dict[str, str] = {}
    for href, plain, text in zip(
        hrefs, _select_resolved_links(hrefs), _collapse_spaces([node.text() for node in nodes]), strict=True
    ):
        address = (origin + plain if plain[0] == "/" else plain) if plain else _resolve_link(href, base)
        if address and not found.get(address):
            found[address] = text[:300]
            if len(found) >= MAX_LINKS:
                break
    return [Link(address, text) for address, text in found.items()]


def _select_resolved_links(hrefs: list[str]) -> list[str]:
    """Each address as it is where it needs no resolving, else "". All at once, as a call a link adds up."""
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
    """Each text on one line, its spaces single. All at once, as a call a link adds up; a page's text holds no
    NUL (see `encoding`)."""
    line = " ".join("\x00".join(texts).split())
    return line.replace(" \x00", "\x00").replace("\x00 ", "\x00").split("\x00") if texts else []
