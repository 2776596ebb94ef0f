"""A tree of markup as continuous text: paragraphs in document order, headings, tables and blocks with their
offsets.

Reads every text node that is left after boilerplate was removed, and decides nothing. The walk is a loop, not
a recursion: depth costs nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

from agent.text import urls
from agent.text.normalization import lower_figures, normalize_characters, raise_figures
from agent.types import Anchor, Block, Heading, Link, Table
from agent.types.web import BlockKind
from agent.web.extract.extraction import MAX_COLUMNS, MAX_LINKS, MAX_ROWS, Extraction
from agent.web.extract.nodes import names_of
from agent.web.extract.writer import TextWriter
from agent.web.link_targets import resolve_anchors

TABLE_CELL_TAGS = frozenset(("td", "th"))
_PARAGRAPH_TAGS = frozenset(
    "p h1 h2 h3 h4 h5 h6 table ul ol dl blockquote pre section article figure hr main".split()
)
_LINE_TAGS = frozenset(
    "div li dt dd address tr figcaption caption details summary option fieldset legend form header "
    "footer aside nav body center br".split()
)
_HEADING_LEVELS = {f"h{n}": n for n in range(1, 7)}
_LINK_HOLDERS = (
    (_PARAGRAPH_TAGS | _LINE_TAGS) - _HEADING_LEVELS.keys() - frozenset("li dt dd br hr table pre".split())
)
"""What may be a list or line of links."""
MIN_LINKED_SHARE = 0.9
"""A list or line with this share of its characters in links is nothing but links."""
MAX_SEPARATOR_CHARS = 4
"""A text between links of at most this length is a number or a separator (" » ")."""


class TextBlocks:
    """The text under one node, with its headings, tables and blocks; `posts` are the ids (`mem_id`) of the
    nodes that are forum posts."""

    def __init__(self, root: LexborNode, posts: frozenset[int] = frozenset()) -> None:
        self._posts = posts
        self._out = TextWriter()
        self.reading = Extraction()
        """Its anchors are the links in running text and in the cells of tables, as their pages spell them."""
        self._open_anchors: list[int] = []
        self._open_blocks: list[Block] = []
        self._open_links: list[tuple[int, int, int, int]] = []
        """Of each open holder of links: characters, those in links and between them, and links before it."""
        self._line = (0, 0, 0, 0)
        """The same of the line that is written."""
        self._linked, self._between, self._links, self._in_link = 0, 0, 0, 0
        for node, entering in walk_nodes(root, self._is_atomic):
            if entering:
                self._write_node(node)
                continue
            self._write_gap(node)
            if node.tag == "a":
                self._in_link -= 1
                self._add_anchor(node, self._open_anchors.pop())
            if self._block_kind(node):
                block = self._open_blocks.pop()
                block.end = self._out.length
                self.reading.blocks.append(block)
            if node.tag in _LINK_HOLDERS:
                self._mark_links(self._open_links.pop(), 1 if node.tag in ("ul", "ol", "dl") else 2)
        text, blocks = "".join(self._out.parts), self.reading.blocks
        # Begin each block at its first word; drop the empty ones, what repeats the block around it, and
        # what is inside of links; put them in order
        for block in blocks:
            if block.kind != "code":
                inside = text[block.start : block.end]
                block.start += len(inside) - len(inside.lstrip())
        order = {"links": 0, "paragraph": 2}
        blocks.sort(key=lambda block: (block.start, -block.end, order.get(block.kind, 1)))
        kept, menu_end = list[Block](), 0
        for block in blocks:
            before = kept[-1] if kept else block
            repeats = block is not before and (before.start, before.end) == (block.start, block.end)
            is_in_menu = block.start < menu_end and block.kind != "item"
            if block.start < block.end and not is_in_menu and not (repeats and block.kind == "paragraph"):
                kept.append(block)
                menu_end = block.end if block.kind == "links" else menu_end
        self.reading.text, self.reading.blocks = text, kept

    def _is_atomic(self, node: LexborNode) -> bool:
        """Whether this node is written as a whole, without walking into it."""
        tag = node.tag
        return (
            tag in _HEADING_LEVELS
            or (tag in ("sup", "sub") and bool(shift_figures(node)))
            or tag in ("pre", "math", "textarea")
            or (tag == "table" and self._write_table(node))
        )

    def _write_node(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag == "-text":
            before = self._out.length
            self._out.write_inline(node.text_content or "")
            added = self._out.length - before
            if self._in_link:
                self._linked += added
            elif added <= MAX_SEPARATOR_CHARS:
                self._between += added
            return
        self._write_gap(node)
        if tag in _LINK_HOLDERS:
            self._open_links.append(self._count_links())
        if tag in _HEADING_LEVELS:
            level = _HEADING_LEVELS[tag]
            text = inline_text(node)
            if text:
                self.reading.headings.append(Heading(start=self._out.next_offset(), level=level, text=text))
                self._out.write_inline(text)
            self._out.require_gap("\n\n")
            self._line = self._count_links()
        elif tag == "pre":
            start = self._out.next_offset()
            self._out.write_preformatted(node.text())
            self.reading.blocks.append(Block("code", start, self._out.length))
            self._out.require_gap("\n\n")
        elif kind := self._block_kind(node):
            self._open_blocks.append(Block(kind, self._out.length, 0))
        elif tag == "a":
            self._in_link += 1
            self._links += 1
            self._open_anchors.append(self._out.length)
        elif tag in ("sup", "sub"):
            start = self._out.length
            self._out.write_inline(shift_figures(node))
            self._add_anchor(node.css_first("a[href]"), start)
        elif tag == "math":
            self._out.write_inline(node.attributes.get("alttext") or node.text())

    def _add_anchor(self, node: LexborNode | None, start: int, end: int = 0) -> None:
        """A link from `start` to `end`, else to the end of what is written."""
        href = (node.attributes.get("href") or "") if node is not None else ""
        if href and start < (end or self._out.length):
            self.reading.anchors.append(Anchor(start, end or self._out.length, href))

    def _block_kind(self, node: LexborNode) -> BlockKind | None:
        is_post = bool(self._posts) and node.mem_id in self._posts
        kinds: dict[str, BlockKind] = {"p": "paragraph", "dt": "term", "dd": "definition", "li": "item"}
        return "post" if is_post else kinds.get(node.tag or "")

    def _count_links(self) -> tuple[int, int, int, int]:
        return self._out.length, self._linked, self._between, self._links

    def _mark_links(self, before: tuple[int, int, int, int], least: int) -> None:
        """Add a block of links where what was written since `before` is nothing else; not inside of an item
        or a definition, which says more by its place."""
        chars, linked, between, links = (
            now - then for now, then in zip(self._count_links(), before, strict=True)
        )
        is_linked = between <= linked >= MIN_LINKED_SHARE * (chars - between)
        if is_linked and links >= least and not self._open_blocks:
            self.reading.blocks.append(Block("links", before[0], self._out.length))

    def _write_gap(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag in _PARAGRAPH_TAGS or tag in _LINE_TAGS:
            self._mark_links(self._line, 2)
            self._line = self._count_links()
        if tag in _PARAGRAPH_TAGS:
            self._out.require_gap("\n\n")
        elif tag in _LINE_TAGS:
            self._out.require_gap("\n")
        elif tag in TABLE_CELL_TAGS:
            self._out.require_gap(" ")

    def _write_table(self, node: LexborNode) -> bool:
        read = parse_table(node)
        if read is None:
            return False
        self._out.require_gap("\n\n")
        if read.caption:
            self._out.write_inline(read.caption)
            self._out.require_gap("\n")
        start = self._out.next_offset()
        lines = [" ".join(" | ".join(row).split()) for row in read.rows]
        for line in lines:
            self._out.write_inline(line)
            self._out.require_gap("\n")
        self._out.require_gap("\n\n")
        self._line = self._count_links()
        text, at = "\n".join(lines), 0
        for cell, words in read.cells:  # the links in the cells, found by their words in the table's text
            if (here := text.find(words, at)) < 0:
                continue
            at = here + len(words)
            for link in cell.css("a[href]"):
                said = inline_text(link)
                found = max(text.find(one, here, at) for one in (said, raise_figures(said)))
                if said and found >= 0:
                    here = found + len(said)
                    self._add_anchor(link, start + found, start + here)
        self.reading.tables.append(
            Table(start=start, end=self._out.length, caption=read.caption, rows=read.rows, headed=read.headed)
        )
        return True


def extract_fragment(html: str) -> Extraction:
    """The text of markup that is all content, with its structure and links; an empty one without text."""
    body = LexborHTMLParser(f"<html><body>{html}</body></html>").body
    if body is None or not (reading := TextBlocks(body).reading).text.strip():
        return Extraction()
    reading.links = list_links(body, "")
    reading.anchors = resolve_anchors(reading.anchors, reading.text, html, "")
    return reading


def list_links(root: LexborNode, base: str) -> list[Link]:
    """The addresses that a page links to, each once, with the text of its first link that has one."""
    found: dict[str, str] = {}
    for node in root.css("a[href], area[href]"):
        href = node.attributes.get("href") or ""
        if href and href[0] != "#" and (address := urls.resolve(base, href)):
            image = node.css_first("img[alt]")
            texts = [inline_text(node), names_of(node, "aria-label"), names_of(node, "title")]
            texts += [names_of(image, "alt")] if image is not None else []
            found[address] = found.get(address) or " ".join(next(filter(None, texts), "").split())[:300]
            if len(found) >= MAX_LINKS:
                break
    return [Link(url=address, text=text) for address, text in found.items()]


def readable_text(node: LexborNode) -> str:
    """The text under a node in paragraphs; that of a table cell on one line."""
    return inline_text(node) if node.tag in TABLE_CELL_TAGS else TextBlocks(node).reading.text.strip()


def inline_text(node: LexborNode) -> str:
    """The text under a node on one line."""
    parts: list[str] = []
    for child, entering in walk_nodes(node, lambda child: bool(shift_figures(child))):
        tag = child.tag
        if tag == "-text":
            parts.append(child.text_content or "")
        elif tag in _PARAGRAPH_TAGS or tag in _LINE_TAGS or tag in TABLE_CELL_TAGS:
            parts.append(" ")
        elif tag in ("sup", "sub"):
            parts.append(shift_figures(child) if entering else "")
        elif tag == "math" and entering:
            parts.append(child.attributes.get("alttext") or "")
    return " ".join(normalize_characters("".join(parts)).split())


def shift_figures(node: LexborNode) -> str:
    """The figures of a raised element as superscripts ("10<sup>2</sup>" is "10²", not "102"), of a lowered
    one behind a figure as subscripts; "" for any other node."""
    if node.tag == "sup":
        return raise_figures(node.text(strip=True))
    before = node.prev if node.tag == "sub" else None
    is_index = before is not None and (before.text_content or "")[-1:].isdecimal()
    return lower_figures(node.text(strip=True)) if is_index else ""


def walk_nodes(
    root: LexborNode, whole: Callable[[LexborNode], bool] | None = None
) -> Iterator[tuple[LexborNode, bool]]:
    """Every node under `root` in document order, as (node, entering); elements come a second time when left,
    unless `whole(node)` says that they are not walked into."""
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


# A `<table>` as rows of cells with its spans filled in: a cell that spans rows is repeated in each of them,
# so that each reads alone; one that spans columns is followed by empty cells.

MIN_FRAMED_WORDS = 8
"""Words from which a cell beside a short one, alone in their table, is a text and not a value."""
_MIN_PROSE_CHARACTERS = 1_000
"""A longer cell is prose; a table where more than every fifth cell is prose is layout."""


@dataclass
class TableGrid:
    """A table's caption, its rows in order, and its cells with their texts. `headed`: whether the first row
    names the columns."""

    caption: str
    rows: list[list[str]]
    cells: list[tuple[LexborNode, str]]
    headed: bool


def parse_table(node: LexborNode) -> TableGrid | None:
    """The table's rows; None when it is one cell wide, holds other tables, a page's title or mostly prose,
    frames a text, or is declared layout."""
    is_declared_layout = node.attributes.get("role") in ("presentation", "none")
    if is_declared_layout or any(child.css_first("table, :not(caption) > h1") for child in node.iter()):
        return None
    caption, rows = "", list[LexborNode]()
    for child in node.iter():
        if child.tag == "caption":
            caption = inline_text(child)
        elif child.tag == "tr":
            rows.append(child)
        elif child.tag in ("thead", "tbody", "tfoot"):
            rows += [row for row in child.iter() if row.tag == "tr"]
    cells: list[tuple[LexborNode, str]] = []
    grid = _expand_spans(rows[:MAX_ROWS], cells)
    # a table only puts a frame around a text ("Note" beside or above it) where no row has two cells with
    # text, or its only row is a short word and a sentence
    is_frame, count, long = True, 0, 0
    for row in grid:
        texts = list(filter(None, row))
        count += len(texts)
        for text in texts:
            long += len(text) > _MIN_PROSE_CHARACTERS
        is_short = len(grid) == 1 and len(texts) == 2 and len(texts[0].split()) < 3
        is_note = is_short and len(texts[1].split()) >= MIN_FRAMED_WORDS
        is_frame = is_frame and (len(texts) < 2 or is_note)
    if is_frame or long > count / 5:
        return None
    # False where the first row begins with its own name as a header cell ("Weight", "310 g")
    first = next(row for row in rows if inline_text(row))
    tags = [node.tag for node in first.iter() if node.tag in TABLE_CELL_TAGS]
    return TableGrid(caption, grid, cells, headed=not (tags[:1] == ["th"] and "td" in tags[1:]))


def _expand_spans(rows: list[LexborNode], cells: list[tuple[LexborNode, str]]) -> list[list[str]]:
    """The texts of the rows' cells, of those rows that have any; each cell is added to `cells`."""
    hanging: dict[int, tuple[int, str]] = {}
    spread = []
    for row in rows:
        line: list[str] = []
        for node in [*(node for node in row.iter() if node.tag in TABLE_CELL_TAGS), None]:
            while (held := hanging.pop(len(line), None)) and len(line) < MAX_COLUMNS:
                left, said = held
                if left > 1:
                    hanging[len(line)] = (left - 1, said)
                line.append(said)
            if node is None:
                break
            cells.append((node, text := inline_text(node)))
            stated = (node.attributes.get(name) or "" for name in ("colspan", "rowspan"))
            wide, high = (int(value) if value.isdecimal() and len(value) < 7 else 1 for value in stated)
            for said in [text, *[""] * (min(wide, MAX_COLUMNS) - 1)][: MAX_COLUMNS - len(line)]:
                if high > 1:
                    hanging[len(line)] = (high - 1, said)
                line.append(said)
        if any(line):
            spread.append(line)
    return spread
