"""Removes absurd nesting and tags with thousands of attributes before a page is parsed.

Both cost any parser time that grows with the square of the page (measured: one tag with 100,000 attributes 17
s, 200,000 levels 120 s). Reads only as much of the grammar as is needed to find the end of a tag."""

from __future__ import annotations

import re

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
