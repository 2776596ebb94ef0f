"""The tables of accounts.db, and their migrations: named, forward-only, each applied once."""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Connection,
    Float,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    Update,
    update,
)

from agent.store.ledger import utc_timestamp

metadata = MetaData()

people = Table(
    "people",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("issuer", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("email", Text, nullable=False, default=""),
    Column("name", Text, nullable=False, default=""),
    Column("role", String(8), nullable=False),
    Column("folder", String(64), nullable=False, unique=True),  # below the data folder; "" is that folder
    Column("created_at", String(32), nullable=False),
    Column("is_blocked", Integer, nullable=False, default=0),
    # when the newest sign-in was issued, and up to when sign-ins no longer hold: both on the provider's clock
    Column("signed_in_at", Integer, nullable=False, default=0),
    Column("signed_out_at", Integer, nullable=False, default=0),
    Column("ended", Text, nullable=False, default=""),  # when later ones were issued that hold no longer
    UniqueConstraint("issuer", "subject"),
)

tokens = Table(
    "tokens",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("person_id", String(32), nullable=False),
    Column("name", Text, nullable=False),
    Column("hash", String(64), nullable=False, unique=True),
    Column("scopes", Text, nullable=False),
    Column("created_at", String(32), nullable=False),
    Column("used_at", String(32), nullable=False, default=""),
    Column("revoked_at", String(32), nullable=False, default=""),
    Index("tokens_by_person", "person_id"),
)

shares = Table(
    "shares",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("hash", String(64), nullable=False, unique=True),
    Column("owner_id", String(32), nullable=False),
    Column("run_id", String(32), nullable=False),
    Column("created_at", String(32), nullable=False),
    Column("revoked_at", String(32), nullable=False, default=""),
    Index("shares_by_run", "owner_id", "run_id"),
)

quotas = Table(
    "quotas",
    metadata,
    Column("person_id", String(32), primary_key=True),
    Column("runs", Integer, nullable=False),
    Column("pages", Integer, nullable=False),
    Column("tokens", Integer, nullable=False),
    Column("dollars", Float, nullable=False),
)

uses = Table(
    "uses",
    metadata,
    Column("person_id", String(32), primary_key=True),
    Column("day", String(10), primary_key=True),
    Column("pages", Integer, nullable=False, default=0),
    Column("tokens", Integer, nullable=False, default=0),
    Column("dollars", Float, nullable=False, default=0.0),
)

audit = Table(
    "audit",
    metadata,
    Column("n", Integer, primary_key=True, autoincrement=True),
    Column("at", String(32), nullable=False),
    Column("actor", String(32), nullable=False),
    Column("action", String(32), nullable=False),
    Column("target", Text, nullable=False),
)


def end_tokens(person_id: str) -> Update:
    """The statement that revokes every token of a person."""
    mine = (tokens.c.person_id == person_id, tokens.c.revoked_at == "")
    return update(tokens).where(*mine).values(revoked_at=utc_timestamp())


def a100_tables(connection: Connection) -> None:
    """All tables as of the first version whose files later ones open."""
    metadata.create_all(connection)


MIGRATIONS = (a100_tables,)
