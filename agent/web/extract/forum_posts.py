"""Forum posts, comments, questions and answers out of a page's markup: who wrote what, when. No site is known
by name.

A post is a block that comes again and again with a date, a user and a text of its own. Blocks are grouped by
tag and class names wherever they stand, so nested replies are found as well; the group with the most text
wins. What a page states about its posts in schema.org terms is read too (postings.py) and used where the
blocks tell less. Pure: markup in, posts out."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser, LexborNode

from agent.types.collection import Post
from agent.web.extract import boilerplate, metadata, schema_org
from agent.web.extract.page_dates import find_date
from agent.web.extract.text_blocks import TextBlocks, inline_text

MAX_DATE_CHARACTERS = 80
"""Characters a place that is only a date (or a user and a date) has at most."""
MAX_NAME_CHARACTERS = 40
MAX_LINKED_SHARE = 0.6
"""A block whose text is linked to a larger share than this is an entry of a listing, not a post."""
MIN_COMPLETE_SHARE = 0.6
"""The share of a group's blocks that must have user, date and text."""
MAX_ROW_CELLS = 3
MAX_LEVELS = 9
"""Levels between a date and the block it belongs to."""
_BLOCK_TAGS = (
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
_VARIANT_CLASS = re.compile(
    r"\d|^(?:odd|even|alt|first|last|new|unread|op|active|highlight\w*|bg\w?|row\w?|clearfix|hentry)$",
    re.IGNORECASE,
)
_USER_CLASS = re.compile(
    r"(?:^|[\s_-])(?:\w*user(?:name)?|nick(?:name)?|handle|fn|(?:screen|display|member|author|poster)-?name)(?:$|\s)",
    re.IGNORECASE,
)
_AUTHOR_CLASS = re.compile(
    r"(?:^|[\s_-])(?:author|poster|member|user|who|byline|creator|from)(?:$|[\s_-])", re.IGNORECASE
)
_USER_LINK = re.compile(
    r"(?:^|/)(?:users?|members?|profiles?|u|people|author)[/=?]|[?&](?:user|u|uid|author)=|/@", re.IGNORECASE
)
_DATE_CLASS = re.compile(
    r"(?:^|[\s_-])(?:date|time|timestamp|ago|posted|published|when|created|age)(?:$|[\s_-])", re.IGNORECASE
)
_BODY_CLASS = re.compile(
    r"(?:^|[\s_-])(?:(?:post|comment|message|msg|reply|answer|entry|item)?[_-]?(?:body|content|text|message|msg|what|copy|prose|said)|commtext|markdown)(?:$|[\s_-])",
    re.IGNORECASE,
)
_CONTROL_CLASS = re.compile(
    r"(?:^|[\s_-])(?:signature|sig|actions?|controls?|buttons?|toolbar|permalink|likes?|votes?|score|share|report|reactions?|meta|avatar|badges?|reply-link)(?:$|[\s_-])",
    re.IGNORECASE,
)
_SINGLE_POST_CLASS = re.compile(
    r"(?:^|[\s_-])(?:msg|message|forum-?post|topic-?post|comment|reply|answer)(?:$|[\s_-])", re.IGNORECASE
)
_NAME_AFFIXES = re.compile(
    r"^(?:by|von|av|par|por|from|posted by|written by)\s+|\s*(?:wrote|says|said|schrieb|skrev)?\s*[:,·|]*\s*$",
    re.IGNORECASE,
)
_QUESTION_CLASS = re.compile(r"(?:^|[\s_-])(?:question|fråga|frage)(?:$|[\s_-])", re.IGNORECASE)
_ANSWER_CLASS = re.compile(
    r"(?:^|[\s_-])(?:accepted-?answer|suggested-?answer|answer|svar|antwort)(?:$|[\s_-])", re.IGNORECASE
)


def find_posts(html: str, today: str) -> list[Post]:
    """Every post of a page in its order; [] when it holds none. `today` is an ISO day, for relative dates."""
    tree = LexborHTMLParser(html)
    stated = schema_org.find_stated_posts(tree)
    if tree.body is None:
        return stated
    boilerplate.remove_invisible(tree.body)
    built = _PostFinder(tree.body, today).best_posts()
    roles = any(post.role != "post" for post in stated)
    chosen = stated if len(stated) > len(built) or (roles and len(stated) == len(built)) else built
    return [post.model_copy(update={"n": n}) for n, post in enumerate(chosen, start=1)]


@dataclass
class _PostCandidate:
    """A block that may be a post, with the dates that stand in it."""

    node: LexborNode
    dates: list[tuple[int, str]] = field(default_factory=list)
    """Identity of the date's element, and the date."""


class _PostFinder:
    """One page's blocks around its dates, in groups of a kind."""

    def __init__(self, body: LexborNode, today: str) -> None:
        self.today = today
        self.groups: dict[str, dict[int, _PostCandidate]] = defaultdict(dict)
        for node, iso in _find_dates(body, today):
            level: LexborNode | None = node
            for _ in range(MAX_LEVELS):
                if level is None or level.tag in ("body", "html"):
                    break
                if level.tag in _BLOCK_TAGS:
                    block = self.groups[_structure_key(level)].setdefault(level.mem_id, _PostCandidate(level))
                    block.dates.append((node.mem_id, iso))
                level = level.parent

    def best_posts(self) -> list[Post]:
        """The posts of the group that says most; above answers, the question."""
        best: list[Post] = []
        for kind, group in self.groups.items():
            if len(group) < 2 and not _SINGLE_POST_CLASS.search(kind):
                continue
            found = self._read_group(kind, group)
            if len(found) >= max(1, MIN_COMPLETE_SHARE * len(group)) and _measure_text(found) > _measure_text(
                best
            ):
                best = found
        if any(post.role == "answer" for post in best):
            asked = [
                post
                for kind, group in self.groups.items()
                if _QUESTION_CLASS.search(kind)
                for post in self._read_group(kind, group)
            ]
            best = [*sorted(asked, key=lambda post: -len(post.text))[:1], *best]
        return best

    def _read_group(self, kind: str, group: dict[int, _PostCandidate]) -> list[Post]:
        return [post for block in group.values() if (post := self._read_post(block, kind, group))]

    def _read_post(self, block: _PostCandidate, kind: str, group: dict[int, _PostCandidate]) -> Post | None:
        """The post of a block, without those nested in it; None when something is missing or it is more than
        one."""
        nested = {
            identity
            for inner in group.values()
            if inner is not block and _is_inside(inner.node, block.node)
            for identity, _ in inner.dates
        }
        own = [(identity, iso) for identity, iso in block.dates if identity not in nested]
        if not own or _is_data_row(block.node):
            return None
        root = _copy_without_nested(block.node, kind)
        dates = list(_find_dates(root, self.today)) if root is not None else []
        if root is None or not dates or _has_repeated_date(dates):
            return None
        user = _find_user(root, dates, self.today)
        name = _clean_name(user, self.today) if user is not None else ""
        body = _find_body(root, [dates[0][0]], user)
        text = _read_text(body)
        if not name or not text or _is_mostly_links(body) or self._is_only_date(text):
            return None
        role = (
            "question" if _QUESTION_CLASS.search(kind) else "answer" if _ANSWER_CLASS.search(kind) else "post"
        )
        return Post(n=0, user=name, date=own[0][1], text=text, role=role)  # type: ignore[arg-type]

    def _is_only_date(self, text: str) -> bool:
        found = find_date(text, self.today) if len(text) <= MAX_DATE_CHARACTERS else None
        return found is not None and found.end - found.start >= 0.8 * len(text)


def _measure_text(posts: list[Post]) -> tuple[int, int]:
    return sum(len(post.text) for post in posts), len(posts)


def _structure_key(node: LexborNode) -> str:
    """Tag and class names, without what only numbers or alternates; where there are no names, the parent's
    are added."""
    names = sorted(
        name for name in (node.attributes.get("class") or "").split() if not _VARIANT_CLASS.search(name)
    )
    if names or node.parent is None:
        return f"{node.tag} {' '.join(names)}"
    above = sorted(
        name
        for name in (node.parent.attributes.get("class") or "").split()
        if not _VARIANT_CLASS.search(name)
    )
    return f"{node.tag} in {node.parent.tag} {' '.join(above)}"


def _is_inside(node: LexborNode, outer: LexborNode) -> bool:
    level = node.parent
    while level is not None:
        if level.mem_id == outer.mem_id:
            return True
        level = level.parent
    return False


def _find_dates(root: LexborNode, today: str) -> Iterator[tuple[LexborNode, str]]:
    """The places under `root` that are a date, innermost ones only."""
    for node in root.css("*"):
        iso = _stated_date(node) or _written_date(node, today)
        if iso:
            yield node, iso


def _stated_date(node: LexborNode) -> str:
    attributes = node.attributes
    value = attributes.get("datetime") or (
        attributes.get("content") if "date" in (attributes.get("itemprop") or "").lower() else ""
    )
    return metadata.normalize_date(value) if value else ""


def _written_date(node: LexborNode, today: str) -> str:
    """A short text that holds a date of its own (not of an element inside): all of it, or most of what it
    says."""
    if node.tag in ("h1", "h2", "h3", "option"):
        return ""
    own = " ".join(
        "".join(
            child.text_content or "" for child in node.iter(include_text=True) if child.tag == "-text"
        ).split()
    )
    if not 3 <= len(own) <= MAX_DATE_CHARACTERS:
        return ""
    found = find_date(own, today)
    named = bool(
        _DATE_CLASS.search(f"{node.attributes.get('class') or ''} {node.attributes.get('itemprop') or ''}")
    )
    if found is None or not (named or found.end - found.start >= 0.4 * len(own)):
        return ""
    return found.iso


def _has_repeated_date(dates: list[tuple[LexborNode, str]]) -> bool:
    """Does the first date's kind of place come again: is this more than one post? (Days named in its text
    stand elsewhere.)"""
    kinds = [
        (_structure_key(node), _structure_key(node.parent) if node.parent is not None else "")
        for node, _ in dates
    ]
    return kinds[0] in kinds[1:]


def _copy_without_nested(node: LexborNode, kind: str) -> LexborNode | None:
    """A copy of a block without the blocks of the same kind in it."""
    html = node.html or ""
    wrapped = f"<table>{html}</table>" if node.tag in ("tr", "td", "tbody") else html
    body = LexborHTMLParser(wrapped).body
    root = body.css_first(str(node.tag)) if body is not None else None
    if root is None:
        return None
    for inner in root.css(str(node.tag)):
        if inner.mem_id != root.mem_id and _structure_key(inner) == kind:
            inner.decompose()
    return root


def _find_user(root: LexborNode, dates: list[tuple[LexborNode, str]], today: str) -> LexborNode | None:
    """The element that names who wrote it: called a user name, linked to a profile, called author, or a short
    bold word."""
    stamps = {node.mem_id for node, _ in dates}
    named = [
        node for node in root.css("[class], [itemprop], [rel], cite, a[href]") if node.mem_id not in stamps
    ]
    for fits in (_is_user, _is_profile, _is_author):
        for node in named:
            picked = _innermost_name(node) if fits(node) else None
            if picked is not None and 0 < len(_clean_name(picked, today)) <= MAX_NAME_CHARACTERS:
                return picked
    for node in root.css("b, strong, cite, dt, h4, h5, h6"):
        words = _clean_name(node, today)
        letters = sum(c.isalpha() for c in words)
        if (
            letters > 1
            and len(words) <= MAX_NAME_CHARACTERS
            and len(words.split()) <= 4
            and node.css_first("a[href]") is None
            and find_date(words, today) is None
        ):
            return node
    return None


def _is_user(node: LexborNode) -> bool:
    attributes = node.attributes
    return (
        bool(_USER_CLASS.search(attributes.get("class") or ""))
        or attributes.get("itemprop") == "author"
        or attributes.get("rel") == "author"
    )


def _is_profile(node: LexborNode) -> bool:
    return node.tag == "a" and bool(_USER_LINK.search(node.attributes.get("href") or ""))


def _is_author(node: LexborNode) -> bool:
    return node.tag == "cite" or bool(_AUTHOR_CLASS.search(node.attributes.get("class") or ""))


def _innermost_name(node: LexborNode) -> LexborNode | None:
    """The name inside an element that holds more than the name: what is stated or bold in it."""
    inner = node.css_first('[itemprop="name"]')
    if inner is None:
        inner = next(
            (
                child
                for child in node.css("b, strong, a, cite")
                if child.mem_id != node.mem_id and inline_text(child)
            ),
            None,
        )
    return inner if inner is not None and len(inline_text(node)) > len(inline_text(inner)) else node


def _clean_name(node: LexborNode, today: str) -> str:
    """The name alone: without "by", a date behind it, a colon."""
    words = inline_text(node)
    found = find_date(words, today)
    if found is not None:
        words = (words[: found.start] + words[found.end :]).strip(" ,·|–-")
    return _NAME_AFFIXES.sub("", words).lstrip("@").strip()


def _find_body(root: LexborNode, stamps: list[LexborNode], user: LexborNode | None) -> LexborNode:
    """The part of a block that is the text: called so, else the largest part that holds neither the user nor
    the date."""
    marks = [*stamps, *([user] if user is not None else [])]
    holding = {identity for mark in marks for identity in _ancestor_ids(mark)}
    called = [
        node for node in root.css("[class], [itemprop]") if node.mem_id not in holding and _is_body(node)
    ]
    if called:
        return max(called, key=boilerplate.text_length)
    node = root
    while True:
        children = [child for child in node.iter() if boilerplate.text_length(child)]
        rest = {child.mem_id: _remaining_length(child, marks) for child in children}
        largest = max(children, key=lambda child: rest[child.mem_id], default=None)
        paragraphs = [
            child
            for child in children
            if child.mem_id not in holding and child.tag in ("p", "ul", "ol", "blockquote", "pre")
        ]
        if largest is None or not rest[largest.mem_id] or len(paragraphs) > 1:
            break
        if largest.mem_id not in holding:
            return largest
        node = largest
    for mark in marks:
        if mark.mem_id != node.mem_id:
            mark.decompose()
    return node


def _remaining_length(node: LexborNode, marks: list[LexborNode]) -> int:
    """Characters under a node that are neither the user's name nor the date."""
    inside = [mark for mark in marks if mark.mem_id == node.mem_id or _is_inside(mark, node)]
    outer = [
        mark
        for mark in inside
        if not any(other.mem_id != mark.mem_id and _is_inside(mark, other) for other in inside)
    ]
    return max(0, boilerplate.text_length(node) - sum(boilerplate.text_length(mark) + 1 for mark in outer))


def _is_body(node: LexborNode) -> bool:
    attributes = node.attributes
    return bool(_BODY_CLASS.search(f" {attributes.get('class') or ''} ")) or (
        attributes.get("itemprop") or ""
    ) in ("text", "articleBody", "commentText")


def _ancestor_ids(node: LexborNode) -> Iterator[int]:
    level: LexborNode | None = node
    while level is not None:
        yield level.mem_id
        level = level.parent


def _read_text(body: LexborNode) -> str:
    """The text, written as the page's text is written: a cell of a table is one line, anything else keeps its
    paragraphs."""
    for node in body.css("[class]"):
        if _CONTROL_CLASS.search(f" {node.attributes.get('class') or ''} "):
            node.decompose()
    return inline_text(body) if body.tag in ("td", "th") else TextBlocks(body).text.strip()


def _is_data_row(node: LexborNode) -> bool:
    """A row of many cells is a table's, not a post: a post's row has a cell for the writer and one for the
    text, with one more at most."""
    return (
        node.tag == "tr"
        and sum(1 for cell in node.iter() if cell.tag in ("td", "th") and boilerplate.text_length(cell))
        > MAX_ROW_CELLS
    )


def _is_mostly_links(body: LexborNode) -> bool:
    whole = boilerplate.text_length(body)
    return (
        sum(boilerplate.text_length(link) for link in body.css("a[href]")) > MAX_LINKED_SHARE * whole
        if whole
        else True
    )
