"""Forum posts, comments, questions and answers out of a page's markup: who wrote what, when. No site is known by name.

A post is a block that comes again and again with a date, a user and a text of its own. Blocks are grouped by tag and class
names wherever they stand, so nested replies are found as well; the group with the most text wins. What a page states about its
posts in schema.org terms is read too (postings.py) and used where the blocks tell less. Pure: markup in, posts out.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser, LexborNode

from agent.tools import metadata, noise, postings
from agent.tools.blocks import Blocks, flat
from agent.tools.moments import moment
from agent.types.collected import Post

SHORT = 80
"""Characters a place that is only a date (or a user and a date) has at most."""
NAME = 40
LINKED = 0.6
"""A block whose text is linked to a larger share than this is an entry of a listing, not a post."""
MOST = 0.6
"""The share of a group's blocks that must have user, date and text."""
CELLS = 3
CLIMB = 9
"""Levels between a date and the block it belongs to."""
_LEVELS = (
    "article",
    "li",
    "div",
    "section",
    "tr",
    "td",
    "dd",
    "dl",
    "table",
    "details",
    "blockquote",
    "aside",
    "tbody",
    "p",
    "header",
    "footer",
    "ul",
    "ol",
    "span",
)
_VARIANT = re.compile(r"\d|^(?:odd|even|alt|first|last|new|unread|op|active|highlight\w*|bg\w?|row\w?|clearfix|hentry)$", re.IGNORECASE)
_USER = re.compile(r"(?:^|[\s_-])(?:\w*user(?:name)?|nick(?:name)?|handle|fn|(?:screen|display|member|author|poster)-?name)(?:$|\s)", re.IGNORECASE)
_AUTHOR = re.compile(r"(?:^|[\s_-])(?:author|poster|member|user|who|byline|creator|from)(?:$|[\s_-])", re.IGNORECASE)
_USER_LINK = re.compile(r"(?:^|/)(?:users?|members?|profiles?|u|people|author)[/=?]|[?&](?:user|u|uid|author)=|/@", re.IGNORECASE)
_DATE = re.compile(r"(?:^|[\s_-])(?:date|time|timestamp|ago|posted|published|when|created|age)(?:$|[\s_-])", re.IGNORECASE)
_BODY = re.compile(
    r"(?:^|[\s_-])(?:(?:post|comment|message|msg|reply|answer|entry|item)?[_-]?(?:body|content|text|message|msg|what|copy|prose|said)|commtext|markdown)(?:$|[\s_-])",
    re.IGNORECASE,
)
_FURNITURE = re.compile(
    r"(?:^|[\s_-])(?:signature|sig|actions?|controls?|buttons?|toolbar|permalink|likes?|votes?|score|share|report|reactions?|meta|avatar|badges?|reply-link)(?:$|[\s_-])",
    re.IGNORECASE,
)
_ALONE = re.compile(r"(?:^|[\s_-])(?:msg|message|forum-?post|topic-?post|comment|reply|answer)(?:$|[\s_-])", re.IGNORECASE)
_WROTE = re.compile(r"^(?:by|von|av|par|por|from|posted by|written by)\s+|\s*(?:wrote|says|said|schrieb|skrev)?\s*[:,·|]*\s*$", re.IGNORECASE)
_QUESTION = re.compile(r"(?:^|[\s_-])(?:question|fråga|frage)(?:$|[\s_-])", re.IGNORECASE)
_ANSWER = re.compile(r"(?:^|[\s_-])(?:accepted-?answer|suggested-?answer|answer|svar|antwort)(?:$|[\s_-])", re.IGNORECASE)


def find(html: str, today: str) -> list[Post]:
    """Every post of a page in its order; [] when it holds none. `today` is an ISO day, for relative dates."""
    tree = LexborHTMLParser(html)
    stated = postings.stated(tree)
    if tree.body is None:
        return stated
    noise.strip(tree.body)
    built = _Search(tree.body, today).posts()
    roles = any(post.role != "post" for post in stated)
    chosen = stated if len(stated) > len(built) or (roles and len(stated) == len(built)) else built
    return [post.model_copy(update={"n": n}) for n, post in enumerate(chosen, start=1)]


@dataclass
class _Block:
    """A block that may be a post, with the dates that stand in it."""

    node: LexborNode
    dates: list[tuple[int, str]] = field(default_factory=list)
    """Identity of the date's element, and the date."""


class _Search:
    """One page's blocks around its dates, in groups of a kind."""

    def __init__(self, body: LexborNode, today: str) -> None:
        self.today = today
        self.groups: dict[str, dict[int, _Block]] = defaultdict(dict)
        for node, iso in _dates(body, today):
            level: LexborNode | None = node
            for _ in range(CLIMB):
                if level is None or level.tag in ("body", "html"):
                    break
                if level.tag in _LEVELS:
                    block = self.groups[_kind(level)].setdefault(level.mem_id, _Block(level))
                    block.dates.append((node.mem_id, iso))
                level = level.parent

    def posts(self) -> list[Post]:
        """The posts of the group that says most; above answers, the question."""
        best: list[Post] = []
        for kind, group in self.groups.items():
            if len(group) < 2 and not _ALONE.search(kind):
                continue
            found = self._group(kind, group)
            if len(found) >= max(1, MOST * len(group)) and _weight(found) > _weight(best):
                best = found
        if any(post.role == "answer" for post in best):
            asked = [post for kind, group in self.groups.items() if _QUESTION.search(kind) for post in self._group(kind, group)]
            best = [*sorted(asked, key=lambda post: -len(post.text))[:1], *best]
        return best

    def _group(self, kind: str, group: dict[int, _Block]) -> list[Post]:
        return [post for block in group.values() if (post := self._post(block, kind, group))]

    def _post(self, block: _Block, kind: str, group: dict[int, _Block]) -> Post | None:
        """The post of a block, without those nested in it; None when something is missing or it is more than one."""
        nested = {identity for inner in group.values() if inner is not block and _inside(inner.node, block.node) for identity, _ in inner.dates}
        own = [(identity, iso) for identity, iso in block.dates if identity not in nested]
        if not own or _is_row_of_data(block.node):
            return None
        root = _apart(block.node, kind)
        dates = list(_dates(root, self.today)) if root is not None else []
        if root is None or not dates or _several(dates):
            return None
        user = _user(root, dates, self.today)
        name = _name(user, self.today) if user is not None else ""
        body = _body(root, [dates[0][0]], user)
        text = _text(body)
        if not name or not text or _linked(body) or self._only_date(text):
            return None
        role = "question" if _QUESTION.search(kind) else "answer" if _ANSWER.search(kind) else "post"
        return Post(n=0, user=name, date=own[0][1], text=text, role=role)  # type: ignore[arg-type]

    def _only_date(self, text: str) -> bool:
        found = moment(text, self.today) if len(text) <= SHORT else None
        return found is not None and found.end - found.start >= 0.8 * len(text)


def _weight(posts: list[Post]) -> tuple[int, int]:
    return sum(len(post.text) for post in posts), len(posts)


def _kind(node: LexborNode) -> str:
    """Tag and class names, without what only numbers or alternates; where there are no names, the parent's are added."""
    names = sorted(name for name in (node.attributes.get("class") or "").split() if not _VARIANT.search(name))
    if names or node.parent is None:
        return f"{node.tag} {' '.join(names)}"
    above = sorted(name for name in (node.parent.attributes.get("class") or "").split() if not _VARIANT.search(name))
    return f"{node.tag} in {node.parent.tag} {' '.join(above)}"


def _inside(node: LexborNode, outer: LexborNode) -> bool:
    level = node.parent
    while level is not None:
        if level.mem_id == outer.mem_id:
            return True
        level = level.parent
    return False


def _dates(root: LexborNode, today: str) -> Iterator[tuple[LexborNode, str]]:
    """The places under `root` that are a date, innermost ones only."""
    for node in root.css("*"):
        iso = _stated(node) or _written(node, today)
        if iso:
            yield node, iso


def _stated(node: LexborNode) -> str:
    attributes = node.attributes
    value = attributes.get("datetime") or (attributes.get("content") if "date" in (attributes.get("itemprop") or "").lower() else "")
    return metadata.when(value) if value else ""


def _written(node: LexborNode, today: str) -> str:
    """A short text that holds a date of its own (not of an element inside): all of it, or most of what it says."""
    if node.tag in ("h1", "h2", "h3", "option"):
        return ""
    own = " ".join("".join(child.text_content or "" for child in node.iter(include_text=True) if child.tag == "-text").split())
    if not 3 <= len(own) <= SHORT:
        return ""
    found = moment(own, today)
    named = bool(_DATE.search(f"{node.attributes.get('class') or ''} {node.attributes.get('itemprop') or ''}"))
    if found is None or not (named or found.end - found.start >= 0.4 * len(own)):
        return ""
    return found.iso


def _several(dates: list[tuple[LexborNode, str]]) -> bool:
    """Does the first date's kind of place come again: is this more than one post? (Days named in its text stand elsewhere.)"""
    kinds = [(_kind(node), _kind(node.parent) if node.parent is not None else "") for node, _ in dates]
    return kinds[0] in kinds[1:]


def _apart(node: LexborNode, kind: str) -> LexborNode | None:
    """A copy of a block without the blocks of the same kind in it."""
    html = node.html or ""
    wrapped = f"<table>{html}</table>" if node.tag in ("tr", "td", "tbody") else html
    body = LexborHTMLParser(wrapped).body
    root = body.css_first(str(node.tag)) if body is not None else None
    if root is None:
        return None
    for inner in root.css(str(node.tag)):
        if inner.mem_id != root.mem_id and _kind(inner) == kind:
            inner.decompose()
    return root


def _user(root: LexborNode, dates: list[tuple[LexborNode, str]], today: str) -> LexborNode | None:
    """The element that names who wrote it: called a user name, linked to a profile, called author, or a short bold word."""
    stamps = {node.mem_id for node, _ in dates}
    named = [node for node in root.css("[class], [itemprop], [rel], cite, a[href]") if node.mem_id not in stamps]
    for fits in (_is_user, _is_profile, _is_author):
        for node in named:
            picked = _innermost(node) if fits(node) else None
            if picked is not None and 0 < len(_name(picked, today)) <= NAME:
                return picked
    for node in root.css("b, strong, cite, dt, h4, h5, h6"):
        words = _name(node, today)
        letters = sum(c.isalpha() for c in words)
        if letters > 1 and len(words) <= NAME and len(words.split()) <= 4 and node.css_first("a[href]") is None and moment(words, today) is None:
            return node
    return None


def _is_user(node: LexborNode) -> bool:
    attributes = node.attributes
    return bool(_USER.search(attributes.get("class") or "")) or attributes.get("itemprop") == "author" or attributes.get("rel") == "author"


def _is_profile(node: LexborNode) -> bool:
    return node.tag == "a" and bool(_USER_LINK.search(node.attributes.get("href") or ""))


def _is_author(node: LexborNode) -> bool:
    return node.tag == "cite" or bool(_AUTHOR.search(node.attributes.get("class") or ""))


def _innermost(node: LexborNode) -> LexborNode | None:
    """The name inside an element that holds more than the name: what is stated or bold in it."""
    inner = node.css_first('[itemprop="name"]')
    if inner is None:
        inner = next((child for child in node.css("b, strong, a, cite") if child.mem_id != node.mem_id and flat(child)), None)
    return inner if inner is not None and len(flat(node)) > len(flat(inner)) else node


def _name(node: LexborNode, today: str) -> str:
    """The name alone: without "by", a date behind it, a colon."""
    words = flat(node)
    found = moment(words, today)
    if found is not None:
        words = (words[: found.start] + words[found.end :]).strip(" ,·|–-")
    return _WROTE.sub("", words).lstrip("@").strip()


def _body(root: LexborNode, stamps: list[LexborNode], user: LexborNode | None) -> LexborNode:
    """The part of a block that is the text: called so, else the largest part that holds neither the user nor the date."""
    marks = [*stamps, *([user] if user is not None else [])]
    holding = {identity for mark in marks for identity in _above(mark)}
    called = [node for node in root.css("[class], [itemprop]") if node.mem_id not in holding and _is_body(node)]
    if called:
        return max(called, key=noise.size)
    node = root
    while True:
        children = [child for child in node.iter() if noise.size(child)]
        rest = {child.mem_id: _left(child, marks) for child in children}
        largest = max(children, key=lambda child: rest[child.mem_id], default=None)
        paragraphs = [child for child in children if child.mem_id not in holding and child.tag in ("p", "ul", "ol", "blockquote", "pre")]
        if largest is None or not rest[largest.mem_id] or len(paragraphs) > 1:
            break
        if largest.mem_id not in holding:
            return largest
        node = largest
    for mark in marks:
        if mark.mem_id != node.mem_id:
            mark.decompose()
    return node


def _left(node: LexborNode, marks: list[LexborNode]) -> int:
    """Characters under a node that are neither the user's name nor the date."""
    inside = [mark for mark in marks if mark.mem_id == node.mem_id or _inside(mark, node)]
    outer = [mark for mark in inside if not any(other.mem_id != mark.mem_id and _inside(mark, other) for other in inside)]
    return max(0, noise.size(node) - sum(noise.size(mark) + 1 for mark in outer))


def _is_body(node: LexborNode) -> bool:
    attributes = node.attributes
    return bool(_BODY.search(f" {attributes.get('class') or ''} ")) or (attributes.get("itemprop") or "") in ("text", "articleBody", "commentText")


def _above(node: LexborNode) -> Iterator[int]:
    level: LexborNode | None = node
    while level is not None:
        yield level.mem_id
        level = level.parent


def _text(body: LexborNode) -> str:
    """The text, written as the page's text is written: a cell of a table is one line, anything else keeps its paragraphs."""
    for node in body.css("[class]"):
        if _FURNITURE.search(f" {node.attributes.get('class') or ''} "):
            node.decompose()
    return flat(body) if body.tag in ("td", "th") else Blocks(body).text.strip()


def _is_row_of_data(node: LexborNode) -> bool:
    """A row of many cells is a table's, not a post: a post's row has a cell for the writer and one for the text, with one more at most."""
    return node.tag == "tr" and sum(1 for cell in node.iter() if cell.tag in ("td", "th") and noise.size(cell)) > CELLS


def _linked(body: LexborNode) -> bool:
    whole = noise.size(body)
    return sum(noise.size(link) for link in body.css("a[href]")) > LINKED * whole if whole else True
