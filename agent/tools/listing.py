"""A page as a place to go on from: its links with what stands beside them, the date of each entry, the next page of a listing.

Pure: markup in, offers and signs out. What is worth following is judged elsewhere.
"""

from __future__ import annotations

import re
from collections import Counter

from selectolax.lexbor import LexborHTMLParser, LexborNode

from agent import urls
from agent.tools import metadata, noise, postings
from agent.tools.blocks import flat
from agent.tools.moments import in_path, moment
from agent.types.collected import Offer, Signs

MOST = 400
"""Links of one page that are looked at."""
ENTRY = 500
"""Characters an entry of a listing may have; a larger block is no entry."""
CLIMB = 5
HEADLINE = 8
"""Characters from which an anchor may be a headline."""
_ROWS = ("li", "tr", "article", "dd", "dt", "section")
_LISTS = ("ul", "ol", "table", "tbody", "dl", "main", "body", "nav", "html")
_AROUND = ("nav", "footer", "aside")
_MENU = re.compile(
    r"(?:^|[\s_-])(?:nav|navbar|menu|breadcrumbs?|crumbs|sidebar|footer|masthead|pagination|pager|pages|tabs?|topbar|toolbar|skip)(?:$|[\s_-])",
    re.IGNORECASE,
)
_NEXT = re.compile(
    r"(?:next|next page|older|older (?:posts|entries|news|articles|topics|threads|stories)|more (?:posts|news|articles|threads)|"
    r"weiter|nächste(?: seite)?|ältere(?: beiträge)?|suivant[es]*|page suivante|siguiente|nästa(?: sida)?|äldre)?\s*[»›→>]*",
    re.IGNORECASE,
)


def offers(html: str, url: str, today: str) -> list[Offer]:
    """The links of a page in order, each address once (where it says most), with the words and the date beside it."""
    tree = LexborHTMLParser(html)
    if tree.body is None:
        return []
    noise.strip(tree.body)
    base = _base(tree, url)
    found: dict[str, Offer] = {}
    for node in tree.css("a[href]")[:MOST]:
        address = urls.absolute(base, node.attributes.get("href") or "")
        text = flat(node) or node.attributes.get("title") or ""
        if not address or urls.canonical(address) == urls.canonical(url):
            continue
        offer = _offer(node, address, text, today)
        key = urls.canonical(address)
        if key not in found or _says(offer) > _says(found[key]):
            found.pop(key, None)  # its place is where it says most
            found[key] = offer
    return list(found.values())


def next_page(html: str, url: str) -> str:
    """The address of the following page of the same listing or thread, "" when there is none: stated as such, or called so."""
    tree = LexborHTMLParser(html)
    base, here = _base(tree, url), urls.canonical(url)
    for node in tree.css("link[rel][href], a[href]"):
        attributes = node.attributes
        stated = "next" in (attributes.get("rel") or "").lower().split()
        text = flat(node) if node.tag == "a" else ""
        label = (attributes.get("aria-label") or "").strip() or text
        called = node.tag == "a" and label != "" and _NEXT.fullmatch(label.strip()) and not _points_back(label)
        if stated or called:
            address = urls.absolute(base, attributes.get("href") or "")
            if address and urls.canonical(address) != here and urls.host(address) == urls.host(url):
                return address
    return ""


def signs(html: str, url: str, *, posts: int, text: str, today: str) -> Signs:
    """How a page is built. `posts` were counted by posts.py; `text` is the page's text as it was read."""
    tree = LexborHTMLParser(html)
    if tree.body is None:
        return Signs(words=len(text.split()), posts=posts)
    article = postings.states_article(tree)
    noise.strip(tree.body)
    places = Counter[str]()
    linked = 0
    for node in tree.body.css("a[href]")[:MOST]:
        anchor = flat(node)
        if _in_menu(node):
            continue
        linked += len(anchor)
        if len(anchor) >= HEADLINE:
            places[_place(node)] += 1
    dated = sum(1 for offer in offers(html, url, today) if offer.content and offer.date)
    visible = max(1, len(text))
    return Signs(
        words=len(text.split()), posts=posts, dated_links=dated, alike_links=max(places.values(), default=0),
        link_share=round(min(1.0, linked / visible), 3), article=article,
    )  # fmt: skip


def _offer(node: LexborNode, address: str, text: str, today: str) -> Offer:
    row = _row(node)
    date = _date(row, today) or in_path(address)
    context = flat(row)
    return Offer(
        url=address, text=" ".join(text.split())[:200], context="" if context == text else context[:300], date=date[:10],
        content=not _in_menu(node),
    )  # fmt: skip


def _says(offer: Offer) -> tuple[bool, bool, int]:
    return offer.content, bool(offer.date), len(offer.text)


def _row(node: LexborNode) -> LexborNode:
    """The entry a link stands in: the nearest row, or the largest block around it that holds no other headline."""
    row = node
    level = node.parent
    for _ in range(CLIMB):
        if level is None or level.tag in _LISTS or noise.size(level) > ENTRY:
            break
        if len({link.attributes.get("href") for link in level.css("a[href]") if len(flat(link)) >= HEADLINE}) > 1 and level.tag != "tr":
            break
        row = level
        if level.tag in _ROWS:
            break
        level = level.parent
    return row


def _date(row: LexborNode, today: str) -> str:
    """The latest date an entry tells: the activity of a thread, the day of an article."""
    stated = [metadata.when(node.attributes.get("datetime") or "") for node in row.css("[datetime]")]
    if any(stated):
        return max(stated)
    cells = [flat(cell) for cell in row.css("td")] if row.tag == "tr" else [flat(row)]
    written = [found.iso for cell in cells if (found := moment(cell, today))]
    return max(written, default="")


def _in_menu(node: LexborNode) -> bool:
    level: LexborNode | None = node
    while level is not None and level.tag not in ("body", "html"):
        if level.tag in _AROUND or (level.tag == "header" and level.css_first("h1") is None):
            return True
        attributes = level.attributes
        if level.tag not in ("main", "article", "a") and _MENU.search(
            f" {attributes.get('class') or ''} {attributes.get('id') or ''} {attributes.get('role') or ''} "
        ):
            return level.css_first("main, article, h1") is None
        level = level.parent
    return False


def _place(node: LexborNode) -> str:
    """The kind of place a link stands in: tags and class names of three levels."""
    parts = []
    level = node.parent
    for _ in range(3):
        if level is None:
            break
        parts.append(f"{level.tag}.{level.attributes.get('class') or ''}")
        level = level.parent
    return " ".join(parts)


def _base(tree: LexborHTMLParser, url: str) -> str:
    node = tree.css_first("base[href]")
    return (urls.absolute(url, node.attributes.get("href") or "") if node else "") or url


def _points_back(label: str) -> bool:
    return bool(re.search(r"[«‹←<]|prev", label, re.IGNORECASE))
