"""Writes a document's parts one after the other as one text, and notes where each starts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent.types import Block, Heading, Table
from agent.types.web import BlockKind
from agent.web.extract.extraction import Extraction


class DocumentWriter:
    """A text as it grows. Items and definitions get a line, everything else an empty line before it."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._reading = Extraction()
        self.length = 0

    def write_heading(self, text: str, level: int) -> None:
        """Add a heading on a line of its own."""
        if text := " ".join(text.split()):
            start = self._append(text, "\n\n")
            self._reading.headings.append(Heading(start=start, level=level, text=text))

    def write_block(self, text: str, kind: BlockKind = "paragraph") -> None:
        """Add text as a block of this kind; nothing for an empty one."""
        if text.strip():
            start = self._append(text, "\n" if kind in ("item", "definition") else "\n\n")
            self._reading.blocks.append(Block(kind, start, self.length))

    def write_table(self, rows: Sequence[Sequence[str]], caption: str = "") -> None:
        """Add a table, a row a line; rows without any text are left out, shorter ones filled up."""
        kept = [[" ".join(cell.split()) for cell in row] for row in rows]
        kept = [row for row in kept if any(row)]
        width = max(map(len, kept), default=0)
        kept = [row + [""] * (width - len(row)) for row in kept]
        if kept:
            start = self._append("\n".join(" | ".join(row) for row in kept), "\n\n")
            self._reading.tables.append(Table(start=start, end=self.length, caption=caption, rows=kept))

    def write_reading(self, part: Extraction) -> None:
        """Add what another reader made of a part of the document."""
        if not part.text:
            return
        start = self._append(part.text, "\n\n")
        for heading in part.headings:
            self._reading.headings.append(heading.replace(start=heading.start + start))
        for table in part.tables:
            self._reading.tables.append(table.replace(start=table.start + start, end=table.end + start))
        for block in part.blocks:
            self._reading.blocks.append(Block(block.kind, block.start + start, block.end + start))
        self._reading.links.extend(part.links)

    def finish(self, **known: Any) -> Extraction:
        """What was written, with the fields that are `known` otherwise (title, author ...)."""
        self._reading.text = "".join(self._parts)
        for name, value in known.items():
            setattr(self._reading, name, value)
        return self._reading

    def _append(self, text: str, gap: str) -> int:
        """Add text after a gap; returns where it starts."""
        if self._parts:
            self._parts.append(gap)
            self.length += len(gap)
        start = self.length
        self._parts.append(text)
        self.length += len(text)
        return start
