"""Where the text of an HTML page links to: absolute addresses, and for a mark that leads to a note of the
same page the address in that note."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import unquote, urldefrag, urljoin

from selectolax.lexbor import LexborHTMLParser

from agent.text import urls
from agent.types import Anchor

MAX_NOTE_HOPS = 2
"""A short note ("Smith 2020, p. 3") leads on to the entry of a list."""
MAX_NOTE_CHARS = 1_500
"""Characters of a note; a longer element is a section."""
NUMBERED_MARK = re.compile(r"[\[(]?\^?(?:\d{1,3}|[⁰¹²³⁴-⁹]{1,3}|[*†‡§])[\])]?")
"""What leads to a note: "[3]", "³", "*"."""
_ID_MARKS = re.compile(r"[\\\"\]]")
DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>\])},;]+")
"""A DOI as Crossref recommends to find one (DOI.org handbook, 2.2)."""


def find_addresses(text: str) -> list[str]:
    """The web addresses written in a text, in order; a DOI that is in none of them by its resolver."""
    found = urls.find_urls(text)
    dois = (match.group().rstrip(".") for match in DOI.finditer(text))
    return found + [f"https://doi.org/{doi}" for doi in dois if not any(doi in url for url in found)]


def resolve_anchors(anchors: Sequence[Anchor], text: str, html: str, url: str) -> list[Anchor]:
    """The anchors of the page at `url`, which has this text, with absolute addresses. Links to places of the
    page itself are left out, unless they lead to a note: an element with an address, or a mark's."""
    here, resolved = urldefrag(url)[0], list[Anchor]()
    tree = LexborHTMLParser(html) if any("#" in anchor.url for anchor in anchors) else None
    for anchor in anchors:
        target, fragment = urldefrag(urljoin(url, anchor.url) if url else anchor.url)
        if not fragment or target not in ("", here):
            address = urls.resolve(url, anchor.url)
        else:
            address = _find_in_note(tree, fragment, url)
        if address or (fragment and NUMBERED_MARK.fullmatch(text[anchor.start : anchor.end].strip())):
            resolved.append(Anchor(anchor.start, anchor.end, address))
    return resolved


def _find_in_note(tree: LexborHTMLParser | None, fragment: str, url: str) -> str:
    """The first address in the element of this id, or in the note that it leads on to; "" for none."""
    for _ in range(MAX_NOTE_HOPS):
        node = tree.css_first(f'[id="{_ID_MARKS.sub("", unquote(fragment))}"]') if tree else None
        if node is None or len(whole := node.text(separator=" ")) > MAX_NOTE_CHARS:
            return ""
        hrefs = [link.attributes.get("href") or "" for link in node.css("a[href]")]
        if outside := next((a for h in hrefs if h[:1] != "#" and (a := urls.resolve(url, h))), ""):
            return outside
        if written := find_addresses(whole):
            return written[0]
        fragment = next((h[1:] for h in hrefs if len(h) > 1 and h[0] == "#" and h[1:] != fragment), "")
        if not fragment:
            return ""
    return ""
