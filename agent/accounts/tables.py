"""The tables of accounts.db, and their migrations: named, forward-only, each applied once."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    Float,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    Update,
    update,
)

from agent.store.ledger import utc_timestamp

metadata = MetaData()


def _text(name: str, **about: Any) -> Column[str]:
    return Column(name, Text, nullable=False, **about)


def _number(name: str, **about: Any) -> Column[int]:
    return Column(name, Integer, nullable=False, **about)


people = Table(
    "people",
    metadata,
    _text("id", primary_key=True),
    _text("issuer"),
    _text("subject"),
    _text("email", default=""),
    _text("name", default=""),
    _text("role"),
    _text("folder", unique=True),  # below the data folder; "" is that folder
    _text("created_at"),
    _number("is_blocked", default=0),
    # when the newest sign-in was issued, and up to when sign-ins no longer hold: both on the provider's clock
    _number("signed_in_at", default=0),
    _number("signed_out_at", default=0),
    _text("ended", default=""),  # when later ones were issued that hold no longer
    UniqueConstraint("issuer", "subject"),
)

tokens = Table(
    "tokens",
    metadata,
    _text("id", primary_key=True),
    _text("person_id"),
    _text("name"),
    _text("hash", unique=True),
    _text("scopes"),
    _text("created_at"),
    _text("used_at", default=""),
    _text("revoked_at", default=""),
    Index("tokens_by_person", "person_id"),
)

shares = Table(
    "shares",
    metadata,
    _text("id", primary_key=True),
    _text("hash", unique=True),
    _text("owner_id"),
    _text("run_id"),
    _text("created_at"),
    _text("revoked_at", default=""),
    Index("shares_by_run", "owner_id", "run_id"),
)

quotas = Table(
    "quotas",
    metadata,
    _text("person_id", primary_key=True),
    _number("runs"),
    _number("pages"),
    _number("tokens"),
    Column("dollars", Float, nullable=False),
)

uses = Table(
    "uses",
    metadata,
    _text("person_id", primary_key=True),
    _text("day", primary_key=True),
    _number("pages", default=0),
    _number("tokens", default=0),
    Column("dollars", Float, nullable=False, default=0.0),
)

audit = Table(
    "audit",
    metadata,
    _number("n", primary_key=True, autoincrement=True),
    _text("at"),
    _text("actor"),
    _text("action"),
    _text("target"),
)


def end_tokens(person_id: str) -> Update:
    """The statement that revokes every token of a person."""
    mine = (tokens.c.person_id == person_id, tokens.c.revoked_at == "")
    return update(tokens).where(*mine).values(revoked_at=utc_timestamp())


def a100_tables(connection: Connection) -> None:
    """All tables as of the first version whose files later ones open."""
    metadata.create_all(connection)


MIGRATIONS = (a100_tables,)
