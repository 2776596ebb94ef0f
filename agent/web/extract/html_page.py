"""An HTML page as a Reading: one parse, then text, headings, tables, links and metadata from the same
tree."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

from agent.text import urls
from agent.types import Link, Outcome
from agent.web.extract import access_walls, boilerplate, html_limits, metadata
from agent.web.extract.extraction import Extraction
from agent.web.extract.text_blocks import TextBlocks, inline_text

MAX_LINKS = 5_000
_REFRESH = re.compile(r"^\s*([0-9]{1,2})(?:\.\d*)?\s*[;,]\s*(?:url\s*=\s*)?['\"]?([^'\"]+)", re.IGNORECASE)
_MIN_TEXT_CHARACTERS = 250
"""Characters below which a page's text counts as next to nothing and the careful reading is done again
without dropping."""


def extract_html(html: str, url: str) -> Extraction:
    """The page at `url`. Its outcome is `blocked` when what came is a wall, `empty` when there is no text."""
    html = html_limits.limit_html(html)
    tree = LexborHTMLParser(html)
    about = metadata.read_metadata(html, tree)
    base = _find_base_url(tree, url)
    links = _read_links(tree, base)
    facts = access_walls.find_wall_evidence(tree, html, url, about)
    blocks = _extract_text(tree, html)
    reading = Extraction(
        title=about.title,
        author=about.author,
        published_at=about.published_at,
        language=about.language,
        text=blocks.text if blocks else "",
        headings=blocks.headings if blocks else [],
        tables=blocks.tables if blocks else [],
        links=links,
        refresh_url=_find_refresh_url(about.metas.get("refresh", ""), base),
    )
    reading.detail = access_walls.describe_wall(facts, about, reading.text)
    if reading.detail:
        reading.outcome = Outcome.BLOCKED
    elif not reading.text:
        reading.outcome, reading.detail = (
            Outcome.EMPTY,
            "The page has no readable text. Open it yourself, or look elsewhere.",
        )
    return reading


def _extract_text(tree: LexborHTMLParser, html: str) -> TextBlocks | None:
    """The main text; where the careful reading leaves next to nothing, everything that is visible."""
    body = tree.body
    if body is None:
        return None
    boilerplate.remove_invisible(body)
    visible = boilerplate.text_length(body)
    boilerplate.remove_boilerplate(body)
    blocks = TextBlocks(boilerplate.find_main_content(body))
    if len(blocks.text) >= _MIN_TEXT_CHARACTERS or len(blocks.text) >= 0.8 * visible:
        return blocks
    again = LexborHTMLParser(html).body
    if again is None:
        return blocks
    boilerplate.remove_invisible(again)
    if not boilerplate.text_length(again):
        return blocks
    return _choose_richer(blocks, TextBlocks(again))


def _choose_richer(careful: TextBlocks, everything: TextBlocks) -> TextBlocks:
    """The careful reading stands unless it kept less than a third of a page that has something to say."""
    return everything if len(careful.text) < len(everything.text) / 3 else careful


def _find_base_url(tree: LexborHTMLParser, url: str) -> str:
    node = tree.css_first("base[href]")
    return (urls.resolve(url, node.attributes.get("href") or "") if node else "") or url


def _read_links(tree: LexborHTMLParser, base: str) -> list[Link]:
    found: dict[str, str] = {}
    for node in tree.css("a[href], area[href]"):
        href = node.attributes.get("href") or ""
        if not href or href[0] == "#" or href[:11].lower() == "javascript:":
            continue
        if address := urls.resolve(base, href):
            found[address] = found.get(address) or _anchor_text(node)
            if len(found) >= MAX_LINKS:
                break
    return [Link(url=address, text=text) for address, text in found.items()]


def _anchor_text(node: LexborNode) -> str:
    text = inline_text(node)
    if not text:
        attributes = node.attributes
        image = node.css_first("img[alt]")
        text = (
            attributes.get("aria-label")
            or attributes.get("title")
            or (image.attributes.get("alt") if image else "")
            or ""
        )
    return " ".join(text.split())[:300]


def _find_refresh_url(value: str, base: str) -> str:
    match = _REFRESH.match(value)
    return urls.resolve(base, match.group(2).strip()) if match and int(match.group(1)) <= 10 else ""
