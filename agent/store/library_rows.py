"""The library's records as the store reads and writes them, and the conditions that select sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Row, and_, or_, select

from agent.store import fulltext, tables
from agent.types import LibrarySource, Page, Passage
from agent.types.web import PassageKind

s = tables.sources.c
_SOURCE_FIELDS = [name for name in LibrarySource.model_fields if name != "tags"]
_PASSAGE_FIELDS = (
    *("page_id", "url", "title", "heading", "kind", "label", "text", "start", "end"),
    *("source_id", "published_at"),
)


@dataclass(frozen=True)
class IndexedPassage:
    """A passage to index: its place in the page's text, its heading, and its terms, joined by blanks."""

    n: int
    start: int
    end: int
    heading: str
    kind: PassageKind
    label: str
    head: str
    body: str


@dataclass(frozen=True)
class IndexedSource:
    """A source with its row number, its terms' fingerprint, and the folder and signature of its file."""

    row: int
    source: LibrarySource
    words: str = ""
    origin: str = ""
    mark: str = ""
    by_run: bool = False
    """Whether only runs brought it."""


@dataclass(frozen=True)
class SourceUpdate:
    """A source to index: its passages, its page, and the source it replaces with its full-text rows."""

    source: LibrarySource
    pieces: Sequence[IndexedPassage]
    page: Page
    index_columns: dict[str, str | int]
    """Further columns of the source: words, folded, places, origin, mark, by_run."""
    former: IndexedSource | None = None
    former_rows: Sequence[fulltext.FulltextRow] = ()


@dataclass(frozen=True)
class SourceQuery:
    """Conditions on sources; an empty field is no condition."""

    text: str = ""
    """Words (folded), all of which are in the title, address or description."""
    tag: str = ""
    kind: str = ""
    deleted: bool = False
    fetched_before: str = ""
    """Fetched before this time, or without their file."""
    source_ids: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    """With `source_ids`: one of the ids or one of the tags."""
    places: bool = False
    """Only those with facilities."""
    added_only: bool = False
    """Without those that only runs brought."""
    is_limited: bool = False
    """Only sources of `source_ids` or `tags`, even when both are empty."""

    def clauses(self) -> list[ColumnElement[bool]]:
        """The conditions as SQL, all of which must hold."""
        asked: list[ColumnElement[bool]] = [s.deleted_at != "" if self.deleted else s.deleted_at == ""]
        asked += [s.folded.contains(word, autoescape=True) for word in self.text.split()]
        if self.tag:
            asked.append(_has_tag([self.tag]))
        if self.kind:
            asked.append(s.kind == self.kind)
        if self.places:
            asked.append(s.places > 0)
        if self.added_only:
            asked.append(s.by_run == 0)
        if self.fetched_before:
            asked.append(or_(and_(s.fetched_at != "", s.fetched_at < self.fetched_before), s.gone_at != ""))
        if self.is_limited or self.source_ids or self.tags:
            asked.append(or_(s.source_id.in_(self.source_ids), _has_tag(self.tags)))
        return asked


def _has_tag(tags: Sequence[str]) -> ColumnElement[bool]:
    return s.id.in_(select(tables.source_tags.c.source).where(tables.source_tags.c.tag.in_(tags)))


def source_from_row(row: Row[Any], tags: Sequence[str]) -> IndexedSource:
    """A row of the sources table."""
    values = {name: getattr(row, name) for name in _SOURCE_FIELDS}
    source = LibrarySource.model_construct(**values, tags=list(tags))
    return IndexedSource(row.id, source, row.words, row.origin, row.mark, bool(row.by_run))


def passage_from_row(row: Row[Any]) -> Passage:
    """A row of the passages table, joined with its source and the text of its page."""
    values = {name: getattr(row, name) for name in _PASSAGE_FIELDS}
    return Passage(**values, id=f"{row.page_id}:{row.n}")
