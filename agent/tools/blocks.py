"""A tree of markup as continuous, readable text: paragraphs in document order, headings and tables with their offsets.

Works on a tree from which noise has been taken out (noise.py) and reads every text node that is left; decides nothing.
The walk is a loop, not a recursion: depth costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from selectolax.lexbor import LexborNode

from agent.tools.tables import TABLE_PARTS, as_table
from agent.types import Heading, Table

_APART_NAMES = "p h1 h2 h3 h4 h5 h6 table ul ol dl blockquote pre section article figure hr main"
_APART = frozenset(_APART_NAMES.split())
_LINES_NAMES = "div li dt dd address tr figcaption caption details summary option fieldset legend form header footer aside nav body center br"
_LINES = frozenset(_LINES_NAMES.split())
_HEADINGS = {f"h{n}": n for n in range(1, 7)}


class Writer:
    """Text as it grows: runs of white space become one space, blocks are kept apart by one or two line ends."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.length = 0
        self._gap = ""

    def gap(self, kind: str) -> None:
        """At least this gap (" ", a line end, two line ends) before what comes next."""
        if len(kind) > len(self._gap) or (kind != " " and self._gap == " "):
            self._gap = kind

    def start(self) -> int:
        """Where the next word will stand."""
        return self.length + (len(self._gap) if self.length else 0)

    def words(self, text: str) -> None:
        """Inline text; its own leading and trailing white space counts as a gap."""
        words = text.split()
        if not words:
            if text:
                self.gap(" ")
            return
        if text[0].isspace():
            self.gap(" ")
        self._put(" ".join(words))
        if text[-1].isspace():
            self._gap = " "

    def lines(self, text: str) -> None:
        """Preformatted text, kept as it is."""
        if text.strip():
            self._put(text.strip("\n").rstrip())

    def _put(self, text: str) -> None:
        if self.length and self._gap:
            self.parts.append(self._gap)
            self.length += len(self._gap)
        self._gap = ""
        self.parts.append(text)
        self.length += len(text)

    @property
    def text(self) -> str:
        """All that was written."""
        return "".join(self.parts)


class Blocks:
    """The text under one node, with its headings and tables."""

    def __init__(self, root: LexborNode) -> None:
        self._out = Writer()
        self.headings: list[Heading] = []
        self.tables: list[Table] = []
        for node, entering in walk(root, self._whole):
            if entering:
                self._enter(node)
            else:
                self._edge(node)
        self.text = self._out.text

    def _whole(self, node: LexborNode) -> bool:
        """Is this node written as a whole, without walking into it?"""
        tag = node.tag
        return tag in _HEADINGS or tag in ("pre", "math", "textarea") or (tag == "table" and self._table(node))

    def _enter(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag == "-text":
            self._out.words(node.text_content or "")
            return
        self._edge(node)
        if tag in _HEADINGS:
            self._heading(node, _HEADINGS[tag])
        elif tag == "pre":
            self._out.lines(node.text())
        elif tag == "math":
            self._out.words(node.attributes.get("alttext") or node.text())

    def _edge(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag in _APART:
            self._out.gap("\n\n")
        elif tag in _LINES:
            self._out.gap("\n")
        elif tag in TABLE_PARTS:
            self._out.gap(" ")

    def _heading(self, node: LexborNode, level: int) -> None:
        text = flat(node)
        if text:
            self.headings.append(Heading(start=self._out.start(), level=level, text=text))
            self._out.words(text)
        self._out.gap("\n\n")

    def _table(self, node: LexborNode) -> bool:
        read = as_table(node, flat)
        if read is None:
            return False
        self._out.gap("\n\n")
        if read.caption:
            self._out.words(read.caption)
            self._out.gap("\n")
        start = self._out.start()
        for row in read.rows:
            self._out.words(" | ".join(row))
            self._out.gap("\n")
        self._out.gap("\n\n")
        self.tables.append(Table(start=start, end=self._out.length, caption=read.caption, rows=read.rows, headed=read.headed))
        return True


def flat(node: LexborNode) -> str:
    """The text under a node on one line."""
    parts: list[str] = []
    for child, entering in walk(node):
        tag = child.tag
        if tag == "-text":
            parts.append(child.text_content or "")
        elif tag in _APART or tag in _LINES or tag in TABLE_PARTS:
            parts.append(" ")
        elif tag == "math" and entering:
            parts.append(child.attributes.get("alttext") or "")
    return " ".join("".join(parts).split())


def walk(root: LexborNode, whole: Callable[[LexborNode], bool] | None = None) -> Iterator[tuple[LexborNode, bool]]:
    """Every node under `root` in document order, as (node, entering); elements come a second time when left, unless
    `whole(node)` says that they are not walked into."""
    node = root.first_child
    above: list[LexborNode] = []
    while node is not None:
        yield node, True
        skip = whole is not None and whole(node)
        child = None if skip else node.first_child
        if child is not None:
            above.append(node)
            node = child
            continue
        if not skip and node.tag != "-text":
            yield node, False
        following = node.next
        while following is None and above:
            node = above.pop()
            yield node, False
            following = node.next
        node = following
