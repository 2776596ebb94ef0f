"""How far a person trusts domains: one word a domain, with its reason, for every run from then on. Knows no run and no page."""

from __future__ import annotations

from sqlalchemy import Engine, delete, select

from agent.store import tables
from agent.store.ledger import now
from agent.store.writer import Writer
from agent.types import Trusted

t = tables.trusts.c


class Trusts:
    """Keeps what was said of domains and gives it back."""

    def __init__(self, reader: Engine, writer: Writer) -> None:
        self._reader, self._writer = reader, writer

    def all(self) -> dict[str, Trusted]:
        """What was said, by domain, in the order of the domains."""
        with self._reader.connect() as connection:
            return {row.domain: _trusted(row) for row in connection.execute(select(tables.trusts).order_by(t.domain))}

    def get(self, domain: str) -> Trusted | None:
        """What was said of one domain; None when nothing was."""
        with self._reader.connect() as connection:
            row = connection.execute(select(tables.trusts).where(t.domain == domain)).first()
        return _trusted(row) if row else None

    def put(self, domain: str, value: float, reason: str) -> Trusted:
        """Keep a person's word on a domain; an earlier one is replaced."""
        said = Trusted(domain=domain, value=value, reason=reason, at=now())
        with self._writer.begin() as connection:
            connection.execute(delete(tables.trusts).where(t.domain == domain))
            connection.execute(tables.trusts.insert().values(**said.model_dump()))
        return said

    def drop(self, domain: str) -> bool:
        """Forget what was said of a domain; False when nothing was."""
        with self._writer.begin() as connection:
            return connection.execute(delete(tables.trusts).where(t.domain == domain)).rowcount > 0


def _trusted(row: object) -> Trusted:
    return Trusted.model_validate(row, from_attributes=True)
