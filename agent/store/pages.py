"""Stored pages: each text once, by address and hash, with its raw body compressed. The text of a stored page
never changes.

A new page waits to be indexed by the library. A page of an imported bundle is not indexed, and is replaced
as soon as the same page is fetched here."""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from sqlalchemy import Connection, Integer, bindparam, cast, func, select

from agent.errors import NotFound
from agent.store import tables
from agent.store.bodies import REFERENCE, Bodies
from agent.store.dialect import JsonField, upsert
from agent.store.table_access import TableAccess
from agent.text.urls import canonicalize
from agent.types import Page, PageOrigin

log = logging.getLogger(__name__)
c, a = tables.pages.c, tables.fetched_addresses.c
MAX_SITE_PAGES = 5000
"""Pages of a site that a later question takes over at most."""
PAGE_ID = re.compile(r'"([0-9a-f]{20})"')
"""A page's id in a step's change."""
# Built once: building a statement costs more than running it.
_SELECT_TEXT = select(c.record, c.text).where(c.id == bindparam("page"))
_SELECT_WITH_RAW = select(c.record, c.text, c.raw).where(c.id == bindparam("page"))
_EXTRACTION = func.coalesce(cast(JsonField(c.record, "extraction"), Integer), 0).label("extraction")
_SELECT_IMPORTED = select(c.imported, _EXTRACTION).where(c.id == bindparam("page"))
_ADDRESS = select(a.url, a.page_id, a.fetched_at, c.url.label("final_url"), a.etag, a.last_modified).join(
    tables.pages, c.id == a.page_id
)


class PageVersion(NamedTuple):
    """One text of an address. `imported`: it is known from a bundle only."""

    page_id: str
    fetched_at: str
    characters: int
    origin: PageOrigin
    imported: bool


class FetchedAddress(NamedTuple):
    """The page that a server gave for an address, when it last gave or confirmed it (ISO 8601), and the
    address that it stood at after redirects; its validators of then (RFC 9110, 8.8)."""

    url: str
    page_id: str
    fetched_at: str
    final_url: str
    etag: str
    last_modified: str


class Pages(TableAccess):
    """Stores pages and returns them by id."""

    def put(self, page: Page, *, shelve: bool = True) -> str:
        """Store a page that was fetched; one text of one address is stored once. Returns its id. With
        `shelve` a new page waits to be indexed by the library."""
        page_id = make_page_id(page)
        with self._writer.begin() as connection:
            insert_page(connection, page, page_id, self._writer.bodies, shelve=shelve)
        return page_id

    def put_fetched(self, fetched: Sequence[tuple[str, Page]], *, shelve: bool = True) -> list[str]:
        """Store pages of the live web, each with the address that was asked for, in one transaction; what a
        server confirmed without sending it again only gets a new time. Returns their ids."""
        rows = [(canonicalize(url) or url, page, make_page_id(page)) for url, page in fetched]
        with self._writer.begin() as connection:
            for url, page, page_id in sorted(rows, key=lambda row: row[1].raw):  # one order of locks
                insert_page(connection, page, page_id, self._writer.bodies, shelve=shelve)
                here = {"url": url, "origin": urlsplit(url).netloc, "page_id": page_id}
                there = {name: getattr(page, name) for name in ("fetched_at", "etag", "last_modified")}
                upsert(connection, tables.fetched_addresses, here | there)
        return [page_id for _, _, page_id in rows]

    def find_fetched(self, urls: Iterable[str]) -> dict[str, FetchedAddress]:
        """What the live web gave for these addresses, by their canonical form."""
        wanted = _ADDRESS.where(a.url.in_(list(dict.fromkeys(map(canonicalize, urls)))))
        return {row.url: FetchedAddress(*row) for row in self._read(wanted)}

    def list_fetched(self, origin: str, since: str) -> list[FetchedAddress]:
        """The addresses of a site (host, with its port) that were fetched since then, the newest first."""
        newest = _ADDRESS.where(a.origin == origin, a.fetched_at >= since).order_by(
            a.fetched_at.desc(), a.url
        )
        return [FetchedAddress(*row) for row in self._read(newest.limit(MAX_SITE_PAGES))]

    def add_if_absent(self, page: Page) -> None:
        """Add a page of an imported run, unless it is stored already."""
        with self._writer.begin() as connection:
            insert_page(connection, page, make_page_id(page), self._writer.bodies, imported=True)

    def get(self, page_id: str, *, raw: bool = False) -> Page:
        """The page of this id, with `raw` also its raw body. Raises NotFound, also for a lost body."""
        row = self._read(_SELECT_WITH_RAW if raw else _SELECT_TEXT, {"page": page_id}).first()
        if row is None:
            raise NotFound(f"there is no stored page {page_id}")
        body = self._writer.bodies.unpack(row.raw) if raw else b""
        return Page.model_validate_json(row.record).replace(text=row.text, raw=body)

    def read_text(self, page_id: str) -> str:
        """The text of a page; "" when it is not stored."""
        return self._read(select(c.text).where(c.id == page_id)).scalar() or ""

    def get_many(self, page_ids: Iterable[str], *, raw: bool = False) -> tuple[dict[str, Page], list[str]]:
        """The pages of these ids in their order, and the ids that are not stored."""
        found: dict[str, Page] = {}
        missing = []
        for page_id in dict.fromkeys(page_ids):
            try:
                found[page_id] = self.get(page_id, raw=raw)
            except NotFound:
                missing.append(page_id)
        return found, missing

    def versions(self, url: str) -> list[PageVersion]:
        """All stored texts of an address (in canonical form), newest first."""
        columns = (c.id, c.record, c.fetched_at, c.imported, func.length(c.text).label("characters"))
        found = []
        for row in self._read(select(*columns).where(c.url == url).order_by(c.fetched_at.desc(), c.id)):
            origin = Page.model_validate_json(row.record).origin
            found.append(PageVersion(row.id, row.fetched_at, row.characters, origin, bool(row.imported)))
        return found

    def read_bodies_elsewhere(self) -> Iterator[tuple[str, bytes]]:
        """The bodies outside of the database, each once with its SHA-256; a lost one is logged and left out.
        Raises StoreError while their place does not answer."""
        is_elsewhere = func.substr(c.raw, 1, len(REFERENCE)) == REFERENCE
        for held in self._read(select(c.raw).where(is_elsewhere).distinct()).scalars().all():
            try:
                yield held.removeprefix(REFERENCE).decode(), self._writer.bodies.unpack(held)
            except NotFound as lost:
                log.warning("left out: %s", lost)

    def body_sizes(self, page_id: str) -> tuple[int, int]:
        """Bytes of a page's raw body, and bytes it takes in the database; (0, 0) when there is none."""
        held = self._read(select(c.raw).where(c.id == page_id)).scalar()
        return (len(self._writer.bodies.unpack(held)), len(held)) if held else (0, 0)


def make_page_id(page: Page) -> str:
    """A hash of address, text and, for a page that a person supplied, its origin."""
    address = canonicalize(page.final_url) or page.url
    given = "" if page.origin == "fetched" else f"\n{page.origin}"
    return hashlib.sha256(f"{address}\n{page.sha256}{given}".encode()).hexdigest()[:20]


def insert_page(
    connection: Connection,
    page: Page,
    page_id: str,
    bodies: Bodies,
    *,
    shelve: bool = False,
    imported: bool = False,
) -> None:
    """Insert a page unless it is stored; one that was fetched here replaces one that is `imported` from a
    bundle, and what an older version made of the same text. With `shelve` one that is new here waits to be
    indexed."""
    there = connection.execute(_SELECT_IMPORTED, {"page": page_id}).first()
    is_new = there is None or (bool(there.imported) and not imported)
    if is_new or (not imported and there and there.extraction < page.extraction):
        row = {
            "id": page_id,
            "url": canonicalize(page.final_url) or page.url,
            "sha256": page.sha256,
            "text": page.text,
            "record": page.model_dump_json(exclude={"text", "raw"}),
            "raw": bodies.pack(connection, page.raw),
            "fetched_at": page.fetched_at,
            "imported": int(imported),
        }
        bodies.note_unused(connection, [page_id])  # the body of the row that this one replaces
        upsert(connection, tables.pages, row)
    if shelve and is_new:
        upsert(connection, tables.unindexed_pages, {"page_id": page_id})
