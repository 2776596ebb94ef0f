"""Writes parts one after the other as one text, and notes where each starts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent.text.normalization import normalize_characters
from agent.types import Block, Heading, Table
from agent.types.web import BlockKind
from agent.web.extract.extraction import Extraction


class TextWriter:
    """Text as it grows: a run of white space becomes one space; one or two line ends separate blocks."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.length = 0
        self._gap = ""

    def require_gap(self, kind: str) -> None:
        """Ask for at least this gap (" ", a line end, two line ends) before what comes next."""
        if len(kind) > len(self._gap) or (kind != " " and self._gap == " "):
            self._gap = kind

    def next_offset(self) -> int:
        """The offset of the next word."""
        return self.length + (len(self._gap) if self.length else 0)

    def write_inline(self, text: str) -> None:
        """Write inline text; its own leading and trailing white space counts as a gap."""
        words = normalize_characters(text).split()
        if not words:
            if text:
                self.require_gap(" ")
            return
        if text[0].isspace():
            self.require_gap(" ")
        self._append(" ".join(words))
        if text[-1].isspace():
            self._gap = " "

    def write_preformatted(self, text: str) -> None:
        """Write preformatted text as it is."""
        if text.strip():
            self._append(text.strip("\n").rstrip())

    def _append(self, text: str) -> int:
        """Add text after the gap; returns where it starts."""
        if self.length and self._gap:
            self.parts.append(self._gap)
            self.length += len(self._gap)
        self._gap = ""
        self.parts.append(text)
        self.length += len(text)
        return self.length - len(text)


class DocumentWriter(TextWriter):
    """The parts of a document. Items and definitions get a line, everything else an empty line before it."""

    def __init__(self) -> None:
        super().__init__()
        self._reading = Extraction()

    def write_heading(self, text: str, level: int) -> None:
        """Add a heading on a line of its own."""
        if text := " ".join(text.split()):
            start = self._start(text)
            self._reading.headings.append(Heading(start=start, level=level, text=text))

    def write_block(self, text: str, kind: BlockKind = "paragraph") -> None:
        """Add text as a block of this kind; nothing for an empty one."""
        if text.strip():
            start = self._start(text, "\n" if kind in ("item", "definition") else "\n\n")
            self._reading.blocks.append(Block(kind, start, self.length))

    def write_table(self, rows: Sequence[Sequence[str]], caption: str = "") -> None:
        """Add a table, a row a line; rows without any text are left out, shorter ones filled up."""
        kept = [[" ".join(cell.split()) for cell in row] for row in rows]
        kept = [row for row in kept if any(row)]
        width = max(map(len, kept), default=0)
        kept = [row + [""] * (width - len(row)) for row in kept]
        if kept:
            start = self._start("\n".join(" | ".join(row) for row in kept))
            self._reading.tables.append(Table(start=start, end=self.length, caption=caption, rows=kept))

    def write_reading(self, part: Extraction) -> None:
        """Add what another reader made of a part of the document."""
        if not part.text:
            return
        start = self._start(part.text)
        for heading in part.headings:
            self._reading.headings.append(heading.replace(start=heading.start + start))
        for table in part.tables:
            self._reading.tables.append(table.replace(start=table.start + start, end=table.end + start))
        for block in part.blocks:
            self._reading.blocks.append(Block(block.kind, block.start + start, block.end + start))
        self._reading.links.extend(part.links)

    def finish(self, **known: Any) -> Extraction:
        """What was written, with the fields that are `known` otherwise (title, author ...)."""
        self._reading.text = "".join(self.parts)
        for name, value in known.items():
            setattr(self._reading, name, value)
        return self._reading

    def _start(self, text: str, gap: str = "\n\n") -> int:
        """Add text after a gap; returns where it starts."""
        self.require_gap(gap)
        return self._append(text)
