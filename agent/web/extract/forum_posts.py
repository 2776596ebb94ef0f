"""Forum posts, comments, questions and answers in a page's markup: author, date and text. No site is known by
name.

A post is a block that repeats with a date, a user and a text of its own. Blocks are grouped by tag and class
names at any depth, so nested replies are found; the group with the most text wins. Posts that the page states
in schema.org terms are used where the blocks give fewer. Pure: markup in, posts out."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice

from selectolax.lexbor import LexborHTMLParser, LexborNode

from agent.text.dates import find_date, normalize_date
from agent.text.word_lists import compile_any, compile_names, read_lists
from agent.types.collection import Post
from agent.web.extract import boilerplate, metadata
from agent.web.extract.dated_sections import MIN_DATE_SHARE, LinkedText, TextLine, find_whole_date, read_lines
from agent.web.extract.nodes import ancestors, is_inside, link_share, names_of, text_length
from agent.web.extract.text_blocks import inline_text, readable_text

# The parts of a forum post: dates, author's name and text, found by class names and position.

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
        stated = node.attributes
        is_date = "date" in (stated.get("itemprop") or "").lower()
        iso = normalize_date(stated.get("datetime") or (stated.get("content") if is_date else "") or "")
        if not iso and node.tag not in ("h1", "h2", "h3", "option"):
            # the date in its own short text, when it is named a date or makes up most of the text
            texts = (
                child.text_content or "" for child in node.iter(include_text=True) if child.tag == "-text"
            )
            own = " ".join("".join(texts).split())
            found = find_date(own, today) if 3 <= len(own) <= MAX_DATE_CHARACTERS else None
            if found and (
                _DATE.search(names_of(node, "class", "itemprop"))
                or found.end - found.start >= MIN_DATE_SHARE * len(own)
            ):
                iso = found.iso
        if iso:
            yield node, iso


def find_user(root: LexborNode, dates: list[tuple[LexborNode, str]], today: str) -> LexborNode | None:
    """The element with the author's name: named user, linked to a profile, named author, or a short bold
    text."""
    stamps = {node.mem_id for node, _ in dates}
    marked = [
        node for node in root.css("[class], [itemprop], [rel], cite, a[href]") if node.mem_id not in stamps
    ]
    kinds: tuple[Callable[[LexborNode], bool], ...] = (
        lambda node: (
            bool(_USER.search(names_of(node, "class")))
            or "author" in (node.attributes.get("itemprop"), node.attributes.get("rel"))
        ),
        lambda node: node.tag == "a" and bool(_PROFILE_LINK.search(names_of(node, "href"))),
        lambda node: node.tag == "cite" or bool(_AUTHOR.search(names_of(node, "class"))),
    )
    for is_match in kinds:
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
            or names_of(node, "itemprop") in ("text", "articleBody", "commentText")
        )
    ]
    if named:
        return max(named, key=text_length)
    node = root
    while True:
        children = [child for child in node.iter() if text_length(child)]
        rest: dict[int, int] = {}
        for child in children:  # its characters that are neither the user's name nor the date
            inside = [mark for mark in marks if mark.mem_id == child.mem_id or is_inside(mark, child)]
            outer = [mark for mark in inside if not any(is_inside(mark, other) for other in inside)]
            rest[child.mem_id] = max(0, text_length(child) - sum(text_length(mark) + 1 for mark in outer))
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


def read_text(body: LexborNode) -> str:
    """The text of a post without its controls (signature, buttons, votes)."""
    for node in body.css("[class]"):
        if _CONTROL.search(names_of(node, "class")):
            node.decompose()
    return readable_text(body)


MOST_SHARE = 0.6
"""The share of a group's blocks that must have user, date and text; and the share of its text in links from
which a block is an entry of a listing, no post."""
MAX_ROW_CELLS = 3
"""A post's table row has a cell for the author and one for the text, and one more at most."""
MAX_LEVELS = 9
"""Levels between a date and its block."""
_BLOCK_TAGS = frozenset(
    "article li div section tr td dd dl table details blockquote aside tbody p header footer ul ol "
    "span".split()
)
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
    stated = metadata.find_stated_posts(metadata.read_json_ld(tree))
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
                if len(posts) >= max(1, MOST_SHARE * len(group)) and _amount(posts) > _amount(best):
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
        cells = [cell for cell in block.node.iter() if cell.tag in ("td", "th") and text_length(cell)]
        is_data_row = block.node.tag == "tr" and len(cells) > MAX_ROW_CELLS
        root = None if not own or is_data_row else _copy_without_nested(block.node, key)
        dates = list(find_dates(root, self.today)) if root is not None else []
        kinds = [
            (structure_key(node), structure_key(node.parent) if node.parent is not None else "")
            for node, _ in dates
        ]
        if root is None or not dates or kinds[0] in kinds[1:]:  # the place of its date repeats: several posts
            return None
        user = find_user(root, dates, self.today)
        name = clean_name(user, self.today) if user is not None else ""
        body = find_body(root, dates[0][0], user)
        text = read_text(body)
        if not name or not text or link_share(body) > MOST_SHARE:
            return None
        found = find_date(text, self.today) if len(text) <= MAX_DATE_CHARACTERS else None
        if found and found.end - found.start >= 0.8 * len(text):  # a date and nothing else
            return None
        role = "question" if _QUESTION.search(key) else "answer" if _ANSWER.search(key) else "post"
        return Post(n=0, user=name, date=own[0], text=text, role=role)  # type: ignore[arg-type]


def _amount(posts: list[Post]) -> tuple[int, int]:
    return sum(len(post.text) for post in posts), len(posts)


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


# Pages of mail archives: one message with its header block (From, Subject, Date), told by its form.
#
# Two forms are known, whatever the archive's program or language: lines of "label: value", one with a date
# and one with a sender; or a line that is a date with the time of day beside a line with a mail address.

MAX_LINES_BEFORE = 25
"""Lines of a page among which its header block begins: navigation and the title stand before it."""
_FIELD = re.compile(r"(?P<label>[^\W\d][\w .’'-]{0,28}?)\s*(?::(?:\s*\|)?|\s\|)\s*(?P<value>\S.*)")
_ADDRESS = re.compile(
    r"<?\b[\w.+-]+\s?(?:@|\bat\b|\[at\]|\(at\)|_at_|&#64;)\s?[\w-]+(?:\.|\s(?:dot|punkt)\s)[\w.-]+>?",
    re.IGNORECASE,
)
_LABEL_ALONE = re.compile(r"^([^\n]{1,39}:)(\s*\n\s*)(?=\S)", re.MULTILINE)
_SENDER = compile_any([rf"^(?:{'|'.join(read_lists('forum')['sender'])})$"])
_SIGNATURE = re.compile(r"\n-- ?\n")


def find_message(text: str, linked: LinkedText, today: str) -> Post | None:
    """The message that a page consists of, with its offsets in the page's text; None when it is none."""
    # a label and its value in one line where they stand below each other (a list of terms)
    lines = list(read_lines(_LABEL_ALONE.sub(lambda label: label[1] + " " * len(label[2]), text)))
    found = _read_fields(lines, today) or _read_unlabelled(lines, today)
    if found is None:
        return None
    user, day, first = found
    body = _find_body(lines[first:], linked)
    if not body:
        return None
    start, end = body[0].start, body[-1].end
    cut = _SIGNATURE.search(text, start, end)
    end = cut.start() if cut and cut.start() > start else end
    said = text[start:end].rstrip()
    return Post(n=1, user=user, date=day, text=said, start=start, end=start + len(said))


def _read_fields(lines: Sequence[TextLine], today: str) -> tuple[str, str, int] | None:
    """Sender, date and the number of the first line behind a block of labelled lines."""
    end = 0
    for is_field, block in groupby((_FIELD.fullmatch(line.text) for line in lines), key=bool):
        if end >= MAX_LINES_BEFORE:
            break
        fields = [field.group("label", "value") if field else ("", "") for field in block]
        end += len(fields)
        days = [day for _, value in fields if (day := find_whole_date(value, today))]
        senders = [value for label, value in fields if _SENDER.match(label.strip())]
        senders += [value for _, value in fields if _ADDRESS.search(value)]
        if is_field and len(fields) > 1 and days and senders:
            return _read_name(senders[0]), days[0], end
    return None


def _read_unlabelled(lines: Sequence[TextLine], today: str) -> tuple[str, str, int] | None:
    """The same where a line with a name and a mail address stands beside one that is a date with the time."""
    for at, line in enumerate(lines[: MAX_LINES_BEFORE - 1]):
        for one, two in ((line, lines[at + 1]), (lines[at + 1], line)) if at + 1 < len(lines) else ():
            day = find_whole_date(two.text, today)
            if "T" in day and _ADDRESS.search(one.text) and len(one.text) <= MAX_DATE_CHARACTERS:
                return _read_name(one.text), day, at + 2
    return None


def _read_name(value: str) -> str:
    """The sender's name without the address; the address where there is no name."""
    name = _ADDRESS.sub(" ", value).strip(" \t\"'<>()[],;:")
    return " ".join((name or value).split())


def _find_body(lines: Sequence[TextLine], linked: LinkedText) -> Sequence[TextLine]:
    """The lines of the message: up to the navigation behind it, without that before it. A label above links,
    and a short line between two lines of links ("Previous message: none"), are navigation, too."""
    links = [linked.is_navigation(line.text) for line in lines]
    for n in range(len(lines) - 2, -1, -1):
        is_between = n > 0 and links[n - 1] and len(lines[n].text) <= MAX_NAME_CHARACTERS
        links[n] = links[n] or (links[n + 1] and (is_between or lines[n].text.endswith(":")))
    first = next((n for n, is_link in enumerate(links) if not is_link), len(lines))
    end = next((n for n in range(first, len(lines)) if links[n]), len(lines))
    return lines[first:end]
