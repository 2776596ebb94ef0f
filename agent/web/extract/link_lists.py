"""A page as a list of links: each with the text and date beside it, the next page, and how the page is built.

Pure: markup in, candidates and features out. What is worth following is judged elsewhere."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import islice

from selectolax.lexbor import LexborHTMLParser, LexborNode

from agent.text import urls
from agent.text.dates import find_date, find_date_in_url, find_month, normalize_date
from agent.text.word_lists import compile_names, read_lists
from agent.types.collection import LinkCandidate, PageFeatures
from agent.web.extract import boilerplate, metadata
from agent.web.extract.nodes import ancestors, find_base_url, names_of, text_length
from agent.web.extract.text_blocks import inline_text

MAX_LINKS = 2_000
"""Links of one page that are read; the index of a busy month of a mailing list has this many."""
MAX_GROUP_CHARACTERS = 40
"""A longer heading is no date above a group of entries."""
MAX_ENTRY_CHARACTERS = 500
"""A larger block is no entry of a listing."""
MAX_LEVELS = 5
MIN_MENU_SHARE = 0.5
"""Share of a page's text from which the links of a menu are its content, where it has no others."""
MIN_HEADLINE_CHARACTERS = 8
"""A shorter anchor is no headline."""
MIN_ENTRY_CHARACTERS = 3
"""A shorter anchor is no entry of a list: a page number, an arrow."""
_LISTS = read_lists("page_parts")
_MENU_NAMES = compile_names(_LISTS["menu_names"])
_NEXT_PAGE = re.compile(rf"(?:{'|'.join(_LISTS['next_page'])})?\s*[»›→>]*", re.IGNORECASE)
_POINTS_BACK = re.compile(r"[«‹←<]|prev", re.IGNORECASE)


def find_link_candidates(html: str, url: str, today: str) -> list[LinkCandidate]:
    """A page's links in order, each address once (where it tells most), with the text and date beside it."""
    tree = LexborHTMLParser(html)
    if tree.body is None:
        return []
    boilerplate.remove_invisible(tree.body)
    base, here = find_base_url(tree, url), urls.canonicalize(url)
    is_content = _make_content_test(tree.body)
    found: dict[str, LinkCandidate] = {}
    sizes: dict[int, int] = {}
    ranks: dict[str, tuple[bool, bool, bool, int]] = {}
    group_date = ""
    for node in tree.css("a[href], h2, h3, h4, h5, h6, dt, th, strong, b")[: 2 * MAX_LINKS]:
        if node.tag != "a" or "href" not in node.attributes:
            # the date of the entries below a heading that is a date or a month; one without it ends it
            text = inline_text(node)
            dated = (
                (find_date(text, today) or find_month(text)) if len(text) <= MAX_GROUP_CHARACTERS else None
            )
            if dated and 2 * (dated.end - dated.start) > len(text) and node.css_first("a[href]") is None:
                group_date = dated.iso[:10]
            elif (node.tag or "").startswith("h"):
                group_date = ""
            continue
        address = urls.resolve(base, node.attributes.get("href") or "")
        key = urls.canonicalize(address)
        if not address or key == here:
            continue
        text = inline_text(node) or names_of(node, "title")
        entry = _find_entry(node, sizes)
        context = inline_text(entry)
        # the latest date: the last activity of a thread, the day of an article
        day = max((normalize_date(names_of(one, "datetime")) for one in entry.css("[datetime]")), default="")
        cells = entry.css("td") if entry.tag == "tr" else [entry]
        dates = (find_date(inline_text(cell), today) for cell in cells)
        day = day or max((date.iso for date in dates if date), default="")
        candidate = LinkCandidate(
            place=_structure_key(node),
            url=address,
            text=" ".join(text.split())[:200],
            context="" if context == text else context[:300],
            date=(day or find_date_in_url(address))[:10],
        ).replace(content=is_content(node))
        if candidate.content and not candidate.date:
            candidate = candidate.replace(date=group_date)
        is_whole = "#" not in (node.attributes.get("href") or "")  # a page comes before its parts
        rank = candidate.content, bool(candidate.date), is_whole, len(candidate.text)
        if key not in found or rank > ranks[key]:
            found.pop(key, None)  # the order is that of the most informative places
            found[key], ranks[key] = candidate, rank
    return list(found.values())


def find_next_page(html: str, url: str) -> str:
    """The address of the next page of the same listing or thread, declared or labelled as such; "" for none.
    A page that is listed by its title, too, is the next chapter of a book."""
    tree = LexborHTMLParser(html)
    base, here = find_base_url(tree, url), urls.canonicalize(url)
    nodes = tree.css("link[rel][href], a[href]")
    labelled: list[tuple[bool, LexborNode]] = []
    for node in nodes:
        label = (names_of(node, "aria-label").strip() or inline_text(node).strip()) if node.tag == "a" else ""
        is_next = bool(label and _NEXT_PAGE.fullmatch(label) and not _POINTS_BACK.search(label))
        labelled.append((is_next or "next" in names_of(node, "rel").lower().split(), node))
    for address in (urls.resolve(base, n.attributes.get("href") or "") for is_next, n in labelled if is_next):
        name = urls.canonicalize(address)
        if address and name != here and urls.host(address) == urls.host(url):
            titled = (
                n for is_next, n in labelled if not is_next and n.tag == "a" and n.attributes.get("href")
            )
            same = (
                n for n in titled if urls.canonicalize(urls.resolve(base, n.attributes["href"] or "")) == name
            )
            if not any(any(map(str.isalpha, inline_text(n))) for n in same):
                return address
    return ""


def measure_page_features(
    html: str, candidates: Sequence[LinkCandidate], *, posts: int, characters: int
) -> PageFeatures:
    """How a page is built, but for its words. `candidates` are its links, `posts` the number of its posts,
    `characters` the length of its extracted text."""
    tree = LexborHTMLParser(html)
    if tree.body is None:
        return PageFeatures(posts=posts)
    is_article = metadata.is_declared_article(tree, metadata.read_json_ld(tree))
    boilerplate.remove_invisible(tree.body)
    is_content = _make_content_test(tree.body)
    places = Counter[str]()
    linked = 0
    for node in tree.body.css("a[href]")[:MAX_LINKS]:
        if is_content(node):
            anchor = inline_text(node)
            linked += len(anchor)
            places[_structure_key(node)] += len(anchor) >= MIN_ENTRY_CHARACTERS
    return PageFeatures(
        posts=posts,
        links=sum(candidate.content for candidate in candidates),
        dated_links=sum(1 for candidate in candidates if candidate.content and candidate.date),
        alike_links=max(places.values(), default=0),
        link_share=round(min(1.0, linked / max(1, characters)), 3),
        article=is_article,
    )


def _find_entry(node: LexborNode, sizes: dict[int, int]) -> LexborNode:
    """The entry of a link: the nearest row, or the largest block around it with no other headline. `sizes`
    holds the text lengths of blocks that were measured."""
    entry = node
    for level in islice(ancestors(node), MAX_LEVELS):
        is_list = level.tag in ("ul", "ol", "table", "tbody", "dl", "main", "nav")
        if is_list or level.css_first("h1") is not None:
            break
        if (
            sizes.setdefault(level.mem_id, sizes.get(level.mem_id) or text_length(level))
            > MAX_ENTRY_CHARACTERS
        ):
            break
        links = level.css("a[href]") if level.tag != "tr" else []
        headlines = (link for link in links if len(inline_text(link)) >= MIN_HEADLINE_CHARACTERS)
        if len({link.attributes.get("href") for link in headlines}) > 1:
            break
        entry = level
        if level.tag in ("li", "tr", "article", "dd", "dt", "section"):
            break
    return entry


def _make_content_test(body: LexborNode) -> Callable[[LexborNode], bool]:
    """Tells which links are content: those outside of menus; all of them on a page that is a menu alone."""
    links = body.css("a[href]")[:MAX_LINKS]
    linked = sum(len(inline_text(node)) for node in links)
    is_menu = all(_is_in_menu(node) for node in links) and linked >= MIN_MENU_SHARE * text_length(body)
    return lambda node: is_menu or not _is_in_menu(node)


def _is_in_menu(node: LexborNode) -> bool:
    for level in ancestors(node, with_node=True):
        is_margin = level.tag in ("nav", "footer", "aside")
        if is_margin or (level.tag == "header" and level.css_first("h1") is None):
            return True
        if level.tag not in ("main", "article", "a") and _MENU_NAMES.search(
            names_of(level, "class", "id", "role")
        ):
            return level.css_first("main, article, h1") is None
    return False


def _structure_key(node: LexborNode) -> str:
    """The kind of a link's place: tags and class names of three levels."""
    levels = islice(ancestors(node), 3)
    return " ".join(f"{level.tag}.{names_of(level, 'class')}" for level in levels)
