"""The library's index: sources, where their passages are in the stored pages, and their terms.

It stores rows; texts are split and terms made by the library. Each change is one transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypedDict

from sqlalchemy import ColumnElement, Connection, and_, bindparam, delete, func, insert, or_, select, update

from agent.errors import NotFound
from agent.store import pages, tables
from agent.store.dialect import JsonField, lock_once
from agent.store.fulltext import open_fulltext
from agent.store.ledger import utc_timestamp
from agent.store.table_access import TableAccess
from agent.text.tokens import fold
from agent.types import LibrarySource, Page, Passage

s, p, t = tables.sources.c, tables.passages.c, tables.source_tags.c
u, m = tables.unindexed_pages.c, tables.library_metadata.c

_SOURCE_FIELDS = [name for name in LibrarySource.model_fields if name != "tags"]


class IndexedPassage(NamedTuple):
    """A passage to index, with the terms of what stands over it and of its text, joined by blanks."""

    passage: Passage
    head: str
    body: str


@dataclass(frozen=True)
class IndexedSource:
    """A source with its row number, its terms' fingerprint, and the folder and signature of its file."""

    row: int
    source: LibrarySource
    words: str
    origin: str
    mark: str
    by_run: bool
    """Whether only runs brought it."""


@dataclass(frozen=True)
class SourceUpdate:
    """A source to index: its passages, its page, and the source it replaces."""

    source: LibrarySource
    pieces: Sequence[IndexedPassage]
    page: Page
    index_columns: dict[str, str | int]
    """Further columns of the source: words, folded, places, origin, mark, by_run."""
    former: IndexedSource | None


class SourceQuery(TypedDict, total=False):
    """Conditions on sources; an absent field is no condition."""

    text: str
    """Words, all of which are in the title, address or description."""
    tag: str
    kind: str
    deleted: bool
    stale_days: int | None
    """Fetched longer ago than that, or without their file."""
    among: tuple[Sequence[str], Sequence[str]]
    """Ids and tags: a source has one of the ids or one of the tags."""
    places: bool
    """Only those with facilities."""
    added_only: bool
    """Without those that only runs brought."""
    demo: bool | None
    """Those of the demo, or those that are not."""


def _list_conditions(where: SourceQuery) -> list[ColumnElement[bool]]:
    """The conditions as SQL, all of which must hold."""
    asked: list[ColumnElement[bool]] = [s.deleted_at != "" if where.get("deleted") else s.deleted_at == ""]
    asked += [s.folded.contains(word, autoescape=True) for word in fold(where.get("text", "")).split()]
    asked += [_has_tag([tag])] if (tag := where.get("tag")) else []
    asked += [s.kind == kind] if (kind := where.get("kind")) else []
    asked += [s.places > 0] if where.get("places") else []
    asked += [s.by_run == 0] if where.get("added_only") else []
    if (demo := where.get("demo")) is not None:
        asked.append(_has_tag(["demo"]).is_(demo))
    if (days := where.get("stale_days")) is not None:
        asked.append(
            or_(and_(s.fetched_at != "", s.fetched_at < utc_timestamp(days_ago=days)), s.gone_at != "")
        )
    if among := where.get("among"):
        asked.append(or_(s.source_id.in_(among[0]), _has_tag(among[1])))
    return asked


class LibraryIndex(TableAccess):
    """Reads and writes the library's tables, except for the vectors."""

    def get(self, source_id: str) -> IndexedSource | None:
        """The source of this id, deleted or not; None when there is none."""
        return next(iter(self.find(s.source_id == source_id)), None)

    def find(
        self, *where: ColumnElement[bool], newest: bool = False, limit: int | None = None, offset: int = 0
    ) -> list[IndexedSource]:
        """The sources for which all of this holds, oldest first, or `newest` first."""
        order = (s.added_at.desc(), s.id.desc()) if newest else (s.added_at, s.id)
        rows = self._read(
            select(tables.sources).where(*where).order_by(*order).limit(limit).offset(offset)
        ).all()
        tags: dict[int, list[str]] = {row.id: [] for row in rows}
        named = select(t.source, t.tag).where(t.source.in_(tags)).order_by(t.source, t.tag)
        for source, tag in self._read(named) if rows else ():
            tags[source].append(tag)
        return [
            IndexedSource(
                row.id,
                LibrarySource.model_construct(
                    **{name: getattr(row, name) for name in _SOURCE_FIELDS}, tags=tags[row.id]
                ),
                *(row.words, row.origin, row.mark, bool(row.by_run)),
            )
            for row in rows
        ]

    def put(self, entries: Sequence[SourceUpdate]) -> set[str]:
        """Index sources with their passages in one transaction, each in place of its `former` text. Returns
        the ids of those that were skipped because the source is no longer as `former` says."""
        overtaken = set[str]()
        with self._writer.begin() as connection:
            lock_once(connection, "library")
            for entry in entries:
                source, former = entry.source, entry.former
                known = select(s.id, s.page_id, s.words).where(s.source_id == source.source_id)
                stored = connection.execute(known).first()
                expected = former and (former.row, former.source.page_id, former.words)
                if (tuple(stored) if stored else None) != expected:
                    overtaken.add(source.source_id)
                    continue
                pages.insert_page(connection, entry.page, source.page_id, self._writer.bodies)
                values = source.model_dump(exclude={"tags"}) | entry.index_columns
                if stored is None:
                    made = connection.execute(insert(tables.sources).values(values))
                    row = int(made.inserted_primary_key[0])  # type: ignore[index]
                else:
                    row = stored.id
                    connection.execute(update(tables.sources).where(s.id == row).values(values))
                is_same_text = stored is not None and stored.page_id == source.page_id
                _put_passages(connection, row, entry.pieces, same_text=is_same_text)
                _add_tags(connection, row, source.tags)
                connection.execute(delete(tables.unindexed_pages).where(u.page_id == source.page_id))
        return overtaken

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

    def sources(self, where: SourceQuery, **page: Any) -> list[LibrarySource]:
        """The sources of a query; `page`: newest, limit and offset, as in `find`."""
        return [indexed.source for indexed in self.find(*_list_conditions(where), **page)]

    def count(self, where: SourceQuery) -> int:
        """How many sources there are."""
        query = select(func.count()).select_from(tables.sources).where(*_list_conditions(where))
        return int(self._read(query).scalar() or 0)

    def source_rows(self, where: SourceQuery) -> list[int]:
        """The row numbers of the sources."""
        return list(self._read(select(s.id).where(*_list_conditions(where))).scalars())

    def tags(self) -> dict[str, int]:
        """Every tag with its number of sources."""
        query = select(t.tag, func.count()).join(tables.sources, s.id == t.source).where(s.deleted_at == "")
        return {row[0]: row[1] for row in self._read(query.group_by(t.tag).order_by(t.tag))}

    def purge(self, until: str, most: int) -> int:
        """Remove `most` of the sources deleted until then for good, except those whose file is still in a
        synchronised folder. Returns how many went. A stored page goes with its last source, unless a step of
        a run names it."""
        no_file = or_(s.origin == "", s.gone_at != "")
        gone = select(s.id, s.page_id).where(s.deleted_at != "", s.deleted_at <= until, no_file).limit(most)
        with self._writer.begin() as connection:
            lock_once(connection, "library")
            purged = connection.execute(gone).all()
            for row in purged:
                _put_passages(connection, row.id, (), same_text=False)
                connection.execute(delete(tables.source_tags).where(t.source == row.id))
                connection.execute(delete(tables.sources).where(s.id == row.id))
            texts = {row.page_id for row in purged} - set(connection.scalars(select(s.page_id)))
            changes = connection.scalars(select(tables.steps.c.change)) if texts else ()
            texts -= {found for change in changes for found in pages.PAGE_ID.findall(change)}
            connection.execute(delete(tables.unindexed_pages).where(u.page_id.in_(texts)))
            self._writer.bodies.note_unused(connection, texts)
            connection.execute(delete(tables.pages).where(tables.pages.c.id.in_(texts)))
        self._writer.bodies.sweep(self._writer)
        return len(purged)

    def search(
        self, terms: Sequence[str], k: int, within: Collection[int] | None = None
    ) -> list[tuple[int, float]]:
        """Ids of the passages that match any of the terms best, best first, with their BM25 score (higher is
        better); deleted sources are left out, and those that are not `within` (a large part of all, or this
        is slow)."""
        wanted = k
        while True:
            with self._reader.connect() as connection:
                found = open_fulltext(connection).search(terms, wanted)
            ids = p.id.in_([row for row, _ in found])
            query = select(p.id, s.id).join(tables.sources, s.id == p.source).where(ids, s.deleted_at == "")
            alive = {row for row, source in self._read(query) if within is None or source in within}
            kept = [(row, score) for row, score in found if row in alive]
            if len(kept) >= k or len(found) < wanted:
                return kept[:k]
            wanted *= 4

    def match_terms(
        self, terms: Sequence[str], within: Sequence[int], *, inflected: bool = False
    ) -> tuple[int, dict[str, dict[int, float]]]:
        """How many passages these sources have, and for each term those that hold it, by id, with the
        saturated count (0..1) of its occurrences; lengths are measured by the mean of these passages, so that
        nothing else in the library changes a count. `inflected`: a term without a row is looked for in its
        other forms (see `Fts5.find_forms`)."""
        held: dict[str, dict[int, float]] = {term: {} for term in terms}
        with self._reader.connect() as connection:
            index = open_fulltext(connection)
            lengths = index.measure(within) if within and held else {}
            for term in held if lengths else ():
                held[term] = index.count(term, within, lengths)
                for form in index.find_forms(term) if inflected and not held[term] else ():
                    for row, share in index.count(form, within, lengths).items():
                        held[term][row] = max(share, held[term].get(row, 0.0))
        return self.passage_count(within), held

    def document_frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        """How many passages, deleted ones included, hold each term; terms without a passage are left out."""
        with self._reader.connect() as connection:
            return open_fulltext(connection).document_frequencies(terms)

    def passages(self, scored: Sequence[tuple[int, float]]) -> list[tuple[Passage, float]]:
        """Passages with their texts and their given scores, in order; deleted ones are left out."""
        page = tables.pages.c
        words = func.substr(page.text, p.start + 1, p.end - p.start).label("text")
        day = func.coalesce(JsonField(page.record, "published_at"), "")
        columns = (p.start, p.end, p.heading, p.kind, p.label, s.source_id, s.page_id, s.url, s.title, words)
        query = (
            select(p.id.label("row"), p.n, *columns, day.label("published_at"))
            .join(tables.sources, s.id == p.source)
            .join(tables.pages, page.id == s.page_id)
            .where(p.id.in_([row for row, _ in scored]), s.deleted_at == "")
        )
        found = dict[int, Passage]()
        for row in self._read(query):
            values = row._asdict()
            number, n = values.pop("row"), values.pop("n")
            found[number] = Passage(**values, id=f"{row.page_id}:{n}")
        return [(found[row], score) for row, score in scored if row in found]

    def passage_count(self, within: Collection[int] | None = None) -> int:
        """The number of passages, deleted ones included; `within`: of these sources."""
        query = select(func.coalesce(func.sum(s.passages), 0))
        if within is not None:  # written out: a query has at most 32,766 parameters
            query = query.where(
                s.id.in_(bindparam("rows", list(within), expanding=True, literal_execute=True))
            )
        return int(self._read(query).scalar() or 0)

    def list_unindexed(self, most: int | None = None, among: Collection[str] | None = None) -> list[str]:
        """Ids of stored pages that wait to be indexed: at most so many, or those `among` these."""
        query = select(u.page_id).limit(most)
        return list(self._read(query if among is None else query.where(u.page_id.in_(list(among)))).scalars())

    def rows_of_pages(self, page_ids: Collection[str]) -> dict[str, int]:
        """For each of these pages that is the text of a source, not deleted, the row of one such source."""
        query = select(s.page_id, s.id).where(s.page_id.in_(list(page_ids)), s.deleted_at == "")
        return {row.page_id: row.id for row in self._read(query)}

    def mark_indexed(self, page_ids: Collection[str]) -> None:
        """These pages no longer wait to be indexed."""
        self._write(delete(tables.unindexed_pages).where(u.page_id.in_(list(page_ids))))

    def use_terms(self, fingerprint: str) -> None:
        """Terms are made in this way from now on: where those in the full-text index were made in another,
        empty it; the pages of all sources wait to be indexed again."""
        if self._read(select(m.value).where(m.name == "words")).scalar() == fingerprint:
            return
        waiting = select(u.page_id)
        with self._writer.begin() as connection:
            lock_once(connection, "library")
            open_fulltext(connection).create()
            connection.execute(update(tables.sources).values(words=""))
            indexed = select(s.page_id).where(s.page_id.not_in(waiting)).distinct()
            connection.execute(tables.unindexed_pages.insert().from_select(["page_id"], indexed))
            connection.execute(delete(tables.library_metadata).where(m.name == "words"))
            connection.execute(insert(tables.library_metadata).values(name="words", value=fingerprint))


def _put_passages(
    connection: Connection, row: int, pieces: Sequence[IndexedPassage], *, same_text: bool
) -> None:
    """Put passages and their terms in the place of a source's old ones with their terms and vectors. Where
    text and places are the same the old ids stay, and the vectors."""
    names = ("start", "end", "heading", "kind", "label")
    ordered = select(p.id, *(p[name] for name in names)).where(p.source == row).order_by(p.n)
    old = connection.execute(ordered).all()
    new = [tuple(getattr(piece.passage, name) for name in names) for piece in pieces]
    keeps = same_text and bool(old) and [tuple(passage[1:]) for passage in old] == new
    index = open_fulltext(connection)
    index.remove(row)
    if not keeps:
        ids = select(p.id).where(p.source == row)
        connection.execute(delete(tables.vectors).where(tables.vectors.c.passage.in_(ids)))
        connection.execute(delete(tables.passages).where(p.source == row))
    if new and not keeps:  # RETURNING would take four times as long
        values = [dict(zip(names, one, strict=True)) | {"source": row, "n": n} for n, one in enumerate(new)]
        connection.execute(insert(tables.passages), values)
    if new:
        numbered = zip(connection.scalars(ordered), pieces, strict=True)
        index.add([(id, piece.head, piece.body) for id, piece in numbered])


def _add_tags(connection: Connection, row: int, tags: Iterable[str]) -> None:
    new = set(tags) - set(connection.scalars(select(t.tag).where(t.source == row)))
    if new:
        connection.execute(insert(tables.source_tags), [{"source": row, "tag": tag} for tag in sorted(new)])


def _has_tag(tags: Sequence[str]) -> ColumnElement[bool]:
    return s.id.in_(select(t.source).where(t.tag.in_(tags)))
