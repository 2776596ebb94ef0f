"""The tables of accounts.db, and their migrations: named, forward-only, each applied once."""

from __future__ import annotations

from sqlalchemy import Connection, Float, Index, Integer, MetaData, Table, UniqueConstraint, Update, update

from agent.store.ledger import utc_timestamp
from agent.store.tables import key, numbers, texts

metadata = MetaData()

people = Table(
    "people",
    metadata,
    key("id"),
    *texts("issuer subject role created_at"),
    *texts("email name", default=""),
    *texts("folder", unique=True),  # below the data folder; "" is that folder
    *numbers("is_blocked", default=0),
    # when the newest sign-in was issued, and up to when sign-ins no longer hold: both on the provider's clock
    *numbers("signed_in_at signed_out_at", default=0),
    *texts("ended", default=""),  # when later ones were issued that hold no longer
    UniqueConstraint("issuer", "subject"),
)

tokens = Table(
    "tokens",
    metadata,
    key("id"),
    *texts("person_id name scopes created_at"),
    *texts("hash", unique=True),
    *texts("used_at revoked_at", default=""),
    Index("tokens_by_person", "person_id"),
)

shares = Table(
    "shares",
    metadata,
    key("id"),
    *texts("hash", unique=True),
    *texts("owner_id run_id created_at"),
    *texts("revoked_at", default=""),
    Index("shares_by_run", "owner_id", "run_id"),
)

quotas = Table(
    "quotas", metadata, key("person_id"), *numbers("runs pages tokens"), *numbers("dollars", Float)
)

uses = Table(
    "uses",
    metadata,
    key("person_id"),
    key("day"),
    *numbers("pages tokens", default=0),
    *numbers("dollars", Float, default=0.0),
)

audit = Table("audit", metadata, key("n", Integer), *texts("at actor action target"))


def end_tokens(person_id: str) -> Update:
    """The statement that revokes every token of a person."""
    mine = (tokens.c.person_id == person_id, tokens.c.revoked_at == "")
    return update(tokens).where(*mine).values(revoked_at=utc_timestamp())


def a100_tables(connection: Connection) -> None:
    """All tables as of the first version whose files later ones open."""
    metadata.create_all(connection)


MIGRATIONS = (a100_tables,)
