"""Forum posts, comments, questions and answers in a page's markup: author, date and text. No site is known by
name.

A post is a block that repeats with a date, a user and a text of its own. Blocks are grouped by tag and class
names at any depth, so nested replies are found; the group with the most text wins. Posts that the page states
in schema.org terms are used where the blocks give fewer. Pure: markup in, posts out."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import islice

from selectolax.lexbor import LexborHTMLParser, LexborNode

from agent.types.collection import Post
from agent.web.extract import boilerplate, schema_org
from agent.web.extract.forum_fields import (
    clean_name,
    find_body,
    find_dates,
    find_user,
    is_only_date,
    read_text,
    structure_key,
)
from agent.web.extract.nodes import ancestors, is_inside, link_share, names_of, text_length
from agent.web.patterns import compile_names, read_lists

MAX_LINKED_SHARE = 0.6
"""A block with a larger share of its text in links is an entry of a listing, not a post."""
MIN_COMPLETE_SHARE = 0.6
"""The share of a group's blocks that must have user, date and text."""
MAX_ROW_CELLS = 3
"""A post's table row has a cell for the author and one for the text, and one more at most."""
MAX_LEVELS = 9
"""Levels between a date and its block."""
_BLOCK_TAGS = frozenset(
    "article li div section tr td dd dl table details blockquote aside tbody p header footer ul ol "
    "span".split()
)
_LISTS = read_lists("forum")
_POST_SELECTOR = ", ".join(f"[class*={name} i]" for name in "msg message post comment reply answer".split())
_SINGLE_POST = compile_names(_LISTS["single_post_names"])
_QUESTION = compile_names(_LISTS["question_names"])
_ANSWER = compile_names(_LISTS["answer_names"])


def mark_posts(root: LexborNode) -> frozenset[int]:
    """The ids (`mem_id`) of the blocks that are posts by their class name, two of a kind at least and without
    headings: what a passage is cut from. Author and date are not looked for."""
    groups: dict[str, list[int]] = defaultdict(list)
    for node in root.css(_POST_SELECTOR):
        is_named = node.tag in _BLOCK_TAGS and _SINGLE_POST.search(names_of(node, "class"))
        if is_named and node.css_first("h1, h2, h3, h4, h5, h6") is None:
            groups[structure_key(node)].append(node.mem_id)
    return frozenset(post for group in groups.values() if len(group) > 1 for post in group)


def find_posts(html: str, today: str) -> list[Post]:
    """Every post of a page in its order; [] when it has none. `today` is an ISO day, for relative dates."""
    tree = LexborHTMLParser(html)
    stated = schema_org.find_stated_posts(tree, schema_org.read_json_ld(tree))
    if tree.body is None:
        return stated
    boilerplate.remove_invisible(tree.body)
    built = _PostFinder(tree.body, today).best_posts()
    has_roles = any(post.role != "post" for post in stated)
    chosen = stated if len(stated) > len(built) or (has_roles and len(stated) == len(built)) else built
    return [post.replace(n=n) for n, post in enumerate(chosen, start=1)]


@dataclass
class _Block:
    """A block that may be a post, and the dates in it."""

    node: LexborNode
    dates: list[tuple[int, str]] = field(default_factory=list)
    """Identity of the date's element, and the date."""


class _PostFinder:
    """The blocks around a page's dates, grouped by their structure key."""

    def __init__(self, body: LexborNode, today: str) -> None:
        self.today = today
        self.groups: dict[str, dict[int, _Block]] = defaultdict(dict)
        for node, iso in find_dates(body, today):
            for level in islice(ancestors(node, with_node=True), MAX_LEVELS):
                if level.tag in _BLOCK_TAGS:
                    block = self.groups[structure_key(level)].setdefault(level.mem_id, _Block(level))
                    block.dates.append((node.mem_id, iso))

    def best_posts(self) -> list[Post]:
        """The posts of the group with the most text; before answers, the question."""
        best: list[Post] = []
        for key, group in self.groups.items():
            if len(group) >= 2 or _SINGLE_POST.search(key):
                posts = self._read_group(key, group)
                if len(posts) >= max(1, MIN_COMPLETE_SHARE * len(group)) and _amount(posts) > _amount(best):
                    best = posts
        if any(post.role == "answer" for post in best):
            groups = (
                self._read_group(key, group) for key, group in self.groups.items() if _QUESTION.search(key)
            )
            questions = sorted((post for posts in groups for post in posts), key=lambda post: -len(post.text))
            best = [*questions[:1], *best]
        return best

    def _read_group(self, key: str, group: dict[int, _Block]) -> list[Post]:
        return [post for block in group.values() if (post := self._read_post(block, key, group))]

    def _read_post(self, block: _Block, key: str, group: dict[int, _Block]) -> Post | None:
        """The post of a block without those nested in it; None where a part is missing or there are more."""
        others = (
            other for other in group.values() if other is not block and is_inside(other.node, block.node)
        )
        nested = {identity for other in others for identity, _ in other.dates}
        own = [iso for identity, iso in block.dates if identity not in nested]
        root = None if not own or _is_data_row(block.node) else _copy_without_nested(block.node, key)
        dates = list(find_dates(root, self.today)) if root is not None else []
        if root is None or not dates or _has_repeated_date(dates):
            return None
        user = find_user(root, dates, self.today)
        name = clean_name(user, self.today) if user is not None else ""
        body = find_body(root, dates[0][0], user)
        text = read_text(body)
        if not name or not text or link_share(body) > MAX_LINKED_SHARE or is_only_date(text, self.today):
            return None
        role = "question" if _QUESTION.search(key) else "answer" if _ANSWER.search(key) else "post"
        return Post(n=0, user=name, date=own[0], text=text, role=role)  # type: ignore[arg-type]


def _amount(posts: list[Post]) -> tuple[int, int]:
    return sum(len(post.text) for post in posts), len(posts)


def _has_repeated_date(dates: list[tuple[LexborNode, str]]) -> bool:
    """Whether the kind of place of the first date repeats, so that this is more than one post."""
    kinds = [
        (structure_key(node), structure_key(node.parent) if node.parent is not None else "")
        for node, _ in dates
    ]
    return kinds[0] in kinds[1:]


def _copy_without_nested(node: LexborNode, key: str) -> LexborNode | None:
    """A copy of a block without the blocks of the same structure in it."""
    html = node.html or ""
    body = LexborHTMLParser(f"<table>{html}</table>" if node.tag in ("tr", "td", "tbody") else html).body
    root = body.css_first(str(node.tag)) if body is not None else None
    if root is not None:
        for inner in root.css(str(node.tag)):
            if inner.mem_id != root.mem_id and structure_key(inner) == key:
                inner.decompose()
    return root


def _is_data_row(node: LexborNode) -> bool:
    cells = [cell for cell in node.iter() if cell.tag in ("td", "th") and text_length(cell)]
    return node.tag == "tr" and len(cells) > MAX_ROW_CELLS
