"""A body to a Reading, whatever it is: HTML, PDF, plain text, a sitemap. The one way in for everything that was fetched."""

from __future__ import annotations

import re

from agent import urls
from agent.tools import encoding, media, pdf, webpage
from agent.tools.reading import Reading
from agent.types import Heading, Link, Outcome

_LOC = re.compile(r"<(?:\w{1,20}:)?(?:loc|link|guid)\b[^<>]{0,200}>(?:\s{0,99}<!\[CDATA\[)?([^<\]]{1,5000})", re.IGNORECASE)
_HREF = re.compile(r"""<(?:\w{1,20}:)?link\b[^<>]{0,500}?\bhref\s?=\s?["']([^"'<>]{1,5000})""", re.IGNORECASE)
_MARKDOWN = re.compile(r"^(#{1,6})[ \t]{1,9}(\S[^\n]{0,300})$", re.MULTILINE)
_ENTITY = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&#38;": "&"}


def read(raw: bytes, content_type: str, url: str) -> Reading:
    """The readable part of a body that came from `url`; outcome `unsupported` or `empty` when there is none."""
    match media.kind(raw, content_type):
        case "html":
            return webpage.read(encoding.decode(raw, content_type), url)
        case "pdf":
            return pdf.read(raw)
        case "text":
            return _plain(encoding.decode(raw, content_type), content_type, url)
        case "xml":
            return _xml(encoding.decode(raw, content_type), url)
        case "empty":
            return Reading(outcome=Outcome.EMPTY, detail="The address answered with nothing at all. Look for the same elsewhere.")
        case _:
            named = media.media_type(content_type) or "an unknown type"
            return Reading(outcome=Outcome.UNSUPPORTED, detail=f"This is not a text that can be read here ({named}). Open it yourself.")


def _plain(text: str, content_type: str, url: str) -> Reading:
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    headings = []
    if "markdown" in content_type or url.endswith(".md"):
        headings = [Heading(start=m.start(2), level=len(m.group(1)), text=m.group(2).rstrip("# ")) for m in _MARKDOWN.finditer(text)]
    name = url.rstrip("/").rsplit("/", 1)[-1].split("?")[0]
    return Reading(
        title=headings[0].text if headings else name,
        text=text,
        headings=headings,
        links=[Link(url=address) for address in urls.found_in(text)],
    )


def _xml(source: str, url: str) -> Reading:
    """A sitemap or feed: its addresses as links. Read by pattern: no XML parser, so no entities and no outside files."""
    found = [_unescape(address) for address in _LOC.findall(source) + _HREF.findall(source)]
    links = list(dict.fromkeys(address for raw in found if (address := urls.absolute(url, raw))))
    text = re.sub(r"<!\[CDATA\[|\]\]>", "", re.sub(r"<[^<>!]*>", "\n", source))
    lines = (line.strip() for line in _unescape(re.sub(r"<[!?][^<>]*>", "", text)).splitlines())
    text = "\n".join(line for line in lines if line)
    outcome = Outcome.OK if links or text else Outcome.EMPTY
    return Reading(
        outcome=outcome,
        detail="" if links or text else "The file lists no addresses and holds no text.",
        title="Sitemap" if re.search(r"<(?:urlset|sitemapindex)\b", source) else "",
        text=text,
        links=[Link(url=address) for address in links[: webpage.MAX_LINKS]],
    )


def _unescape(text: str) -> str:
    return re.sub(r"&(?:amp|lt|gt|quot|apos|#38);", lambda m: _ENTITY[m.group()], text)
