"""Vectors of passages by embedding model, each as a short code of bytes, opaque here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import delete, func, insert, select

from agent.store import tables
from agent.store.dialect import lock_once
from agent.store.ledger import utc_timestamp
from agent.store.table_access import TableAccess

p, s, v, e = tables.passages.c, tables.sources.c, tables.vectors.c, tables.embedders.c


@dataclass(frozen=True)
class UnembeddedPassage:
    """A passage without a vector, with its text."""

    id: int
    title: str
    heading: str
    text: str


class Vectors(TableAccess):
    """Reads and writes vectors."""

    def get_or_create_embedder(self, name: str, dimensions: int) -> int:
        """The number of a model: vectors of models with another name or dimension are kept apart."""
        known = select(e.id).where(e.name == name, e.dimensions == dimensions)
        if (number := self._read(known).scalar()) is not None:
            return int(number)
        with self._writer.begin() as connection:
            lock_once(connection, "vectors")
            if (number := connection.scalar(known)) is not None:
                return int(number)
            row = {"name": name, "dimensions": dimensions, "at": utc_timestamp()}
            created = connection.execute(insert(tables.embedders).values(row))
            return int(created.inserted_primary_key[0])  # type: ignore[index]

    def newest_embedder(self, name: str) -> int | None:
        """The newest number of the model with this name; None when it is unknown."""
        number: int | None = self._read(
            select(e.id).where(e.name == name).order_by(e.id.desc()).limit(1)
        ).scalar()
        return number

    def add(self, embedder: int, rows: Sequence[tuple[int, bytes]]) -> int:
        """Add vectors (passage, code), except for passages that are deleted or have one; returns how many."""
        with self._writer.begin() as connection:
            lock_once(connection, "vectors")  # they become visible in the order of their numbers
            ids = [row[0] for row in rows]
            existing = set(connection.scalars(select(p.id).where(p.id.in_(ids))))
            existing -= set(
                connection.scalars(select(v.passage).where(v.embedder == embedder, v.passage.in_(ids)))
            )
            new = [
                {"embedder": embedder, "passage": passage, "code": code}
                for passage, code in rows
                if passage in existing
            ]
            if new:
                connection.execute(insert(tables.vectors), new)
        return len(new)

    def list_unembedded(self, embedder: int, *, after: int, most: int) -> list[UnembeddedPassage]:
        """Passages without a vector of this model, of sources not deleted, with ids above `after`, by id."""
        page = tables.pages.c
        text = func.substr(page.text, p.start + 1, p.end - p.start).label("text")
        query = (
            select(p.id, s.title, p.heading, text)
            .join(tables.sources, s.id == p.source)
            .join(tables.pages, page.id == s.page_id)
            .outerjoin(tables.vectors, (v.passage == p.id) & (v.embedder == embedder))
            .where(v.seq.is_(None), s.deleted_at == "", p.id > after)
            .order_by(p.id)
            .limit(most)
        )
        return [UnembeddedPassage(*row) for row in self._read(query)]

    def count_unembedded(self, embedder: int) -> int:
        """How many passages of sources that are not deleted have no vector."""
        passages = self._read(
            select(func.coalesce(func.sum(s.passages), 0)).where(s.deleted_at == "")
        ).scalar()
        deleted = select(p.id).join(tables.sources, s.id == p.source).where(s.deleted_at != "")
        vectors = self._read(
            select(func.count()).where(v.embedder == embedder, v.passage.not_in(deleted))
        ).scalar()
        return max(0, int(passages or 0) - int(vectors or 0))

    def last_seq(self, embedder: int) -> int:
        """The sequence number of the newest vector; the numbers only grow."""
        return int(self._read(select(func.max(v.seq)).where(v.embedder == embedder)).scalar() or 0)

    def count(self, embedder: int) -> int:
        """How many vectors this model has."""
        return int(self._read(select(func.count()).where(v.embedder == embedder)).scalar() or 0)

    def list_after(self, embedder: int, after: int, *, most: int) -> list[tuple[int, int, int, bytes]]:
        """Vectors with a sequence number above `after`: (number, passage, source, code), oldest first."""
        query = (
            select(v.seq, v.passage, p.source, v.code)
            .join(tables.passages, p.id == v.passage)
            .where(v.embedder == embedder, v.seq > after)
            .order_by(v.seq)
            .limit(most)
        )
        return [(seq, passage, source, code) for seq, passage, source, code in self._read(query)]

    def codes(self, embedder: int, passages: Iterable[int]) -> list[tuple[int, bytes]]:
        """The codes of these passages, unordered, without deleted ones."""
        query = select(v.passage, v.code).where(v.embedder == embedder, v.passage.in_(list(passages)))
        return [(passage, code) for passage, code in self._read(query)]

    def delete_other_models(self, embedder: int) -> None:
        """Delete the vectors of every other model."""
        self._write(
            delete(tables.vectors).where(v.embedder != embedder),
            delete(tables.embedders).where(e.id != embedder),
        )
