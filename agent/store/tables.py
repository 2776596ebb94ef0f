"""The tables at the newest version; `migrations.py` holds the way there."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Column, Float, Index, Integer, LargeBinary, MetaData, PrimaryKeyConstraint, Table, Text

metadata = MetaData()


def _key(name: str, kind: Any = Text) -> Column[Any]:
    return Column(name, kind, primary_key=True)


def _texts(names: str, **options: Any) -> list[Column[Any]]:
    return [Column(name, Text, nullable=False, **options) for name in names.split()]


def _numbers(names: str, kind: Any = Integer, **options: Any) -> list[Column[Any]]:
    return [Column(name, kind, nullable=False, **options) for name in names.split()]


runs = Table(
    "runs",
    metadata,
    _key("id"),
    *_texts("question status settings next created_at updated_at"),
    *_texts("verdict error control owner thread_id deleted_at", default=""),
    *_texts("imported", default=""),  # SHA-256 of the bundle it was imported from
    *_texts("forked_from", default=""),  # the run whose steps 0 to forked_at it shares
    *_numbers("forked_at", default=-1),
    *_numbers("head"),
    *_numbers("actions token", default=0),
    *_numbers("lease_until", Float, default=0),
    Column("confidence", Float),
)

steps = Table(
    "steps",
    metadata,
    *_texts("run_id name change next by at"),
    *_numbers("n"),
    *_numbers("seconds cpu_ms", Float, default=0),
    PrimaryKeyConstraint("run_id", "n"),
)

pages = Table(
    "pages",
    metadata,
    _key("id"),
    *_texts("url sha256 text record fetched_at"),
    Column("raw", LargeBinary),
    *_numbers("imported", default=0),  # 1: known from a bundle, not fetched here
    Index("pages_by_url", "url"),
)

calls = Table(
    "calls",
    metadata,
    _key("key"),
    *_texts("run_id record at"),
    *_numbers("step tokens_in tokens_out"),
    Column("cost_usd", Float),
    Index("calls_by_run", "run_id", "step"),
)

drafts = Table("drafts", metadata, _key("key"), *_texts("text at"))

fetched_addresses = Table(
    "fetched_addresses",
    metadata,
    _key("url"),
    *_texts("origin page_id fetched_at etag last_modified"),
    Index("fetched_addresses_by_origin", "origin", "fetched_at"),
)
"""The page that the live web last gave for an address, with its validators of then (HTTP)."""

saved_sites = Table("desks", metadata, _key("name"), *_texts("settings at"))

sources = Table(
    "sources",
    metadata,
    _key("id", Integer),
    *_texts("source_id", unique=True),
    *_texts("kind title url page_id sha256 description described_by added_at fetched_at detail"),
    *_texts("deleted_at gone_at", default=""),
    *_texts("words"),  # fingerprint of the terms in the full-text index; "" without any
    *_texts("origin mark", default=""),  # the folder it is synchronised with; its file's signature of then
    *_texts("folded"),  # text that lists are filtered by, without case and accents
    *_numbers("passages"),
    *_numbers("places", default=0),  # rows of its tables with coordinates
    *_numbers("by_run", default=0),  # 1: only runs brought it, nobody added it to the library
    Index("sources_by_page", "page_id"),
    Index("sources_by_age", "added_at", "id"),
    sqlite_autoincrement=True,
)

source_tags = Table(
    "source_tags",
    metadata,
    *_numbers("source"),
    *_texts("tag"),
    PrimaryKeyConstraint("source", "tag"),
    Index("sources_by_tag", "tag"),
)

passages = Table(
    "passages",
    metadata,
    _key("id", Integer),
    *_numbers("source n start end"),
    *_texts("heading kind label"),
    Index("passages_by_source", "source"),
    sqlite_autoincrement=True,  # ids are never reused: the full-text index and the vectors refer to them
)

embedders = Table(
    "embedders",
    metadata,
    _key("id", Integer),
    *_texts("name at"),
    *_numbers("dimensions"),
    Index("embedders_by_name", "name", "dimensions", unique=True),
)

vectors = Table(
    "vectors",
    metadata,
    _key("seq", Integer),  # grows with time, so that new ones are one range
    *_numbers("embedder passage"),
    Column("code", LargeBinary, nullable=False),
    Index("vectors_by_passage", "embedder", "passage", unique=True),
    sqlite_autoincrement=True,
)

unindexed_pages = Table("unshelved", metadata, _key("page_id"))

library_metadata = Table("marks", metadata, _key("name"), *_texts("value"))

batches = Table(
    "batches", metadata, _key("id"), *_texts("name state settings allowance columns created_at updated_at")
)

batch_rows = Table(
    "batch_rows",
    metadata,
    *_texts("batch_id question given own trouble"),
    *_texts("run_id", default=""),
    *_numbers("n same_as"),
    *_numbers("again", default=0),
    PrimaryKeyConstraint("batch_id", "n"),
    Index("batch_rows_by_run", "run_id"),
)

applied_migrations = Table("migrations", metadata, _key("name"), *_texts("at"))
