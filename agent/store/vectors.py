"""What passages mean, as numbers: a code of a few bytes for each, by embedding model. Opaque here: no
arithmetic."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import Engine, delete, func, insert, select

from agent.store import tables
from agent.store.ledger import utc_timestamp
from agent.store.write_lock import Writer

p, s, v = tables.passages.c, tables.sources.c, tables.vectors.c


@dataclass(frozen=True)
class UnembeddedPassage:
    """A passage that has no vector yet, with what it says."""

    id: int
    title: str
    heading: str
    text: str


class Vectors:
    """Every reading and writing of the vectors."""

    def __init__(self, reader: Engine, writer: Writer) -> None:
        self._reader, self._writer = reader, writer

    def get_or_create_embedder(self, name: str, dimensions: int) -> int:
        """The number under which this model's vectors are kept; models of another name or length are never
        mixed with them."""
        e = tables.embedders.c
        known = select(e.id).where(e.name == name, e.dimensions == dimensions)
        with self._reader.connect() as connection:
            if (number := connection.scalar(known)) is not None:
                return int(number)
        with self._writer.begin() as connection:
            if (number := connection.scalar(known)) is not None:
                return int(number)
            made = connection.execute(
                insert(tables.embedders).values(name=name, dimensions=dimensions, at=utc_timestamp())
            )
            return int(made.inserted_primary_key[0])  # type: ignore[index]

    def newest_embedder(self, name: str) -> int | None:
        """The number of the model of this name that was met last; None when it never was."""
        e = tables.embedders.c
        with self._reader.connect() as connection:
            return connection.scalar(select(e.id).where(e.name == name).order_by(e.id.desc()).limit(1))

    def add(self, embedder: int, rows: Sequence[tuple[int, bytes]]) -> int:
        """Keep vectors (passage, code); passages that are gone, or have theirs already, are left out. Returns
        how many were kept."""
        with self._writer.begin() as connection:
            ids = [row[0] for row in rows]
            there = set(connection.scalars(select(p.id).where(p.id.in_(ids))))
            there -= set(
                connection.scalars(select(v.passage).where(v.embedder == embedder, v.passage.in_(ids)))
            )
            new = [
                {"embedder": embedder, "passage": row[0], "code": row[1]} for row in rows if row[0] in there
            ]
            if new:
                connection.execute(insert(tables.vectors), new)
        return len(new)

    def list_unembedded(self, embedder: int, *, after: int, most: int) -> list[UnembeddedPassage]:
        """Passages on the shelf without a vector of this model, whose ids are above `after`, in the order of
        their ids."""
        page = tables.pages.c
        query = (
            select(
                p.id, s.title, p.heading, func.substr(page.text, p.start + 1, p.end - p.start).label("text")
            )
            .join(tables.sources, s.id == p.source)
            .join(tables.pages, page.id == s.page_id)
            .outerjoin(tables.vectors, (v.passage == p.id) & (v.embedder == embedder))
            .where(v.seq.is_(None), s.deleted_at == "", p.id > after)
            .order_by(p.id)
            .limit(most)
        )
        with self._reader.connect() as connection:
            return [
                UnembeddedPassage(row.id, row.title, row.heading, row.text)
                for row in connection.execute(query)
            ]

    def count_unembedded(self, embedder: int) -> int:
        """How many passages on the shelf lack one."""
        with self._reader.connect() as connection:
            shelved = (
                connection.scalar(select(func.coalesce(func.sum(s.passages), 0)).where(s.deleted_at == ""))
                or 0
            )
            binned = select(p.id).join(tables.sources, s.id == p.source).where(s.deleted_at != "")
            have = (
                connection.scalar(
                    select(func.count()).where(v.embedder == embedder, v.passage.not_in(binned))
                )
                or 0
            )
        return max(0, int(shelved) - int(have))

    def last_seq(self, embedder: int) -> int:
        """The number of the newest vector; they only grow."""
        with self._reader.connect() as connection:
            return int(connection.scalar(select(func.max(v.seq)).where(v.embedder == embedder)) or 0)

    def count(self, embedder: int) -> int:
        """How many there are of this model."""
        with self._reader.connect() as connection:
            return int(connection.scalar(select(func.count()).where(v.embedder == embedder)) or 0)

    def list_after(self, embedder: int, after: int, *, most: int) -> list[tuple[int, int, int, bytes]]:
        """Vectors newer than `after`: (number, passage, source, code), oldest first."""
        query = (
            select(v.seq, v.passage, p.source, v.code)
            .join(tables.passages, p.id == v.passage)
            .where(v.embedder == embedder, v.seq > after)
            .order_by(v.seq)
            .limit(most)
        )
        with self._reader.connect() as connection:
            return [(row[0], row[1], row[2], row[3]) for row in connection.execute(query)]

    def codes(self, embedder: int, passages: Iterable[int]) -> list[tuple[int, bytes]]:
        """The codes of these passages (in no order; those that are gone are left out)."""
        query = select(v.passage, v.code).where(v.embedder == embedder, v.passage.in_(list(passages)))
        with self._reader.connect() as connection:
            return [(row[0], row[1]) for row in connection.execute(query)]

    def delete_other_models(self, embedder: int) -> None:
        """Forget the vectors of every other model."""
        with self._writer.begin() as connection:
            connection.execute(delete(tables.vectors).where(v.embedder != embedder))
            connection.execute(delete(tables.embedders).where(tables.embedders.c.id != embedder))
