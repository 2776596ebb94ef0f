"""Stored pages: each text once, by address and hash, with its raw body compressed. They are never changed."""

from __future__ import annotations

import hashlib
import zlib

from sqlalchemy import Engine, select

from agent.errors import NotFound
from agent.store import tables
from agent.types import Page
from agent.urls import canonical


class Pages:
    """Puts a page in and gives it back by its id."""

    def __init__(self, reader: Engine, writer: Engine) -> None:
        self._reader, self._writer = reader, writer

    def put(self, page: Page) -> str:
        """Store a page that was read; the same address with the same text is stored once. Returns its id."""
        page_id = hashlib.sha256(f"{canonical(page.final_url) or page.url}\n{page.sha256}".encode()).hexdigest()[:20]
        row = {
            "id": page_id,
            "url": canonical(page.final_url) or page.url,
            "sha256": page.sha256,
            "text": page.text,
            "record": page.model_dump_json(exclude={"text", "raw"}),
            "raw": zlib.compress(page.raw, 6) if page.raw else None,
            "fetched_at": page.fetched_at,
        }
        with self._writer.begin() as connection:
            if connection.scalar(select(tables.pages.c.id).where(tables.pages.c.id == page_id)) is None:
                connection.execute(tables.pages.insert().values(row))
        return page_id

    def get(self, page_id: str, *, raw: bool = False) -> Page:
        """The page stored under this id, with its raw body only when asked. Raises NotFound."""
        columns = [tables.pages.c.record, tables.pages.c.text, *([tables.pages.c.raw] if raw else [])]
        with self._reader.connect() as connection:
            row = connection.execute(select(*columns).where(tables.pages.c.id == page_id)).first()
        if row is None:
            raise NotFound(f"there is no stored page {page_id}")
        page = Page.model_validate_json(row.record)
        return page.model_copy(update={"text": row.text, "raw": zlib.decompress(row.raw) if raw and row.raw else b""})
