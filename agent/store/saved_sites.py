"""Desks: sites kept under a name, to be asked again. A desk is the settings a question to it is asked with;
knows no run."""

from __future__ import annotations

from sqlalchemy import Engine, delete, select

from agent.store import tables
from agent.store.ledger import utc_timestamp
from agent.store.write_lock import Writer
from agent.types import Settings


class SavedSites:
    """Keeps desks and gives them back."""

    def __init__(self, reader: Engine, writer: Writer) -> None:
        self._reader, self._writer = reader, writer

    def all(self) -> dict[str, Settings]:
        """The desks by name, in the order of their names."""
        query = select(tables.saved_sites.c.name, tables.saved_sites.c.settings).order_by(
            tables.saved_sites.c.name
        )
        with self._reader.connect() as connection:
            return {row.name: Settings.model_validate_json(row.settings) for row in connection.execute(query)}

    def put(self, name: str, settings: Settings) -> None:
        """Keep a desk; one of the same name is replaced."""
        with self._writer.begin() as connection:
            connection.execute(delete(tables.saved_sites).where(tables.saved_sites.c.name == name))
            connection.execute(
                tables.saved_sites.insert().values(
                    name=name, settings=settings.model_dump_json(), at=utc_timestamp()
                )
            )

    def drop(self, name: str) -> None:
        """Forget a desk; nothing happens when there is none."""
        with self._writer.begin() as connection:
            connection.execute(delete(tables.saved_sites).where(tables.saved_sites.c.name == name))
