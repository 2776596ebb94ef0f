"""Markdown as text: headings, pipe tables and links are found and their marks removed; code blocks stay as
they are.

markdown-it-py parses (CommonMark with GitHub's tables); this module writes its tokens as text with
offsets."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from agent.text import urls
from agent.text.normalization import normalize_characters
from agent.types import Block, Heading, Link, Outcome, Table
from agent.types.web import BlockKind
from agent.web.extract.extraction import Extraction

if TYPE_CHECKING:
    from markdown_it.token import Token


_TITLE = re.compile(r"^title[ \t]*:[ \t]*[\"']?(.{1,300}?)[\"']?[ \t]*$", re.IGNORECASE | re.MULTILINE)
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.{0,5000}?)\n(?:---|\.\.\.)[ \t]*\n", re.DOTALL)
_EMPTY = "The document holds no text: there is nothing to add."


def extract_markdown(source: str) -> Extraction:
    """The text without its marks; the title is the front matter's, else the first heading of the highest
    level."""
    from markdown_it import MarkdownIt  # imported here: few documents need it

    source = normalize_characters(source.replace("\r\n", "\n").replace("\r", "\n"))
    front = _FRONT_MATTER.match(source)
    stated = _TITLE.search(front[1]) if front else None
    writer = _MarkdownText()
    writer.write(MarkdownIt("commonmark").enable("table").parse(source[front.end() :] if front else source))
    text = "".join(writer.parts).rstrip()
    if not text:
        return Extraction(outcome=Outcome.EMPTY, detail=_EMPTY)
    top = min((heading.level for heading in writer.headings), default=0)
    first = next((heading.text for heading in writer.headings if heading.level == top), "")
    links = [Link(url=url, text=anchor) for url, anchor in writer.links.items()]
    title = stated[1] if stated else first
    return Extraction(
        title=title,
        text=text,
        headings=writer.headings,
        tables=writer.tables,
        blocks=sorted(writer.blocks, key=lambda block: (block.start, -block.end)),
        links=links,
    )


class _MarkdownText:
    """Tokens written as text, with the headings, tables, blocks and links in it."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.length = 0
        self.headings: list[Heading] = []
        self.tables: list[Table] = []
        self.blocks: list[Block] = []
        self.links: dict[str, str] = {}
        self._items: list[int] = []
        """Where each open list item starts."""
        self._counters: list[int] = []
        """The next number of each open list; 0 in a list without numbers."""
        self._mark = ""
        """The mark of the list item that begins with the next line."""
        self._rows: list[list[str]] = []

    def write(self, tokens: list[Token]) -> None:
        """Write a document's tokens, an empty line behind each block."""
        from markdown_it.token import Token

        for before, token in pairwise([Token("", "", 0), *tokens]):
            match token.type:
                case "inline":
                    self._write_inline(before, self._read_inline(token.children or []))
                case "fence" | "code_block" | "html_block":
                    self._write_code(token)
                case "bullet_list_open" | "ordered_list_open":
                    self._counters.append(int(token.attrGet("start") or 1) if token.tag == "ol" else 0)
                case "bullet_list_close" | "ordered_list_close":
                    self._counters.pop()
                case "list_item_open":
                    self._open_item()
                case "list_item_close":
                    self._add_block("item", self._items.pop())
                case "table_open":
                    self._rows = []
                case "tr_open":
                    self._rows.append([])
                case "table_close":
                    self._write_table()
            if token.level == 0 and token.nesting <= 0 and token.type != "inline":
                self._add_line("")

    def _write_code(self, token: Token) -> None:
        start = self.length + len(self._mark)
        self._add_line(token.content.rstrip("\n"))
        if token.type != "html_block":
            self._add_block("code", start)

    def _add_block(self, kind: BlockKind, start: int) -> None:
        """Add a block that ends with the last line written."""
        if start < self.length - 1:
            self.blocks.append(Block(kind, start, self.length - 1))

    def _open_item(self) -> None:
        self._items.append(self.length)
        number = self._counters[-1]
        self._mark = "  " * (len(self._counters) - 1) + (f"{number}. " if number else "- ")
        self._counters[-1] += 1 if number else 0

    def _read_inline(self, children: list[Token]) -> str:
        parts: list[str] = []
        open_links: list[tuple[str, int]] = []
        for child in children:
            match child.type:
                case "softbreak":
                    parts.append(" ")
                case "hardbreak":
                    parts.append("\n")
                case "link_open":
                    open_links.append((urls.resolve("", str(child.attrGet("href") or "")), len(parts)))
                case "link_close":
                    address, start = open_links.pop()
                    if address:
                        self.links.setdefault(address, "".join(parts[start:]))
                case _:
                    parts.append(child.content)
        return "".join(parts)

    def _write_inline(self, opening: Token, text: str) -> None:
        if opening.type in ("th_open", "td_open"):
            self._rows[-1].append(text)
        elif opening.type == "heading_open":
            if line := " ".join(text.split()):
                level = int(opening.tag[1:])
                self.headings.append(Heading(start=self.length + len(self._mark), level=level, text=line))
                self._add_line(line)
        else:
            start = self.length
            self._add_line(text)
            if not self._items:
                self._add_block("paragraph", start)

    def _write_table(self) -> None:
        start = self.length + len(self._mark)
        self._add_line("\n".join(" | ".join(row) for row in self._rows))
        self.tables.append(Table(start=start, end=self.length - 1, rows=self._rows))

    def _add_line(self, text: str) -> None:
        self.parts.append(f"{self._mark}{text}\n")
        self.length += len(self.parts[-1])
        self._mark = ""
