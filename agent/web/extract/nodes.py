"""Small questions about nodes of a parsed page (selectolax): what is around a node, its names, its text."""

from __future__ import annotations

from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from agent.text import urls


def ancestors(node: LexborNode, *, with_node: bool = False) -> Iterator[LexborNode]:
    """The elements around a node below `<body>`, innermost first; the node itself first when asked for."""
    level = node if with_node else node.parent
    while level is not None and level.tag not in ("body", "html"):
        yield level
        level = level.parent


def is_inside(node: LexborNode, outer: LexborNode) -> bool:
    """Whether `outer` is around the node."""
    return any(level.mem_id == outer.mem_id for level in ancestors(node))


def names_of(node: LexborNode, *attributes: str) -> str:
    """The values of these attributes in one line, class and id by default."""
    found = node.attributes
    return " ".join([found.get(name) or "" for name in attributes or ("class", "id")])


def flat_text(node: LexborNode, separator: str = "") -> str:
    """The text under a node, every run of white space as one space; `separator` stands between text nodes."""
    return " ".join(node.text(separator=separator).split())


def text_length(node: LexborNode) -> int:
    """Characters of `flat_text`."""
    return len(flat_text(node))


def link_share(node: LexborNode) -> float:
    """The share of a node's text that is in links; 1 without text."""
    whole = text_length(node)
    return sum(map(text_length, node.css("a"))) / whole if whole else 1.0


def find_base_url(tree: LexborHTMLParser, url: str) -> str:
    """The address that a page's relative links start from."""
    node = tree.css_first("base[href]")
    return (urls.resolve(url, node.attributes.get("href") or "") if node else "") or url
