"""What of a page is not its content: scripts, hidden things, navigation, footers, cookie banners, share bars.

For a tool that quotes, what is lost can't be found again: a part is dropped only when it is noise by its
nature, or named like noise *and* small or mostly links. What holds the main heading or a third of the page's
text is never dropped."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

_NON_TEXT_SELECTOR = "script, style, noscript, template, svg, iframe, object, canvas, audio, video, button, select, input, head, link, meta, datalist, dialog"
_HIDDEN_SELECTOR = '[hidden], [style*="display:none"], [style*="display: none"], [style*="visibility:hidden"], [style*="visibility: hidden"]'
_NAVIGATION_SELECTOR = "nav, [role=navigation], [role=search], [role=contentinfo], [role=dialog], [role=alertdialog], [role=menu]"
_SUSPECT_SELECTOR = "header, footer, aside, [role=banner], [role=complementary], form"
_ANNOTATION_SELECTOR = "sup.reference, .mw-editsection, .mw-cite-backlink, .noprint, .sr-only, .screen-reader-text, .visually-hidden, .sortkey"
_BOILERPLATE_CLASS = re.compile(
    r"(?:^|[\s_-])(?:cookies?|consent|gdpr|newsletter|subscri(?:be|ption)|sign-?up|share|sharing|social|breadcrumbs?|nav|navbar|navbox|"
    r"navigation|menu|sidebar|footer|masthead|related|recommend(?:ed|ations)|promo|advert\w*|ads?|banner|pop-?up|modal|skip|jump|toc|"
    r"pagination|pager|toolbar|catlinks|printfooter|site-?header|page-?header)(?:$|[\s_-])",
    re.IGNORECASE,
)
_SMALL_CHARACTERS = 300
_MIN_MAIN_SHARE = 1 / 3
_MIN_MAIN_CHARACTERS = 500


def text_length(node: LexborNode) -> int:
    """Characters of text under a node, white space runs counted once."""
    return len(" ".join(node.text().split()))


def remove_invisible(body: LexborNode) -> None:
    """Take out what nobody reads: code, controls, hidden things, footnote marks and edit links."""
    for node in body.css(_NON_TEXT_SELECTOR):
        node.decompose()
    for node in body.css(_HIDDEN_SELECTOR):
        if node.tag not in ("body", "html") and node.css_first("math") is None:
            node.decompose()
    for node in body.css(_ANNOTATION_SELECTOR):
        node.decompose()


def remove_boilerplate(body: LexborNode) -> None:
    """Take out navigation, footers, banners and the like. Stops early on pages whose nesting makes this
    slow."""
    whole = text_length(body)
    budget = 1_000_000 + 20 * whole
    for selector, suspect in (
        (_NAVIGATION_SELECTOR, _always),
        (_SUSPECT_SELECTOR, _is_outside_article),
        ("[class], [id]", _has_boilerplate_class),
    ):
        for node in body.css(selector):
            if not suspect(node):
                continue
            own = text_length(node)
            budget -= own
            if budget < 0:
                return
            small = suspect is _always or own < _SMALL_CHARACTERS
            if not _holds_content(node, own, whole) and (small or _is_mostly_links(node, own)):
                node.decompose()


def find_main_content(body: LexborNode) -> LexborNode:
    """The element that holds the content: `<main>` or a single `<article>` with enough of the text, else the
    body."""
    whole = text_length(body)
    for selector in ("main, [role=main]", "article"):
        found = body.css(selector)
        if len(found) == 1 and text_length(found[0]) >= max(
            _MIN_MAIN_SHARE * whole, min(_MIN_MAIN_CHARACTERS, 0.5 * whole)
        ):
            return found[0]
    return body


def _has_boilerplate_class(node: LexborNode) -> bool:
    if node.tag in ("body", "html", "main", "article", "td", "th", "tr", "tbody", "h1", "h2", "h3"):
        return False
    attributes = node.attributes
    return bool(_BOILERPLATE_CLASS.search(f"{attributes.get('class') or ''} {attributes.get('id') or ''}"))


def _always(_node: LexborNode) -> bool:
    return True


def _holds_content(node: LexborNode, own: int, whole: int) -> bool:
    return own > _MIN_MAIN_SHARE * whole or node.css_first("h1, main, article") is not None


def _is_outside_article(node: LexborNode) -> bool:
    parent = node.parent
    while parent is not None and parent.tag not in ("body", "html"):
        if parent.tag in ("article", "main"):
            return False
        parent = parent.parent
    return True


def _is_mostly_links(node: LexborNode, total: int) -> bool:
    """Is it mostly links?"""
    return not total or sum(text_length(link) for link in node.css("a")) > 0.4 * total
