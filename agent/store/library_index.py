"""The library's index: sources, where their passages are in the stored pages, and their terms.

It stores rows; texts are split and terms made by the library. Each change is one transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    JSON,
    ColumnElement,
    Connection,
    Row,
    Select,
    and_,
    bindparam,
    delete,
    func,
    insert,
    or_,
    select,
    type_coerce,
    update,
)

from agent.errors import NotFound
from agent.store import fulltext, pages, tables
from agent.store.table_access import TableAccess
from agent.types import LibrarySource, Page, Passage
from agent.types.web import PassageKind

s, p, t = tables.sources.c, tables.passages.c, tables.source_tags.c
u, m = tables.unindexed_pages.c, tables.library_metadata.c


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
    """A source to index: its passages, its page, and the source it replaces."""

    source: LibrarySource
    pieces: Sequence[IndexedPassage]
    page: Page
    index_columns: dict[str, str | int]
    """Further columns of the source: words, folded, places, origin, mark, by_run."""
    former: IndexedSource | None = None


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


class LibraryIndex(TableAccess):
    """Reads and writes the library's tables, except for the vectors."""

    def get(self, source_id: str) -> IndexedSource | None:
        """The source of this id, deleted or not; None when there is none."""
        return next(iter(self._sources(select(tables.sources).where(s.source_id == source_id))), None)

    def _sources(self, query: Select[Any]) -> list[IndexedSource]:
        with self._reader.connect() as connection:
            rows = connection.execute(query).all()
            tags: dict[int, list[str]] = {row.id: [] for row in rows}
            named = select(t.source, t.tag).where(t.source.in_(tags)).order_by(t.source, t.tag)
            for found in connection.execute(named) if rows else ():
                tags[found.source].append(found.tag)
        return [source_from_row(row, tags[row.id]) for row in rows]

    def put(self, entries: Sequence[SourceUpdate]) -> set[str]:
        """Index sources with their passages in one transaction, each in place of its `former` text. Returns
        the ids of those that were skipped because the source is no longer as `former` says."""
        with self._writer.begin() as connection:
            return {entry.source.source_id for entry in entries if not self._put(connection, entry)}

    def _put(self, connection: Connection, entry: SourceUpdate) -> bool:
        source, former = entry.source, entry.former
        stored = connection.execute(
            select(s.id, s.page_id, s.words).where(s.source_id == source.source_id)
        ).first()
        expected = former and (former.row, former.source.page_id, former.words)
        if (tuple(stored) if stored else None) != expected:
            return False
        pages.insert_page(connection, entry.page, source.page_id)
        values = source.model_dump(exclude={"tags"}) | {"passages": len(entry.pieces), **entry.index_columns}
        if stored is None:
            row = int(connection.execute(insert(tables.sources).values(values)).inserted_primary_key[0])  # type: ignore[index]
        else:
            row = stored.id
            connection.execute(update(tables.sources).where(s.id == row).values(values))
            fulltext.remove(connection, row)
        same = stored is not None and stored.page_id == source.page_id
        ids = self._store_passages(connection, row, entry.pieces, same=same)
        terms = [(id, piece.head, piece.body) for id, piece in zip(ids, entry.pieces, strict=True)]
        fulltext.add(connection, terms)
        _add_tags(connection, row, source.tags)
        connection.execute(delete(tables.unindexed_pages).where(u.page_id == source.page_id))
        return True

    def _store_passages(
        self, connection: Connection, row: int, pieces: Sequence[IndexedPassage], *, same: bool
    ) -> list[int]:
        """The ids of the passages: those of the old ones where text and places are the `same` (their vectors
        stay valid), else new ones."""
        of_source = (
            select(p.id, p.start, p.end, p.heading, p.kind, p.label).where(p.source == row).order_by(p.n)
        )
        old = connection.execute(of_source).all()
        places = [(piece.start, piece.end, piece.heading, piece.kind, piece.label) for piece in pieces]
        if same and old and [tuple(passage[1:]) for passage in old] == places:
            return [passage.id for passage in old]
        _delete_passages(connection, row)
        if not pieces:
            return []
        columns = ("n", "start", "end", "heading", "kind", "label")
        values = [{name: getattr(piece, name) for name in columns} | {"source": row} for piece in pieces]
        connection.execute(insert(tables.passages), values)  # RETURNING would take four times as long
        return list(connection.scalars(select(p.id).where(p.source == row).order_by(p.n)))

    def sources_of_page(self, page_id: str) -> list[IndexedSource]:
        """The sources whose text is this stored page."""
        return self._sources(select(tables.sources).where(s.page_id == page_id))

    def set(self, source_id: str, **values: Any) -> None:
        """Set columns of a source. Raises NotFound."""
        if self._write(update(tables.sources).where(s.source_id == source_id).values(values)) != 1:
            raise NotFound(f"the library has no source {source_id}")

    def tag(self, source_id: str, tags: Iterable[str], *, away: bool = False) -> None:
        """Add tags to a source, or remove them. Raises NotFound."""
        with self._writer.begin() as connection:
            row = connection.scalar(select(s.id).where(s.source_id == source_id))
            if row is None:
                raise NotFound(f"the library has no source {source_id}")
            if away:
                connection.execute(delete(tables.source_tags).where(t.source == row, t.tag.in_(list(tags))))
            else:
                _add_tags(connection, row, tags)

    def sources(
        self, where: SourceQuery, *, limit: int = 200, offset: int = 0, oldest: bool = False
    ) -> list[LibrarySource]:
        """Sources, newest first, or oldest first."""
        order = (s.added_at, s.id) if oldest else (s.added_at.desc(), s.id.desc())
        query = select(tables.sources).where(*where.clauses()).order_by(*order).limit(limit).offset(offset)
        return [indexed.source for indexed in self._sources(query)]

    def count(self, where: SourceQuery) -> int:
        """How many sources there are."""
        query = select(func.count()).select_from(tables.sources).where(*where.clauses())
        return int(self._scalar(query) or 0)

    def source_rows(self, where: SourceQuery) -> list[int]:
        """The row numbers of the sources."""
        return self._scalars(select(s.id).where(*where.clauses()))

    def sources_of_folder(self, origin: str) -> list[IndexedSource]:
        """The sources synchronised with a folder ("kb", "team"), with the deleted and the missing ones."""
        return self._sources(select(tables.sources).where(s.origin == origin))

    def tags(self) -> dict[str, int]:
        """Every tag with its number of sources."""
        query = select(t.tag, func.count()).join(tables.sources, s.id == t.source).where(s.deleted_at == "")
        return {row[0]: row[1] for row in self._rows(query.group_by(t.tag).order_by(t.tag))}

    def list_deleted(self, until: str) -> list[IndexedSource]:
        """The sources deleted until then, except those whose file is still in a synchronised folder."""
        no_file = or_(s.origin == "", s.gone_at != "")
        deleted = select(tables.sources).where(s.deleted_at != "", s.deleted_at <= until, no_file)
        return [source_from_row(row, []) for row in self._rows(deleted)]

    def purge(self, gone: Sequence[IndexedSource]) -> int:
        """Remove deleted sources for good; those restored meanwhile are kept. Returns how many went. A stored
        page goes with its last source, unless a step of a run names it."""
        with self._writer.begin() as connection:
            purged: list[str] = []
            for one in gone:
                same = (s.id == one.row, s.page_id == one.source.page_id, s.words == one.words)
                deleted = delete(tables.sources).where(*same, s.deleted_at != "")
                if connection.execute(deleted).rowcount == 1:
                    purged.append(one.source.page_id)
                    fulltext.remove(connection, one.row)
                    _delete_passages(connection, one.row)
                    connection.execute(delete(tables.source_tags).where(t.source == one.row))
            texts = set(purged) - set(connection.scalars(select(s.page_id)))
            changes = connection.scalars(select(tables.steps.c.change)) if texts else ()
            texts -= {found for change in changes for found in pages.PAGE_ID.findall(change)}
            connection.execute(delete(tables.unindexed_pages).where(u.page_id.in_(texts)))
            connection.execute(delete(tables.pages).where(tables.pages.c.id.in_(texts)))
        return len(purged)

    @property
    def has_fulltext(self) -> bool:
        """Is there a full-text index? Only on SQLite."""
        return self._reader.dialect.name == "sqlite"

    def search(
        self, terms: Sequence[str], k: int, within: Collection[int] | None = None
    ) -> list[tuple[int, float]]:
        """Ids of the passages that match any of the terms best, best first, with their BM25 score; deleted
        sources are left out, and those that are not `within` (a large part of all, or this is slow)."""
        wanted = k
        while True:
            with self._reader.connect() as connection:
                found = fulltext.search(connection, terms, wanted)
                ids = p.id.in_([row for row, _ in found])
                query = (
                    select(p.id, s.id).join(tables.sources, s.id == p.source).where(ids, s.deleted_at == "")
                )
                rows = connection.execute(query).all()
            alive = {row for row, source in rows if within is None or source in within}
            kept = [(row, score) for row, score in found if row in alive]
            if len(kept) >= k or len(found) < wanted:
                return kept[:k]
            wanted *= 4

    def match_terms(
        self, terms: Sequence[str], within: Sequence[int], *, inflected: bool = False
    ) -> tuple[int, dict[str, dict[int, float]]]:
        """How many passages these sources have, and for each term those that hold it, by id, with the
        saturated count of its occurrences (see fulltext.match_terms)."""
        with self._reader.connect() as connection:
            found = fulltext.match_terms(connection, terms, within, inflected=inflected)
        return self.passage_count(within), found

    def passages(self, scored: Sequence[tuple[int, float]]) -> list[tuple[Passage, float]]:
        """Passages with their texts and their given scores, in order; deleted ones are left out."""
        page = tables.pages.c
        text = func.substr(page.text, p.start + 1, p.end - p.start).label("text")
        day = func.coalesce(type_coerce(page.record, JSON)["published_at"].as_string(), "").label(
            "published_at"
        )
        place = (p.id, p.n, p.start, p.end, p.heading, p.kind, p.label)
        columns = (*place, s.source_id, s.page_id, s.url, s.title, text, day)
        query = (
            select(*columns)
            .join(tables.sources, s.id == p.source)
            .join(tables.pages, page.id == s.page_id)
            .where(p.id.in_([row for row, _ in scored]), s.deleted_at == "")
        )
        found = {row.id: passage_from_row(row) for row in self._rows(query)}
        return [(found[row], score) for row, score in scored if row in found]

    def document_frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        """How many passages, deleted ones included, hold each term; terms without a passage are left out."""
        with self._reader.connect() as connection:
            return fulltext.document_frequencies(connection, terms)

    def passage_count(self, within: Collection[int] | None = None) -> int:
        """The number of passages, deleted ones included; `within`: of these sources."""
        query = select(func.coalesce(func.sum(s.passages), 0))
        if within is not None:  # written out: a query has at most 32,766 parameters
            query = query.where(
                s.id.in_(bindparam("rows", list(within), expanding=True, literal_execute=True))
            )
        return int(self._scalar(query) or 0)

    def list_unindexed(self, most: int) -> list[str]:
        """Ids of stored pages that wait to be indexed."""
        return self._scalars(select(u.page_id).limit(most))

    def list_unindexed_of(self, page_ids: Collection[str]) -> list[str]:
        """Those of these pages that wait to be indexed."""
        return self._scalars(select(u.page_id).where(u.page_id.in_(list(page_ids))))

    def rows_of_pages(self, page_ids: Collection[str]) -> dict[str, int]:
        """For each of these pages that is the text of a source, not deleted, the row of one such source."""
        query = select(s.page_id, s.id).where(s.page_id.in_(list(page_ids)), s.deleted_at == "")
        return {row.page_id: row.id for row in self._rows(query)}

    def mark_indexed(self, page_ids: Collection[str]) -> None:
        """These pages no longer wait to be indexed."""
        self._write(delete(tables.unindexed_pages).where(u.page_id.in_(list(page_ids))))

    def fingerprint(self) -> str:
        """How the terms of the full-text index were made; "" when it has none."""
        return self._scalar(select(m.value).where(m.name == "words")) or ""

    def reset_fulltext(self, fingerprint: str) -> None:
        """Empty the full-text index because terms are made another way from now on (`fingerprint`); the pages
        of all sources wait to be indexed again."""
        waiting = select(u.page_id)
        with self._writer.begin() as connection:
            fulltext.drop(connection)
            fulltext.create(connection)
            connection.execute(update(tables.sources).values(words=""))
            indexed = select(s.page_id).where(s.page_id.not_in(waiting)).distinct()
            connection.execute(tables.unindexed_pages.insert().from_select(["page_id"], indexed))
            connection.execute(delete(tables.library_metadata).where(m.name == "words"))
            connection.execute(insert(tables.library_metadata).values(name="words", value=fingerprint))


def _delete_passages(connection: Connection, row: int) -> None:
    of_source = select(p.id).where(p.source == row)
    connection.execute(delete(tables.vectors).where(tables.vectors.c.passage.in_(of_source)))
    connection.execute(delete(tables.passages).where(p.source == row))


def _add_tags(connection: Connection, row: int, tags: Iterable[str]) -> None:
    new = set(tags) - set(connection.scalars(select(t.tag).where(t.source == row)))
    if new:
        connection.execute(insert(tables.source_tags), [{"source": row, "tag": tag} for tag in sorted(new)])


def _has_tag(tags: Sequence[str]) -> ColumnElement[bool]:
    return s.id.in_(select(t.source).where(t.tag.in_(tags)))


def source_from_row(row: Row[Any], tags: Sequence[str]) -> IndexedSource:
    """A row of the sources table."""
    values = {name: getattr(row, name) for name in _SOURCE_FIELDS}
    source = LibrarySource.model_construct(**values, tags=list(tags))
    return IndexedSource(row.id, source, row.words, row.origin, row.mark, bool(row.by_run))


def passage_from_row(row: Row[Any]) -> Passage:
    """A row of the passages table, joined with its source and the text of its page."""
    values = {name: getattr(row, name) for name in _PASSAGE_FIELDS}
    return Passage(**values, id=f"{row.page_id}:{row.n}")
