"""A page as a place to go on from: its links with what stands beside them, the date of each entry, the next
page of a listing.

Pure: markup in, offers and signs out. What is worth following is judged elsewhere."""

from __future__ import annotations

import re
from collections import Counter

from selectolax.lexbor import LexborHTMLParser, LexborNode

from agent.text import urls
from agent.types.collection import LinkCandidate, PageFeatures
from agent.web.extract import boilerplate, metadata, schema_org
from agent.web.extract.page_dates import find_date, find_date_in_url
from agent.web.extract.text_blocks import inline_text

MAX_LINKS = 400
"""Links of one page that are looked at."""
MAX_ENTRY_CHARACTERS = 500
"""Characters an entry of a listing may have; a larger block is no entry."""
MAX_LEVELS = 5
MIN_HEADLINE_CHARACTERS = 8
"""Characters from which an anchor may be a headline."""
_ROW_TAGS = ("li", "tr", "article", "dd", "dt", "section")
_LIST_TAGS = ("ul", "ol", "table", "tbody", "dl", "main", "body", "nav", "html")
_MARGIN_TAGS = ("nav", "footer", "aside")
_MENU_CLASS = re.compile(
    r"(?:^|[\s_-])(?:nav|navbar|menu|breadcrumbs?|crumbs|sidebar|footer|masthead|pagination|pager|pages|tabs?|topbar|toolbar|skip)(?:$|[\s_-])",
    re.IGNORECASE,
)
_NEXT_PAGE_LABEL = re.compile(
    r"(?:next|next page|older|older (?:posts|entries|news|articles|topics|threads|stories)|more (?:posts|news|articles|threads)|"
    r"weiter|nächste(?: seite)?|ältere(?: beiträge)?|suivant[es]*|page suivante|siguiente|nästa(?: sida)?|äldre)?\s*[»›→>]*",
    re.IGNORECASE,
)


def find_link_candidates(html: str, url: str, today: str) -> list[LinkCandidate]:
    """The links of a page in order, each address once (where it says most), with the words and the date
    beside it."""
    tree = LexborHTMLParser(html)
    if tree.body is None:
        return []
    boilerplate.remove_invisible(tree.body)
    base = _find_base_url(tree, url)
    found: dict[str, LinkCandidate] = {}
    for node in tree.css("a[href]")[:MAX_LINKS]:
        address = urls.resolve(base, node.attributes.get("href") or "")
        text = inline_text(node) or node.attributes.get("title") or ""
        if not address or urls.canonicalize(address) == urls.canonicalize(url):
            continue
        offer = _build_candidate(node, address, text, today)
        key = urls.canonicalize(address)
        if key not in found or _rank_candidate(offer) > _rank_candidate(found[key]):
            found.pop(key, None)  # its place is where it says most
            found[key] = offer
    return list(found.values())


def find_next_page(html: str, url: str) -> str:
    """The address of the following page of the same listing or thread, "" when there is none: stated as such,
    or called so."""
    tree = LexborHTMLParser(html)
    base, here = _find_base_url(tree, url), urls.canonicalize(url)
    for node in tree.css("link[rel][href], a[href]"):
        attributes = node.attributes
        stated = "next" in (attributes.get("rel") or "").lower().split()
        text = inline_text(node) if node.tag == "a" else ""
        label = (attributes.get("aria-label") or "").strip() or text
        called = (
            node.tag == "a"
            and label != ""
            and _NEXT_PAGE_LABEL.fullmatch(label.strip())
            and not _points_back(label)
        )
        if stated or called:
            address = urls.resolve(base, attributes.get("href") or "")
            if address and urls.canonicalize(address) != here and urls.host(address) == urls.host(url):
                return address
    return ""


def measure_page_features(html: str, url: str, *, posts: int, text: str, today: str) -> PageFeatures:
    """How a page is built. `posts` were counted by posts.py; `text` is the page's text as it was read."""
    tree = LexborHTMLParser(html)
    if tree.body is None:
        return PageFeatures(words=len(text.split()), posts=posts)
    article = schema_org.is_declared_article(tree)
    boilerplate.remove_invisible(tree.body)
    places = Counter[str]()
    linked = 0
    for node in tree.body.css("a[href]")[:MAX_LINKS]:
        anchor = inline_text(node)
        if _is_in_menu(node):
            continue
        linked += len(anchor)
        if len(anchor) >= MIN_HEADLINE_CHARACTERS:
            places[_structure_key(node)] += 1
    dated = sum(1 for offer in find_link_candidates(html, url, today) if offer.content and offer.date)
    visible = max(1, len(text))
    return PageFeatures(
        words=len(text.split()),
        posts=posts,
        dated_links=dated,
        alike_links=max(places.values(), default=0),
        link_share=round(min(1.0, linked / visible), 3),
        article=article,
    )


def _build_candidate(node: LexborNode, address: str, text: str, today: str) -> LinkCandidate:
    row = _find_entry(node)
    date = _find_entry_date(row, today) or find_date_in_url(address)
    context = inline_text(row)
    return LinkCandidate(
        url=address,
        text=" ".join(text.split())[:200],
        context="" if context == text else context[:300],
        date=date[:10],
        content=not _is_in_menu(node),
    )


def _rank_candidate(offer: LinkCandidate) -> tuple[bool, bool, int]:
    return offer.content, bool(offer.date), len(offer.text)


def _find_entry(node: LexborNode) -> LexborNode:
    """The entry a link stands in: the nearest row, or the largest block around it that holds no other
    headline."""
    row = node
    level = node.parent
    for _ in range(MAX_LEVELS):
        if level is None or level.tag in _LIST_TAGS or boilerplate.text_length(level) > MAX_ENTRY_CHARACTERS:
            break
        if (
            len(
                {
                    link.attributes.get("href")
                    for link in level.css("a[href]")
                    if len(inline_text(link)) >= MIN_HEADLINE_CHARACTERS
                }
            )
            > 1
            and level.tag != "tr"
        ):
            break
        row = level
        if level.tag in _ROW_TAGS:
            break
        level = level.parent
    return row


def _find_entry_date(row: LexborNode, today: str) -> str:
    """The latest date an entry tells: the activity of a thread, the day of an article."""
    stated = [
        metadata.normalize_date(node.attributes.get("datetime") or "") for node in row.css("[datetime]")
    ]
    if any(stated):
        return max(stated)
    cells = [inline_text(cell) for cell in row.css("td")] if row.tag == "tr" else [inline_text(row)]
    written = [found.iso for cell in cells if (found := find_date(cell, today))]
    return max(written, default="")


def _is_in_menu(node: LexborNode) -> bool:
    level: LexborNode | None = node
    while level is not None and level.tag not in ("body", "html"):
        if level.tag in _MARGIN_TAGS or (level.tag == "header" and level.css_first("h1") is None):
            return True
        attributes = level.attributes
        if level.tag not in ("main", "article", "a") and _MENU_CLASS.search(
            f" {attributes.get('class') or ''} {attributes.get('id') or ''} {attributes.get('role') or ''} "
        ):
            return level.css_first("main, article, h1") is None
        level = level.parent
    return False


def _structure_key(node: LexborNode) -> str:
    """The kind of place a link stands in: tags and class names of three levels."""
    parts = []
    level = node.parent
    for _ in range(3):
        if level is None:
            break
        parts.append(f"{level.tag}.{level.attributes.get('class') or ''}")
        level = level.parent
    return " ".join(parts)


def _find_base_url(tree: LexborHTMLParser, url: str) -> str:
    node = tree.css_first("base[href]")
    return (urls.resolve(url, node.attributes.get("href") or "") if node else "") or url


def _points_back(label: str) -> bool:
    return bool(re.search(r"[«‹←<]|prev", label, re.IGNORECASE))
