"""Removes what is not a page's content: scripts, hidden things, navigation, footers, cookie banners, share
bars.

A quote cannot be found in what was removed, so a part goes only when it is boilerplate by its tag, or by name
and small or mostly links. What holds the main heading or a third of the page's text always stays."""

from __future__ import annotations

import re
from collections.abc import Callable

from selectolax.lexbor import LexborNode

from agent.text.word_lists import compile_names, read_lists
from agent.web.extract.nodes import ancestors, link_share, names_of, text_length

_NON_TEXT_SELECTOR = (
    "script, style, noscript, template, svg, iframe, object, canvas, audio, video, button, select, "
    "input, head, link, meta, datalist, dialog"
)
_HIDDEN_STYLE = re.compile(
    r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)"
    r"|(?:left|top|text-indent)\s*:\s*-\d{4,}px)",
    re.IGNORECASE,
)
_ZERO_SIZE = re.compile(r"(?:^|;)\s*font-size\s*:\s*0*\.?0+(?:px|pt|em|rem|%)?\s*(?:!|;|$)", re.IGNORECASE)
_COLOUR, _BACKGROUND = (
    re.compile(rf"(?:^|;)\s*{name}\s*:\s*(#?\w+)\s*(?:!|;|$)", re.IGNORECASE)
    for name in ("color", "background(?:-color)?")
)
_WHITE = dict.fromkeys(("#fff", "#ffffff"), "white")
_ANNOTATION_SELECTOR = (
    "sup.reference, .mw-editsection, .mw-cite-backlink, .noprint, .sr-only, .screen-reader-text, "
    ".visually-hidden, .sortkey"
)
_PAGE_TURNER_SELECTOR = ", ".join(
    [f"a[rel~={name}]" for name in "next prev previous up home start contents index".split()]
    + [f"a[accesskey={key}]" for key in "npuh"]
    + ["a[rel~=alternate][hreflang]"]
)
"""Links to the next page, the previous one, other languages and the like: link types of HTML 4 and 5, and the
access keys that DocBook and Texinfo give them."""
_BAR_TAGS = frozenset("p ul ol li table tbody tr td th center span b strong small em i font nav".split())
MAX_BAR_CHARACTERS = 400
"""A longer block with links to neighbouring pages is not only a bar."""
MAX_SINGLE_TURNER_CHARACTERS = 40
"""Nor is a block longer than this with one such link."""
_BOILERPLATE_NAMES = compile_names(read_lists("page_parts")["boilerplate_names"])
_CONTENT_TAGS = "body html main article td th tr tbody h1 h2 h3".split()
_SMALL_CHARACTERS = 300
_MAX_LINK_SHARE = 0.4
MIN_MAIN_SHARE = 1 / 3


def remove_invisible(body: LexborNode) -> None:
    """Remove what nobody reads: code, controls, hidden things, footnote marks and edit links."""
    for node in body.css(_NON_TEXT_SELECTOR):
        node.decompose()
    hidden = [
        node for node in body.css("[hidden], [aria-hidden=true], [style]") if node.tag not in ("body", "html")
    ]
    most = MIN_MAIN_SHARE * text_length(body) if hidden else 0
    for node in hidden:
        # Whether a reader does not see an element's text, by its own attributes. One that is hidden from
        # screen readers only, which its makers call decoration, has at most `most` characters
        style = node.attributes.get("style") or ""
        colours = [found[1].lower() for pattern in (_COLOUR, _BACKGROUND) if (found := pattern.search(style))]
        if (
            "hidden" in node.attributes
            or bool(_HIDDEN_STYLE.search(style))
            or (
                bool(_ZERO_SIZE.search(style))
                and all(inner.mem_id == node.mem_id for inner in node.css("[style]"))
            )
            or (len(colours) == 2 and len({_WHITE.get(colour, colour) for colour in colours}) == 1)
            or (node.attributes.get("aria-hidden") == "true" and text_length(node) <= most)
        ) and node.css_first("math") is None:
            node.decompose()
    for node in body.css(_ANNOTATION_SELECTOR):
        node.decompose()
    for node in body.css('a[href*="#"]'):
        if (node.text() or "").strip() in ("¶", "#", "§", "∞", "⚓", "🔗", "↑", "⇑"):  # links to a heading
            node.decompose()


def remove_boilerplate(body: LexborNode) -> None:
    """Remove navigation, footers, banners and the like. Stops early where nesting makes this slow."""
    # the lines and tables that lead to the next page, the previous one and the contents
    bars: dict[int, LexborNode] = {}
    for turner in body.css(_PAGE_TURNER_SELECTOR):
        bar = None
        for level in ancestors(turner):
            wraps = bar is not None and text_length(level) == text_length(bar)
            if (level.tag not in _BAR_TAGS and not wraps) or text_length(level) > MAX_BAR_CHARACTERS:
                break
            bar = level
        is_single = bar is not None and len(bar.css(_PAGE_TURNER_SELECTOR)) < 2
        if bar is not None and not (is_single and text_length(bar) > MAX_SINGLE_TURNER_CHARACTERS):
            bars[bar.mem_id] = bar
    for bar in [one for one in bars.values() if not any(level.mem_id in bars for level in ancestors(one))]:
        bar.decompose()
    whole = text_length(body)
    budget = 1_000_000 + 20 * whole
    suspects: tuple[tuple[str, Callable[[LexborNode], bool], bool], ...] = (
        (
            "nav, [role=navigation], [role=search], [role=contentinfo], [role=dialog], [role=alertdialog], "
            "[role=menu]",
            lambda _: True,
            True,
        ),
        (
            "header, footer, aside, [role=banner], [role=complementary], form",
            lambda node: all(above.tag not in ("article", "main") for above in ancestors(node)),
            False,
        ),
        (
            "[class], [id]",
            lambda node: node.tag not in _CONTENT_TAGS and bool(_BOILERPLATE_NAMES.search(names_of(node))),
            False,
        ),
    )
    for selector, is_suspect, by_tag in suspects:
        for node in filter(is_suspect, body.css(selector)):
            own = text_length(node)
            budget -= own
            if budget < 0:
                return
            if own > MIN_MAIN_SHARE * whole or node.css_first("h1, main, article") is not None:
                continue
            if by_tag or own < _SMALL_CHARACTERS or link_share(node) > _MAX_LINK_SHARE:
                node.decompose()
