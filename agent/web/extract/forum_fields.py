"""The parts of a forum post: dates, author's name and text, found by class names and position."""

from __future__ import annotations

from collections.abc import Iterator

from selectolax.lexbor import LexborNode

from agent.web.extract.nodes import ancestors, is_inside, names_of, text_length
from agent.web.extract.page_dates import find_date, normalize_date
from agent.web.extract.text_blocks import inline_text, readable_text
from agent.web.patterns import compile_any, compile_names, read_lists

MAX_DATE_CHARACTERS = 80
"""The most characters of a place that is only a date, or a user and a date."""
MAX_NAME_CHARACTERS = 40
MAX_NAME_WORDS = 4
_LISTS = read_lists("forum")
_VARIANT = compile_any(_LISTS["variant"])
_USER = compile_any(_LISTS["user"])
_AUTHOR = compile_names(_LISTS["author_names"])
_PROFILE_LINK = compile_any(_LISTS["profile_link"])
_DATE = compile_names(_LISTS["date_names"])
_BODY = compile_names(_LISTS["body_names"])
_CONTROL = compile_names(_LISTS["control_names"])
_NAME_AFFIXES = compile_any(_LISTS["name_affixes"])


def structure_key(node: LexborNode) -> str:
    """Tag and class names without variants (numbers, odd, even …); without classes also the parent's."""
    if (names := _stable_names(node)) or node.parent is None:
        return f"{node.tag} {names}"
    return f"{node.tag} in {node.parent.tag} {_stable_names(node.parent)}"


def _stable_names(node: LexborNode) -> str:
    return " ".join(sorted(name for name in names_of(node, "class").split() if not _VARIANT.search(name)))


def find_dates(root: LexborNode, today: str) -> Iterator[tuple[LexborNode, str]]:
    """The innermost elements under `root` that are a date, each with the date in ISO 8601."""
    for node in root.css("*"):
        if iso := _stated_date(node) or _written_date(node, today):
            yield node, iso


def _stated_date(node: LexborNode) -> str:
    found = node.attributes
    is_date = "date" in (found.get("itemprop") or "").lower()
    return normalize_date(found.get("datetime") or (found.get("content") if is_date else "") or "")


def _written_date(node: LexborNode, today: str) -> str:
    """The date in an element's own short text, when it is named a date or makes up most of the text."""
    if node.tag in ("h1", "h2", "h3", "option"):
        return ""
    texts = (child.text_content or "" for child in node.iter(include_text=True) if child.tag == "-text")
    own = " ".join("".join(texts).split())
    found = find_date(own, today) if 3 <= len(own) <= MAX_DATE_CHARACTERS else None
    if found is None:
        return ""
    is_named = _DATE.search(names_of(node, "class", "itemprop"))
    return found.iso if is_named or found.end - found.start >= 0.4 * len(own) else ""


def is_only_date(text: str, today: str) -> bool:
    """Whether a text is a date and nothing else."""
    found = find_date(text, today) if len(text) <= MAX_DATE_CHARACTERS else None
    return found is not None and found.end - found.start >= 0.8 * len(text)


def find_user(root: LexborNode, dates: list[tuple[LexborNode, str]], today: str) -> LexborNode | None:
    """The element with the author's name: named user, linked to a profile, named author, or a short bold
    text."""
    stamps = {node.mem_id for node, _ in dates}
    marked = [
        node for node in root.css("[class], [itemprop], [rel], cite, a[href]") if node.mem_id not in stamps
    ]
    for is_match in (_is_user, _is_profile, _is_author):
        for node in filter(is_match, marked):
            # The name inside an element that holds more than the name: what is declared or bold in it
            bold = (
                child
                for child in node.css("b, strong, a, cite")
                if child.mem_id != node.mem_id and inline_text(child)
            )
            inner = node.css_first('[itemprop="name"]') or next(bold, None)
            name = inner if inner is not None and len(inline_text(node)) > len(inline_text(inner)) else node
            if 0 < len(clean_name(name, today)) <= MAX_NAME_CHARACTERS:
                return name
    for node in root.css("b, strong, cite, dt, h4, h5, h6"):
        text = clean_name(node, today)
        is_short = len(text) <= MAX_NAME_CHARACTERS and len(text.split()) <= MAX_NAME_WORDS
        has_other = node.css_first("a[href]") is not None or find_date(text, today) is not None
        if is_short and sum(c.isalpha() for c in text) > 1 and not has_other:
            return node
    return None


def _is_user(node: LexborNode) -> bool:
    found = node.attributes
    return bool(_USER.search(found.get("class") or "")) or "author" in (
        found.get("itemprop"),
        found.get("rel"),
    )


def _is_profile(node: LexborNode) -> bool:
    return node.tag == "a" and bool(_PROFILE_LINK.search(names_of(node, "href")))


def _is_author(node: LexborNode) -> bool:
    return node.tag == "cite" or bool(_AUTHOR.search(names_of(node, "class")))


def clean_name(node: LexborNode, today: str) -> str:
    """The name alone: without "by", a date behind it, or a colon."""
    text = inline_text(node)
    if found := find_date(text, today):
        text = (text[: found.start] + text[found.end :]).strip(" ,·|–-")
    return _NAME_AFFIXES.sub("", text).lstrip("@").strip()


def find_body(root: LexborNode, stamp: LexborNode, user: LexborNode | None) -> LexborNode:
    """The part of a block that is the text: named so, else the largest with neither user nor date."""
    marks = [stamp, *([user] if user is not None else [])]
    around = {level.mem_id for mark in marks for level in ancestors(mark, with_node=True)}
    named = [
        node
        for node in root.css("[class], [itemprop]")
        if node.mem_id not in around
        and (
            bool(_BODY.search(names_of(node, "class")))
            or names_of(node, "itemprop")
            in (
                "text",
                "articleBody",
                "commentText",
            )
        )
    ]
    if named:
        return max(named, key=text_length)
    node = root
    while True:
        children = [child for child in node.iter() if text_length(child)]
        rest = {child.mem_id: _remaining_length(child, marks) for child in children}
        largest = max(children, key=lambda child: rest[child.mem_id], default=None)
        free = [child for child in children if child.mem_id not in around]
        paragraphs = [child for child in free if child.tag in ("p", "ul", "ol", "blockquote", "pre")]
        if largest is None or not rest[largest.mem_id] or len(paragraphs) > 1:
            break
        if largest.mem_id not in around:
            return largest
        node = largest
    for mark in marks:
        if mark.mem_id != node.mem_id:
            mark.decompose()
    return node


def _remaining_length(node: LexborNode, marks: list[LexborNode]) -> int:
    """Characters under a node that are neither the user's name nor the date."""
    inside = [mark for mark in marks if mark.mem_id == node.mem_id or is_inside(mark, node)]
    outer = [mark for mark in inside if not any(is_inside(mark, other) for other in inside)]
    return max(0, text_length(node) - sum(text_length(mark) + 1 for mark in outer))


def read_text(body: LexborNode) -> str:
    """The text of a post without its controls (signature, buttons, votes)."""
    for node in body.css("[class]"):
        if _CONTROL.search(names_of(node, "class")):
            node.decompose()
    return readable_text(body)
