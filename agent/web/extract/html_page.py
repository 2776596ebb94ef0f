"""An HTML page: one parse, then text, headings, tables, links and metadata from the same tree."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from selectolax.lexbor import LexborHTMLParser
from w3lib.html import get_meta_refresh

from agent.text import urls
from agent.types import Outcome
from agent.web.extract import boilerplate, forum_posts, metadata
from agent.web.extract.access_walls import describe_wall
from agent.web.extract.extraction import Extraction
from agent.web.extract.nodes import find_base_url, text_length
from agent.web.extract.text_blocks import TextBlocks, list_links

MAX_REFRESH_S = 10
MIN_MAIN_CHARACTERS = 500
MIN_TEXT_CHARACTERS = 250
"""Below this length the text counts as next to nothing, and the page is read again with its boilerplate;
one that redirects within seconds is only a redirect."""


def extract_html(html: str, url: str) -> Extraction:
    """The page at `url`. Its outcome is `blocked` when what came is a wall, `empty` when there is no text."""
    tree = LexborHTMLParser(html)
    about = metadata.read_metadata(tree)
    base = find_base_url(tree, url)
    links = list_links(tree.root, base) if tree.root is not None else []
    stated = ("title", "author", "publication", "published_at", "language")
    found = replace(_extract_text(tree, html), links=links, **{name: getattr(about, name) for name in stated})
    with suppress(ValueError):  # it names no address
        if "refresh" in about.metas:
            seconds, target = get_meta_refresh(html, base, max_scan=len(html))
            if target and seconds is not None and seconds <= MAX_REFRESH_S:
                found.refresh_url = urls.resolve(base, target)
    if wall := describe_wall(html, url, about, found.text):
        found.outcome, found.detail = Outcome.BLOCKED, wall
    elif not found.text:
        found.outcome = Outcome.EMPTY
        found.detail = "The page has no readable text. Open it yourself, or look elsewhere."
    return found


def _extract_text(tree: LexborHTMLParser, html: str) -> Extraction:
    """The main text; where next to nothing is left of a page that has more, all that is visible."""
    body = tree.body
    if body is None:
        return Extraction()
    boilerplate.remove_invisible(body)
    visible = text_length(body)
    boilerplate.remove_boilerplate(body)
    # `<main>` or a single `<article>` with enough text, else the body
    whole, main = text_length(body), body
    enough = max(boilerplate.MIN_MAIN_SHARE * whole, min(MIN_MAIN_CHARACTERS, 0.5 * whole))
    for selector in ("article", "main, [role=main]"):
        found = body.css(selector)
        if len(found) == 1 and text_length(found[0]) >= enough:
            main = found[0]
    reading = TextBlocks(main, forum_posts.mark_posts(main)).reading
    if len(reading.text) >= min(MIN_TEXT_CHARACTERS, 0.8 * visible):
        return reading
    again = LexborHTMLParser(html).body
    if again is None:
        return reading
    boilerplate.remove_invisible(again)
    everything = TextBlocks(again).reading
    return everything if len(reading.text) < len(everything.text) / 3 else reading
