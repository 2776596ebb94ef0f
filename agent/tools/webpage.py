"""An HTML page as a Reading: one parse, then text, headings, tables, links and metadata from the same tree."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

from agent import urls
from agent.tools import metadata, noise, taming, walls
from agent.tools.blocks import Blocks, flat
from agent.tools.reading import Reading
from agent.types import Link, Outcome

MAX_LINKS = 5_000
_REFRESH = re.compile(r"^\s*([0-9]{1,2})(?:\.\d*)?\s*[;,]\s*(?:url\s*=\s*)?['\"]?([^'\"]+)", re.IGNORECASE)
_SHORT = 250
"""Characters below which a page's text counts as next to nothing and the careful reading is done again without dropping."""


def read(html: str, url: str) -> Reading:
    """The page at `url`. Its outcome is `blocked` when what came is a wall, `empty` when there is no text."""
    html = taming.tame(html)
    tree = LexborHTMLParser(html)
    about = metadata.read(html, tree)
    base = _base(tree, url)
    links = _links(tree, base)
    facts = walls.look(tree, html, url, about)
    blocks = _text(tree, html)
    reading = Reading(
        title=about.title,
        author=about.author,
        published_at=about.published_at,
        language=about.language,
        text=blocks.text if blocks else "",
        headings=blocks.headings if blocks else [],
        tables=blocks.tables if blocks else [],
        links=links,
        refresh=_refresh(about.metas.get("refresh", ""), base),
    )
    reading.detail = walls.judge(facts, about, reading.text)
    if reading.detail:
        reading.outcome = Outcome.BLOCKED
    elif not reading.text:
        reading.outcome, reading.detail = Outcome.EMPTY, "The page has no readable text. Open it yourself, or look elsewhere."
    return reading


def _text(tree: LexborHTMLParser, html: str) -> Blocks | None:
    """The main text; where the careful reading leaves next to nothing, everything that is visible."""
    body = tree.body
    if body is None:
        return None
    noise.strip(body)
    visible = noise.size(body)
    noise.drop(body)
    blocks = Blocks(noise.main(body))
    if len(blocks.text) >= _SHORT or len(blocks.text) >= 0.8 * visible:
        return blocks
    again = LexborHTMLParser(html).body
    if again is None:
        return blocks
    noise.strip(again)
    if not noise.size(again):
        return blocks
    return _richer(blocks, Blocks(again))


def _richer(careful: Blocks, everything: Blocks) -> Blocks:
    """The careful reading stands unless it kept less than a third of a page that has something to say."""
    return everything if len(careful.text) < len(everything.text) / 3 else careful


def _base(tree: LexborHTMLParser, url: str) -> str:
    node = tree.css_first("base[href]")
    return (urls.absolute(url, node.attributes.get("href") or "") if node else "") or url


def _links(tree: LexborHTMLParser, base: str) -> list[Link]:
    found: dict[str, str] = {}
    for node in tree.css("a[href], area[href]"):
        href = node.attributes.get("href") or ""
        if not href or href[0] == "#" or href[:11].lower() == "javascript:":
            continue
        if address := urls.absolute(base, href):
            found[address] = found.get(address) or _anchor(node)
            if len(found) >= MAX_LINKS:
                break
    return [Link(url=address, text=text) for address, text in found.items()]


def _anchor(node: LexborNode) -> str:
    text = flat(node)
    if not text:
        attributes = node.attributes
        image = node.css_first("img[alt]")
        text = attributes.get("aria-label") or attributes.get("title") or (image.attributes.get("alt") if image else "") or ""
    return " ".join(text.split())[:300]


def _refresh(value: str, base: str) -> str:
    match = _REFRESH.match(value)
    return urls.absolute(base, match.group(2).strip()) if match and int(match.group(1)) <= 10 else ""
