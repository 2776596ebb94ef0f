"""An HTML page: one parse, then text, headings, tables, links and metadata from the same tree."""

from __future__ import annotations

import re
from contextlib import suppress

from selectolax.lexbor import LexborHTMLParser
from w3lib.html import get_meta_refresh

from agent.text import urls
from agent.types import Link, Outcome
from agent.web.extract import access_walls, boilerplate, forum_posts, metadata
from agent.web.extract.extraction import MAX_LINKS, Extraction
from agent.web.extract.nodes import find_base_url, names_of, text_length
from agent.web.extract.text_blocks import TextBlocks, inline_text

MAX_REFRESH_S = 10
_MIN_TEXT_CHARACTERS = 250
"""Below this length the text counts as next to nothing, and the page is read again with its boilerplate."""
_EMPTY = "The page has no readable text. Open it yourself, or look elsewhere."


def extract_html(html: str, url: str) -> Extraction:
    """The page at `url`. Its outcome is `blocked` when what came is a wall, `empty` when there is no text."""
    html = limit_html(html)
    tree = LexborHTMLParser(html)
    about = metadata.read_metadata(html, tree)
    base = find_base_url(tree, url)
    anchors: dict[str, str] = {}
    for node in tree.css("a[href], area[href]"):
        href = node.attributes.get("href") or ""
        if href and href[0] != "#" and (address := urls.resolve(base, href)):
            image = node.css_first("img[alt]")
            texts = [inline_text(node), names_of(node, "aria-label"), names_of(node, "title")]
            texts += [names_of(image, "alt")] if image is not None else []
            anchors[address] = anchors.get(address) or " ".join(next(filter(None, texts), "").split())[:300]
            if len(anchors) >= MAX_LINKS:
                break
    signs = access_walls.find_wall_evidence(tree, html, url, about)
    blocks = _extract_text(tree, html)
    found = Extraction(
        title=about.title,
        author=about.author,
        publication=about.publication,
        published_at=about.published_at,
        language=about.language,
        text=blocks.text if blocks else "",
        headings=blocks.headings if blocks else [],
        tables=blocks.tables if blocks else [],
        blocks=blocks.blocks if blocks else [],
        links=[Link(url=address, text=text) for address, text in anchors.items()],
        anchors=blocks.anchors if blocks else [],
    )
    with suppress(ValueError):  # it names no address
        if "refresh" in about.metas:
            seconds, target = get_meta_refresh(html, base, max_scan=metadata.MAX_HEAD_CHARACTERS)
            if target and seconds is not None and seconds <= MAX_REFRESH_S:
                found.refresh_url = urls.resolve(base, target)
    if wall := access_walls.describe_wall(signs, about, found.text):
        found.outcome, found.detail = Outcome.BLOCKED, wall
    elif not found.text:
        found.outcome, found.detail = Outcome.EMPTY, _EMPTY
    return found


def _extract_text(tree: LexborHTMLParser, html: str) -> TextBlocks | None:
    """The main text; where next to nothing is left of a page that has more, all that is visible."""
    body = tree.body
    if body is None:
        return None
    boilerplate.remove_invisible(body)
    visible = text_length(body)
    boilerplate.remove_boilerplate(body)
    main = boilerplate.find_main_content(body)
    blocks = TextBlocks(main, forum_posts.mark_posts(main))
    if len(blocks.text) >= min(_MIN_TEXT_CHARACTERS, 0.8 * visible):
        return blocks
    again = LexborHTMLParser(html).body
    if again is None:
        return blocks
    boilerplate.remove_invisible(again)
    everything = TextBlocks(again)
    return everything if len(blocks.text) < len(everything.text) / 3 else blocks


# Removes absurd nesting and tags with thousands of attributes before a page is parsed.
#
# Both cost any parser time that grows with the square of the page (measured: one tag with 100,000
# attributes 17 s, 200,000 levels 120 s). Reads only as much of the grammar as is needed to find the end of
# a tag.

_SAFE_CHARACTERS = 32_000
"""A shorter page needs no limits."""
_LONG_TAG_CHARACTERS = 8_000
_MANY_ATTRIBUTES = 1_000
_MANY_TAGS = 10_000
_MAX_DEPTH = 1_000

_ATTRIBUTE = r"""[\s/]*+=?+[^\s/>=]++(?:\s*+=\s*+(?:"[^"]*+"?|'[^']*+'?|[^\s>"'][^\s>]*+)?+)?+"""
_TOKEN = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style|textarea|title|xmp|iframe|noembed|noframes)(?=[\s/>]).*?(?:</\1|\Z)"
    rf"|<[a-z][^\s/>]*+(?:{_ATTRIBUTE})*+",
    re.IGNORECASE | re.DOTALL,
)
"""A comment, an element that holds no markup, or the start of a tag with its attributes, to its end."""
_ATTRIBUTES = re.compile(_ATTRIBUTE)
_TAG_NAME = re.compile(r"<[a-zA-Z][^\s/>]{0,40}")
_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/>]{0,40})[^>]*>")
_CODE = re.compile(r"<(script|style)\b.*?(?:</\1[^>]*(?:>|\Z)|\Z)", re.IGNORECASE | re.DOTALL)
_VOID_NAMES = "area base br col embed hr img input link meta source track wbr p li td tr th dt dd option"
_VOID = frozenset(_VOID_NAMES.split())
_INLINE_NAMES = "a b i em strong span font code sup sub u small"
_INLINE = frozenset(_INLINE_NAMES.split())


def limit_html(html: str) -> str:
    """The page without attributes of tags that have thousands, and without tags when nested absurdly deep."""
    if len(html) <= _SAFE_CHARACTERS:
        return html
    html = _strip_excess_attributes(html)
    if html.count("<") < _MANY_TAGS or estimate_depth(html) <= _MAX_DEPTH:
        return html
    plain = _CODE.sub(" ", html)
    end = (
        plain.rfind(">") + 1
    )  # no tag ends behind it: each "<" there would be searched to the end of the page
    flat = _TAG.sub(lambda tag: "" if tag.group(2).lower() in _INLINE else "<br>", plain[:end])
    return f"<p>{flat}{plain[end:]}"


def estimate_depth(html: str) -> int:
    """The approximate depth of the page's nesting, without a parser."""
    level = deepest = 0
    for match in _TAG.finditer(html, 0, html.rfind(">") + 1):
        if match.group(2).lower() not in _VOID:
            level = max(0, level + (-1 if match.group(1) else 1))
            deepest = max(deepest, level)
    return deepest


def _strip_excess_attributes(html: str) -> str:
    parts: list[str] = []
    done = 0
    for token in _TOKEN.finditer(html):
        start, end = token.span()
        if end - start < _LONG_TAG_CHARACTERS or token.group(1) or html.startswith("<!--", start):
            continue
        if sum(1 for _ in _ATTRIBUTES.finditer(html, start, end)) > _MANY_ATTRIBUTES:
            name = _TAG_NAME.match(html, start)
            parts += [html[done:start], name.group() if name else "<b"]
            done = end
    return "".join([*parts, html[done:]]) if parts else html
