"""The tables at the newest version; `migrations.py` holds the way there."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Column, Float, Index, Integer, LargeBinary, MetaData, PrimaryKeyConstraint, Table

from agent.store.dialect import PlainText

metadata = MetaData()


def key(name: str, kind: Any = PlainText) -> Column[Any]:
    """A column of the primary key."""
    return Column(name, kind, primary_key=True)


def texts(names: str, **options: Any) -> list[Column[Any]]:
    """Columns of text that is never NULL, by their names with blanks between."""
    return [Column(name, PlainText, nullable=False, **options) for name in names.split()]


def numbers(names: str, kind: Any = Integer, **options: Any) -> list[Column[Any]]:
    """Columns of numbers that are never NULL."""
    return [Column(name, kind, nullable=False, **options) for name in names.split()]


runs = Table(
    "runs",
    metadata,
    key("id"),
    *texts("question status settings next created_at updated_at"),
    *texts("verdict error control owner thread_id deleted_at", default=""),
    *texts("imported", default=""),  # SHA-256 of the bundle it was imported from
    *texts("forked_from", default=""),  # the run whose steps 0 to forked_at it shares
    *texts("schedule_id", default=""),  # the schedule that started it
    *numbers("forked_at", default=-1),
    *numbers("head"),
    *numbers("actions token", default=0),
    *numbers("lease_until", Float, default=0),
    Column("confidence", Float),
)

steps = Table(
    "steps",
    metadata,
    *texts("run_id name change next by at"),
    *numbers("n"),
    *numbers("seconds cpu_ms", Float, default=0),
    PrimaryKeyConstraint("run_id", "n"),
)

pages = Table(
    "pages",
    metadata,
    key("id"),
    *texts("url sha256 text record fetched_at"),
    Column("raw", LargeBinary),
    *numbers("imported", default=0),  # 1: known from a bundle, not fetched here
    Index("pages_by_url", "url"),
)

calls = Table(
    "calls",
    metadata,
    key("key"),
    *texts("run_id record at"),
    *numbers("step tokens_in tokens_out"),
    Column("cost_usd", Float),
    Index("calls_by_run", "run_id", "step"),
)

drafts = Table("drafts", metadata, key("key"), *texts("text at"))

fetched_addresses = Table(
    "fetched_addresses",
    metadata,
    key("url"),
    *texts("origin page_id fetched_at etag last_modified"),
    Index("fetched_addresses_by_origin", "origin", "fetched_at"),
)
"""The page that the live web last gave for an address, with its validators of then (HTTP)."""

saved_sites = Table("desks", metadata, key("name"), *texts("settings at"))

sources = Table(
    "sources",
    metadata,
    key("id", Integer),
    *texts("source_id", unique=True),
    *texts("kind title url page_id sha256 description described_by added_at fetched_at detail"),
    *texts("deleted_at gone_at", default=""),
    *texts("words"),  # fingerprint of the terms in the full-text index; "" without any
    *texts("origin mark", default=""),  # the folder it is synchronised with; its file's signature of then
    *texts("folded"),  # text that lists are filtered by, without case and accents
    *numbers("passages"),
    *numbers("places", default=0),  # rows of its tables with coordinates
    *numbers("by_run", default=0),  # 1: only runs brought it, nobody added it to the library
    Index("sources_by_page", "page_id"),
    Index("sources_by_age", "added_at", "id"),
    sqlite_autoincrement=True,
)

source_tags = Table(
    "source_tags",
    metadata,
    *numbers("source"),
    *texts("tag"),
    PrimaryKeyConstraint("source", "tag"),
    Index("sources_by_tag", "tag"),
)

passages = Table(
    "passages",
    metadata,
    key("id", Integer),
    *numbers("source n start end"),
    *texts("heading kind label"),
    Index("passages_by_source", "source"),
    sqlite_autoincrement=True,  # ids are never reused: the full-text index and the vectors refer to them
)

embedders = Table(
    "embedders",
    metadata,
    key("id", Integer),
    *texts("name at"),
    *numbers("dimensions"),
    Index("embedders_by_name", "name", "dimensions", unique=True),
)

vectors = Table(
    "vectors",
    metadata,
    key("seq", Integer),  # grows with time, so that new ones are one range
    *numbers("embedder passage"),
    Column("code", LargeBinary, nullable=False),
    Index("vectors_by_passage", "embedder", "passage", unique=True),
    sqlite_autoincrement=True,
)

unindexed_pages = Table("unshelved", metadata, key("page_id"))

library_metadata = Table("marks", metadata, key("name"), *texts("value"))

batches = Table(
    "batches",
    metadata,
    key("id"),
    *texts("name state settings allowance columns created_at updated_at"),
    *texts("program", default=""),
)

batch_rows = Table(
    "batch_rows",
    metadata,
    *texts("batch_id question given own trouble"),
    *texts("run_id", default=""),
    *numbers("n same_as"),
    *numbers("again", default=0),
    PrimaryKeyConstraint("batch_id", "n"),
    Index("batch_rows_by_run", "run_id"),
)

schedules = Table(
    "schedules",
    metadata,
    key("id"),
    *texts("name state question settings repeats cron zone run_id remark program created_at"),
    *numbers("next_at", Float),
    *numbers("is_open fired skipped missed failures"),
)

webhooks = Table("webhooks", metadata, key("id"), *texts("record at"))

applied_migrations = Table("migrations", metadata, key("name"), *texts("at"))
