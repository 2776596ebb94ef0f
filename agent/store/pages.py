"""Stored pages: each text once, by address and hash, with its raw body compressed. They are never changed.

A new one waits to be put on the library's shelf. One that came in a bundle is what somebody else says a page
said: it does not, and gives way to the page as soon as that is read here."""

from __future__ import annotations

import hashlib
import zlib
from typing import Any, NamedTuple

from sqlalchemy import Connection, Engine, bindparam, func, select, update

from agent.errors import NotFound
from agent.store import tables
from agent.store.write_lock import Writer
from agent.text.urls import canonicalize
from agent.types import Page, PageOrigin

c = tables.pages.c
# Put together once: that costs more than the asking.
_SELECT_TEXT = select(c.record, c.text).where(c.id == bindparam("page"))
_SELECT_WITH_RAW = select(c.record, c.text, c.raw).where(c.id == bindparam("page"))
_SELECT_IMPORTED = select(c.imported).where(c.id == bindparam("page"))
_SELECT_VERSIONS = (
    select(c.id, c.record, c.fetched_at, c.imported, func.length(c.text).label("characters"))
    .where(c.url == bindparam("url"))
    .order_by(c.fetched_at.desc(), c.id)
)
_INSERT = tables.pages.insert()


class PageVersion(NamedTuple):
    """One text that stood at an address: when it was read, how long it is, how it came, and whether only a
    bundle says so."""

    page_id: str
    fetched_at: str
    characters: int
    origin: PageOrigin
    imported: bool


class Pages:
    """Puts a page in and gives it back by its id."""

    def __init__(self, reader: Engine, writer: Writer) -> None:
        self._reader, self._writer = reader, writer

    def put(self, page: Page, *, shelve: bool = True) -> str:
        """Store a page that was read; the same address with the same text is stored once. Returns its id.

        When it is new here, it waits with `shelve` to be put on the library's shelf.
        """
        row = page_to_row(page)
        with self._writer.begin() as connection:
            if insert_page_row(connection, row) and shelve:
                connection.execute(tables.unindexed_pages.insert().values(page_id=row["id"]))
        return str(row["id"])

    def add_if_absent(self, page: Page) -> None:
        """Put in a page that came from elsewhere. None that is there is replaced."""
        row = page_to_row(page)
        with self._writer.begin() as connection:
            if connection.execute(_SELECT_IMPORTED, {"page": row["id"]}).first() is None:
                connection.execute(_INSERT, row | {"imported": 1})

    def get(self, page_id: str, *, raw: bool = False) -> Page:
        """The page stored under this id, with its raw body only when asked. Raises NotFound."""
        with self._reader.connect() as connection:
            row = connection.execute(_SELECT_WITH_RAW if raw else _SELECT_TEXT, {"page": page_id}).first()
        if row is None:
            raise NotFound(f"there is no stored page {page_id}")
        page = Page.model_validate_json(row.record)
        return page.model_copy(
            update={"text": row.text, "raw": zlib.decompress(row.raw) if raw and row.raw else b""}
        )

    def versions(self, url: str) -> list[PageVersion]:
        """All texts stored under an address (in its canonical spelling), the newest first."""
        with self._reader.connect() as connection:
            rows = connection.execute(_SELECT_VERSIONS, {"url": url}).all()
        return [
            PageVersion(
                row.id,
                row.fetched_at,
                row.characters,
                Page.model_validate_json(row.record).origin,
                bool(row.imported),
            )
            for row in rows
        ]

    def body_sizes(self, page_id: str) -> tuple[int, int]:
        """Bytes of a page's body as it came, and as it is stored. (0, 0) when none is."""
        with self._reader.connect() as connection:
            packed = connection.scalar(select(c.raw).where(c.id == page_id))
        return (len(zlib.decompress(packed)), len(packed)) if packed else (0, 0)


def page_to_row(page: Page) -> dict[str, Any]:
    """A page as a row; its id is made of its address and its text. What a person gave is never the same page
    as what its server sent."""
    address = canonicalize(page.final_url) or page.url
    given = "" if page.origin == "fetched" else f"\n{page.origin}"
    return {
        "id": hashlib.sha256(f"{address}\n{page.sha256}{given}".encode()).hexdigest()[:20],
        "url": address,
        "sha256": page.sha256,
        "text": page.text,
        "record": page.model_dump_json(exclude={"text", "raw"}),
        "raw": zlib.compress(page.raw, 6) if page.raw else None,
        "fetched_at": page.fetched_at,
    }


def insert_page_row(connection: Connection, row: dict[str, Any]) -> bool:
    """Put in the row of a page that was read here, unless there is one; was it new? One that came in a bundle
    gives way to it."""
    there = connection.execute(_SELECT_IMPORTED, {"page": row["id"]}).first()
    if there is None:
        connection.execute(_INSERT, row)
    elif there.imported:
        connection.execute(update(tables.pages).where(c.id == row["id"]).values(**row, imported=0))
    return there is None or bool(there.imported)
