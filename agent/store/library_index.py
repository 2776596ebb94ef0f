"""The shelf: sources, where their passages lie in the stored pages, and the index of their words.

It moves rows and decides nothing: texts are split and their terms made above. Each source is changed in one
transaction."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, Row, and_, delete, func, insert, or_, select, update

from agent.errors import NotFound
from agent.store import fulltext, pages, tables
from agent.store.write_lock import Writer
from agent.types import LibrarySource, Passage

s, p = tables.sources.c, tables.passages.c
_PAGE_ID = re.compile(r'"([0-9a-f]{20})"')
_SOURCE_FIELDS = [name for name in LibrarySource.model_fields if name != "tags"]


@dataclass(frozen=True)
class IndexedPassage:
    """A passage to be put on the shelf: its place in the page's text, its heading, and its terms (joined by
    blanks)."""

    n: int
    start: int
    end: int
    heading: str
    rows: bool
    head: str
    body: str


@dataclass(frozen=True)
class IndexedSource:
    """A source with what only the shelf knows: its row, how its terms were made, which folder's file it is
    kept current with."""

    row: int
    source: LibrarySource
    words: str = ""
    origin: str = ""
    mark: str = ""


@dataclass(frozen=True)
class SourceUpdate:
    """A source to be put on the shelf: its passages, the row of its stored page, and what was there before
    with the words it had."""

    source: LibrarySource
    pieces: Sequence[IndexedPassage]
    page: dict[str, Any]
    index_columns: dict[str, str | int]
    """The shelf's own columns: words, folded, places, origin, mark."""
    former: IndexedSource | None = None
    former_rows: Sequence[fulltext.FulltextRow] = ()


class LibraryIndex:
    """Every reading and writing of the library's tables but the vectors."""

    def __init__(self, reader: Engine, writer: Writer) -> None:
        self._reader, self._writer = reader, writer

    # --- one source
    # -----------------------------------------------------------------------------------------------------

    def get(self, source_id: str) -> IndexedSource | None:
        """The source of this id, in the bin or not; None when there is none."""
        with self._reader.connect() as connection:
            row = connection.execute(select(tables.sources).where(s.source_id == source_id)).first()
            return _source_from_row(row, _load_tags(connection, [row.id]).get(row.id, [])) if row else None

    def passages_of(self, row: int) -> list[tuple[int, IndexedPassage]]:
        """The passages of a source with their ids, in order, without terms."""
        with self._reader.connect() as connection:
            found = connection.execute(select(tables.passages).where(p.source == row).order_by(p.n))
            return [
                (
                    r.id,
                    IndexedPassage(
                        n=r.n,
                        start=r.start,
                        end=r.end,
                        heading=r.heading,
                        rows=bool(r.rows),
                        head="",
                        body="",
                    ),
                )
                for r in found
            ]

    def put(self, entries: Sequence[SourceUpdate]) -> set[str]:
        """Put sources with their passages on the shelf, all in one transaction, each in place of its `former`
        text.

        Returns the ids of those that were left alone because the shelf no longer holds what `former` says:
        look at them again."""
        with self._writer.begin() as connection:
            return {entry.source.source_id for entry in entries if not self._put(connection, entry)}

    def _put(self, connection: Connection, entry: SourceUpdate) -> bool:
        source, former = entry.source, entry.former
        held = connection.execute(
            select(s.id, s.page_id, s.words).where(s.source_id == source.source_id)
        ).first()
        if (tuple(held) if held else None) != (former and (former.row, former.source.page_id, former.words)):
            return False
        pages.insert_page_row(connection, entry.page)
        values = source.model_dump(exclude={"tags"}) | {"passages": len(entry.pieces), **entry.index_columns}
        row = self._upsert_source(connection, held.id if held else None, values)
        fulltext.remove(connection, entry.former_rows)
        places = self._store_passages(
            connection, row, entry.pieces, same=held is not None and held.page_id == source.page_id
        )
        fulltext.add(
            connection,
            [(place, piece.head, piece.body) for place, piece in zip(places, entry.pieces, strict=True)],
        )
        _add_tags(connection, row, source.tags)
        connection.execute(
            delete(tables.unindexed_pages).where(tables.unindexed_pages.c.page_id == source.page_id)
        )
        return True

    def sources_of_page(self, page_id: str) -> list[IndexedSource]:
        """The sources that hold this stored page."""
        with self._reader.connect() as connection:
            rows = connection.execute(select(tables.sources).where(s.page_id == page_id)).all()
            return [_source_from_row(row, _load_tags(connection, [row.id]).get(row.id, [])) for row in rows]

    def set(self, source_id: str, **values: Any) -> None:
        """Set columns of a source. Raises NotFound."""
        with self._writer.begin() as connection:
            if (
                connection.execute(
                    update(tables.sources).where(s.source_id == source_id).values(values)
                ).rowcount
                != 1
            ):
                raise NotFound(f"the library has no source {source_id}")

    def tag(self, source_id: str, tags: Iterable[str], *, away: bool = False) -> None:
        """Put tags on a source, or take them off. Raises NotFound."""
        with self._writer.begin() as connection:
            row = connection.scalar(select(s.id).where(s.source_id == source_id))
            if row is None:
                raise NotFound(f"the library has no source {source_id}")
            t = tables.source_tags.c
            if away:
                connection.execute(delete(tables.source_tags).where(t.source == row, t.tag.in_(list(tags))))
            else:
                _add_tags(connection, row, tags)

    def _upsert_source(self, connection: Connection, held: int | None, values: dict[str, Any]) -> int:
        if held is None:
            return int(connection.execute(insert(tables.sources).values(values)).inserted_primary_key[0])  # type: ignore[index]
        connection.execute(update(tables.sources).where(s.id == held).values(values))
        return held

    def _store_passages(
        self, connection: Connection, row: int, pieces: Sequence[IndexedPassage], *, same: bool
    ) -> list[int]:
        """Ids for the pieces: the old passages' own where the text is the `same` and all lie where they lay
        (their vectors stay), else new."""
        old = connection.execute(
            select(p.id, p.start, p.end, p.heading).where(p.source == row).order_by(p.n)
        ).all()
        if (
            same
            and old
            and [tuple(place[1:]) for place in old]
            == [(piece.start, piece.end, piece.heading) for piece in pieces]
        ):
            return [place.id for place in old]
        mine = select(p.id).where(p.source == row)
        connection.execute(delete(tables.vectors).where(tables.vectors.c.passage.in_(mine)))
        connection.execute(delete(tables.passages).where(p.source == row))
        if not pieces:
            return []
        values = [
            {
                "source": row,
                "n": piece.n,
                "start": piece.start,
                "end": piece.end,
                "heading": piece.heading,
                "rows": int(piece.rows),
            }
            for piece in pieces
        ]
        connection.execute(
            insert(tables.passages), values
        )  # one statement for all: RETURNING would take four times as long
        return list(connection.scalars(select(p.id).where(p.source == row).order_by(p.n)))

    # --- many sources
    # ---------------------------------------------------------------------------------------------------

    def sources(
        self, where: SourceQuery, *, limit: int = 200, offset: int = 0, oldest: bool = False
    ) -> list[LibrarySource]:
        """Sources, newest first."""
        order = (s.added_at, s.id) if oldest else (s.added_at.desc(), s.id.desc())
        with self._reader.connect() as connection:
            rows = connection.execute(
                select(tables.sources).where(*where.clauses()).order_by(*order).limit(limit).offset(offset)
            ).all()
            tags = _load_tags(connection, [row.id for row in rows])
            return [_source_from_row(row, tags.get(row.id, [])).source for row in rows]

    def count(self, where: SourceQuery) -> int:
        """How many there are."""
        with self._reader.connect() as connection:
            return int(
                connection.scalar(select(func.count()).select_from(tables.sources).where(*where.clauses()))
                or 0
            )

    def source_rows(self, where: SourceQuery) -> list[int]:
        """The rows of the sources."""
        with self._reader.connect() as connection:
            return list(connection.scalars(select(s.id).where(*where.clauses())))

    def sources_of_folder(self, origin: str) -> list[IndexedSource]:
        """The sources kept current with a folder ("kb", "team"), the bin's and the missing too."""
        with self._reader.connect() as connection:
            rows = connection.execute(select(tables.sources).where(s.origin == origin)).all()
            tags = _load_tags(connection, [row.id for row in rows])
            return [_source_from_row(row, tags.get(row.id, [])) for row in rows]

    def tags(self) -> dict[str, int]:
        """Every tag with the number of sources on the shelf that carry it."""
        t = tables.source_tags.c
        query = (
            select(t.tag, func.count())
            .join(tables.sources, s.id == t.source)
            .where(s.deleted_at == "")
            .group_by(t.tag)
            .order_by(t.tag)
        )
        with self._reader.connect() as connection:
            return {row[0]: row[1] for row in connection.execute(query)}

    # --- the bin
    # --------------------------------------------------------------------------------------------------------

    def list_deleted(self, until: str) -> list[IndexedSource]:
        """The sources put into the bin until then, those excepted whose file still lies in a folder the shelf
        is kept current with."""
        asked = select(tables.sources).where(
            s.deleted_at != "", s.deleted_at <= until, or_(s.origin == "", s.gone_at != "")
        )
        with self._reader.connect() as connection:
            return [_source_from_row(row, []) for row in connection.execute(asked)]

    def purge(self, gone: Sequence[tuple[IndexedSource, Sequence[fulltext.FulltextRow]]]) -> int:
        """Do away with sources of the bin, each given with its rows in the index of words; those taken out
        meanwhile are left alone.

        Returns how many went. A stored text goes with the last source that holds it, unless a run's step
        names it."""
        with self._writer.begin() as connection:
            went = [held for held, rows in gone if self._purge(connection, held, rows)]
            texts = {held.source.page_id for held in went} - set(connection.scalars(select(s.page_id)))
            texts -= _pages_cited_by_steps(connection, texts)
            connection.execute(
                delete(tables.unindexed_pages).where(tables.unindexed_pages.c.page_id.in_(texts))
            )
            connection.execute(delete(tables.pages).where(tables.pages.c.id.in_(texts)))
        return len(went)

    def _purge(
        self, connection: Connection, held: IndexedSource, rows: Sequence[fulltext.FulltextRow]
    ) -> bool:
        same = (s.id == held.row, s.page_id == held.source.page_id, s.words == held.words, s.deleted_at != "")
        if connection.execute(delete(tables.sources).where(*same)).rowcount != 1:
            return False
        mine = select(p.id).where(p.source == held.row)
        fulltext.remove(connection, rows)
        connection.execute(delete(tables.vectors).where(tables.vectors.c.passage.in_(mine)))
        connection.execute(delete(tables.passages).where(p.source == held.row))
        connection.execute(delete(tables.source_tags).where(tables.source_tags.c.source == held.row))
        return True

    # --- passages
    # -------------------------------------------------------------------------------------------------------

    @property
    def has_fulltext(self) -> bool:
        """Is there an index of words? On SQLite only, so far."""
        return self._reader.dialect.name == "sqlite"

    def search(
        self, terms: Sequence[str], k: int, *, within: Sequence[int] | None = None
    ) -> list[tuple[int, float]]:
        """Ids of the passages on the shelf that bear most on any of the terms, best first, with their
        bm25."""
        asked = k
        while True:
            with self._reader.connect() as connection:
                found = fulltext.search(connection, terms, asked, within=within)
                alive = set(connection.scalars(_select_not_deleted([row for row, _ in found])))
            kept = [(row, score) for row, score in found if row in alive]
            if len(kept) >= k or len(found) < asked:
                return kept[:k]
            asked *= 4

    def passages(self, scored: Sequence[tuple[int, float]]) -> list[tuple[Passage, float]]:
        """Passages on the shelf with their texts and the scores they were given, in order; those in the bin
        or gone are left out."""
        page = tables.pages.c
        query = (
            select(
                p.id,
                p.n,
                p.start,
                p.end,
                p.heading,
                p.rows,
                s.source_id,
                s.page_id,
                s.url,
                s.title,
                func.substr(page.text, p.start + 1, p.end - p.start).label("text"),
            )
            .join(tables.sources, s.id == p.source)
            .join(tables.pages, page.id == s.page_id)
            .where(p.id.in_([row for row, _ in scored]), s.deleted_at == "")
        )
        with self._reader.connect() as connection:
            found = {row.id: _passage_from_row(row) for row in connection.execute(query)}
        return [(found[row], score) for row, score in scored if row in found]

    def document_frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        """How many passages, on the shelf and in the bin, hold each of these terms; those that none holds are
        left out."""
        with self._reader.connect() as connection:
            return fulltext.document_frequencies(connection, terms)

    def passage_count(self) -> int:
        """Passages on the shelf and in the bin."""
        with self._reader.connect() as connection:
            return int(connection.scalar(select(func.coalesce(func.sum(s.passages), 0))) or 0)

    # --- what waits
    # -----------------------------------------------------------------------------------------------------

    def list_unindexed(self, most: int) -> list[str]:
        """Ids of stored pages that were not put on the shelf yet."""
        with self._reader.connect() as connection:
            return list(connection.scalars(select(tables.unindexed_pages.c.page_id).limit(most)))

    def mark_indexed(self, page_ids: Collection[str]) -> None:
        """These pages need not be put on the shelf (their source holds something newer)."""
        with self._writer.begin() as connection:
            connection.execute(
                delete(tables.unindexed_pages).where(tables.unindexed_pages.c.page_id.in_(list(page_ids)))
            )

    def metadata_value(self, name: str, value: str | None = None) -> str:
        """A remark about the library as a whole, by name; with `value`, remark that from now on."""
        with self._reader.connect() if value is None else self._writer.begin() as connection:
            if value is not None:
                connection.execute(
                    delete(tables.library_metadata).where(tables.library_metadata.c.name == name)
                )
                connection.execute(insert(tables.library_metadata).values(name=name, value=value))
                return value
            return (
                connection.scalar(
                    select(tables.library_metadata.c.value).where(tables.library_metadata.c.name == name)
                )
                or ""
            )

    def reset_fulltext(self, now_by: str) -> None:
        """Empty the index of words: terms are made another way from now on (`now_by`). The pages of all
        sources wait to be indexed anew."""
        with self._writer.begin() as connection:
            fulltext.drop(connection)
            fulltext.create(connection)
            connection.execute(update(tables.sources).values(words=""))
            held = (
                select(s.page_id).where(s.page_id.not_in(select(tables.unindexed_pages.c.page_id))).distinct()
            )
            connection.execute(tables.unindexed_pages.insert().from_select(["page_id"], held))
            connection.execute(
                delete(tables.library_metadata).where(tables.library_metadata.c.name == "words")
            )
            connection.execute(insert(tables.library_metadata).values(name="words", value=now_by))


@dataclass(frozen=True)
class SourceQuery:
    """Which sources are meant. Empty fields ask for nothing."""

    text: str = ""
    """Words (folded) that stand in the title, address or description, all of them."""
    tag: str = ""
    kind: str = ""
    deleted: bool = False
    fetched_before: str = ""
    """Read before this time, or their file is gone."""
    source_ids: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    """With `source_ids`: sources that have one of the ids or one of the tags."""
    places: bool = False
    """Only those with facilities."""
    is_limited: bool = False
    """Only sources that `source_ids` or `tags` name, even when these are empty."""

    def clauses(self) -> list[ColumnElement[bool]]:
        """The conditions, all of which must hold."""
        asked: list[ColumnElement[bool]] = [s.deleted_at != "" if self.deleted else s.deleted_at == ""]
        asked += [s.folded.contains(word, autoescape=True) for word in self.text.split()]
        if self.tag:
            asked.append(_has_tag([self.tag]))
        if self.kind:
            asked.append(s.kind == self.kind)
        if self.places:
            asked.append(s.places > 0)
        if self.fetched_before:
            asked.append(or_(and_(s.fetched_at != "", s.fetched_at < self.fetched_before), s.gone_at != ""))
        if self.is_limited or self.source_ids or self.tags:
            asked.append(or_(s.source_id.in_(self.source_ids), _has_tag(self.tags)))
        return asked


def _pages_cited_by_steps(connection: Connection, page_ids: Collection[str]) -> set[str]:
    """Those of the pages that some step of some run names, answers' sources among them."""
    if not page_ids:
        return set()
    changes = connection.scalars(select(tables.steps.c.change))
    return {found for change in changes for found in _PAGE_ID.findall(change) if found in page_ids}


def _has_tag(tags: Sequence[str]) -> ColumnElement[bool]:
    return s.id.in_(select(tables.source_tags.c.source).where(tables.source_tags.c.tag.in_(tags)))


def _select_not_deleted(ids: Sequence[int]) -> Any:
    return select(p.id).join(tables.sources, s.id == p.source).where(p.id.in_(ids), s.deleted_at == "")


def _add_tags(connection: Connection, row: int, tags: Iterable[str]) -> None:
    t = tables.source_tags.c
    wanted = set(tags)
    have = set(connection.scalars(select(t.tag).where(t.source == row)))
    if new := sorted(wanted - have):
        connection.execute(insert(tables.source_tags), [{"source": row, "tag": tag} for tag in new])


def _load_tags(connection: Connection, rows: Sequence[int]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    t = tables.source_tags.c
    for row in connection.execute(
        select(t.source, t.tag).where(t.source.in_(rows)).order_by(t.source, t.tag)
    ):
        found.setdefault(row.source, []).append(row.tag)
    return found


def _source_from_row(row: Row[Any], tags: list[str]) -> IndexedSource:
    values = {name: getattr(row, name) for name in _SOURCE_FIELDS}
    return IndexedSource(
        row=row.id,
        source=LibrarySource.model_construct(**values, tags=tags),
        words=row.words,
        origin=row.origin,
        mark=row.mark,
    )


def _passage_from_row(row: Any) -> Passage:
    return Passage(
        id=f"{row.page_id}:{row.n}",
        page_id=row.page_id,
        url=row.url,
        title=row.title,
        heading=row.heading,
        text=row.text,
        start=row.start,
        end=row.end,
        rows=bool(row.rows),
        source_id=row.source_id,
    )
