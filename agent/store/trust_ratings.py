"""How far a person trusts domains: one word a domain, with its reason, for every run from then on. Knows no
run and no page."""

from __future__ import annotations

from sqlalchemy import Engine, delete, select

from agent.store import tables
from agent.store.ledger import utc_timestamp
from agent.store.write_lock import Writer
from agent.types import TrustRating

t = tables.trust_ratings.c


class TrustRatings:
    """Keeps what was said of domains and gives it back."""

    def __init__(self, reader: Engine, writer: Writer) -> None:
        self._reader, self._writer = reader, writer

    def all(self) -> dict[str, TrustRating]:
        """What was said, by domain, in the order of the domains."""
        with self._reader.connect() as connection:
            return {
                row.domain: _rating_from_row(row)
                for row in connection.execute(select(tables.trust_ratings).order_by(t.domain))
            }

    def get(self, domain: str) -> TrustRating | None:
        """What was said of one domain; None when nothing was."""
        with self._reader.connect() as connection:
            row = connection.execute(select(tables.trust_ratings).where(t.domain == domain)).first()
        return _rating_from_row(row) if row else None

    def put(self, domain: str, value: float, reason: str) -> TrustRating:
        """Keep a person's word on a domain; an earlier one is replaced."""
        said = TrustRating(domain=domain, value=value, reason=reason, at=utc_timestamp())
        with self._writer.begin() as connection:
            connection.execute(delete(tables.trust_ratings).where(t.domain == domain))
            connection.execute(tables.trust_ratings.insert().values(**said.model_dump()))
        return said

    def drop(self, domain: str) -> bool:
        """Forget what was said of a domain; False when nothing was."""
        with self._writer.begin() as connection:
            return connection.execute(delete(tables.trust_ratings).where(t.domain == domain)).rowcount > 0


def _rating_from_row(row: object) -> TrustRating:
    return TrustRating.model_validate(row, from_attributes=True)
