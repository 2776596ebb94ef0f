"""The tables at the newest version; `migrations.py` holds the way there."""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
)

metadata = MetaData()

runs = Table(
    "runs",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("question", Text, nullable=False),
    Column("status", String(16), nullable=False),
    Column("settings", Text, nullable=False),
    Column("head", Integer, nullable=False),
    Column("next", String(32), nullable=False),
    Column("actions", Integer, nullable=False, default=0),
    Column("verdict", String(16), nullable=False, default=""),
    Column("confidence", Float),
    Column("error", Text, nullable=False, default=""),
    Column("control", String(8), nullable=False, default=""),
    Column("owner", String(200), nullable=False, default=""),
    Column("lease_until", Float, nullable=False, default=0.0),
    Column("token", Integer, nullable=False, default=0),
    Column("thread_id", String(32), nullable=False, default=""),
    Column("created_at", String(32), nullable=False),
    Column("updated_at", String(32), nullable=False),
    Column("deleted_at", String(32), nullable=False, default=""),
    Column("imported", String(64), nullable=False, default=""),  # SHA-256 of the bundle it was imported from
    # the run whose steps 0 to forked_at it shares
    Column("forked_from", String(32), nullable=False, default="", server_default=""),
    Column("forked_at", Integer, nullable=False, default=-1, server_default="-1"),
)

steps = Table(
    "steps",
    metadata,
    Column("run_id", String(32), nullable=False),
    Column("n", Integer, nullable=False),
    Column("name", String(32), nullable=False),
    Column("change", Text, nullable=False),
    Column("next", String(32), nullable=False),
    Column("by", String(16), nullable=False),
    Column("at", String(32), nullable=False),
    Column("seconds", Float, nullable=False, default=0.0),
    Column("cpu_ms", Float, nullable=False, default=0.0),
    PrimaryKeyConstraint("run_id", "n"),
)

pages = Table(
    "pages",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("url", Text, nullable=False),
    Column("sha256", String(64), nullable=False),
    Column("text", Text, nullable=False),
    Column("record", Text, nullable=False),
    Column("raw", LargeBinary),
    Column("fetched_at", String(32), nullable=False),
    # 1: known from a bundle, not fetched here
    Column("imported", Integer, nullable=False, default=0, server_default="0"),
    Index("pages_by_url", "url"),
)

calls = Table(
    "calls",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("run_id", String(32), nullable=False),
    Column("step", Integer, nullable=False),
    Column("record", Text, nullable=False),
    Column("tokens_in", Integer, nullable=False, default=0),
    Column("tokens_out", Integer, nullable=False, default=0),
    Column("cost_usd", Float),
    Column("at", String(32), nullable=False),
    Index("calls_by_run", "run_id", "step"),
)

drafts = Table(
    "drafts",
    metadata,
    Column("key", String(200), primary_key=True),
    Column("text", Text, nullable=False),
    Column("at", String(32), nullable=False),
)

fetched_addresses = Table(
    "fetched_addresses",
    metadata,
    Column("url", Text, primary_key=True),
    Column("origin", String(255), nullable=False),
    Column("page_id", String(40), nullable=False),
    Column("fetched_at", String(32), nullable=False),
    Column("etag", Text, nullable=False, server_default=""),
    Column("last_modified", Text, nullable=False, server_default=""),
    Index("fetched_addresses_by_origin", "origin", "fetched_at"),
)
"""The page that the live web last gave for an address, with its validators of then (HTTP)."""

saved_sites = Table(
    "desks",
    metadata,
    Column("name", String(80), primary_key=True),
    Column("settings", Text, nullable=False),
    Column("at", String(32), nullable=False),
)

sources = Table(
    "sources",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("source_id", Text, nullable=False, unique=True),
    Column("kind", String(8), nullable=False),
    Column("title", Text, nullable=False, default=""),
    Column("url", Text, nullable=False, default=""),
    Column("page_id", String(40), nullable=False),
    Column("sha256", String(64), nullable=False, default=""),
    Column("description", Text, nullable=False, default=""),
    Column("described_by", String(16), nullable=False, default="keyless"),
    Column("added_at", String(32), nullable=False),
    Column("fetched_at", String(32), nullable=False, default=""),
    Column("passages", Integer, nullable=False, default=0),
    Column("places", Integer, nullable=False, default=0),  # rows of its tables with coordinates
    Column("deleted_at", String(32), nullable=False, default=""),
    Column("gone_at", String(32), nullable=False, default=""),
    Column("detail", Text, nullable=False, default=""),
    # fingerprint of the terms in the full-text index; "" without any
    Column("words", String(16), nullable=False, default=""),
    # the folder it is synchronised with: "kb", "team" or ""
    Column("origin", String(8), nullable=False, default=""),
    Column("mark", String(80), nullable=False, default=""),  # signature of that file when it was last read
    # text that lists are filtered by, without case and accents
    Column("folded", Text, nullable=False, default=""),
    # 1: only runs brought it, nobody added it to the library
    Column("by_run", Integer, nullable=False, default=0, server_default="0"),
    Index("sources_by_page", "page_id"),
    Index("sources_by_age", "added_at", "id"),
    sqlite_autoincrement=True,
)

source_tags = Table(
    "source_tags",
    metadata,
    Column("source", Integer, nullable=False),
    Column("tag", String(80), nullable=False),
    PrimaryKeyConstraint("source", "tag"),
    Index("sources_by_tag", "tag"),
)

passages = Table(
    "passages",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("source", Integer, nullable=False),
    Column("n", Integer, nullable=False),
    Column("start", Integer, nullable=False),
    Column("end", Integer, nullable=False),
    Column("heading", Text, nullable=False, default=""),
    Column("kind", String(12), nullable=False, default="prose", server_default="prose"),
    Column("label", Text, nullable=False, default="", server_default=""),
    Index("passages_by_source", "source"),
    sqlite_autoincrement=True,  # ids are never reused: the full-text index and the vectors refer to them
)

embedders = Table(
    "embedders",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("dimensions", Integer, nullable=False),
    Column("at", String(32), nullable=False),
    Index("embedders_by_name", "name", "dimensions", unique=True),
)

vectors = Table(
    "vectors",
    metadata,
    Column("seq", Integer, primary_key=True),  # grows with time, so that new ones are one range
    Column("embedder", Integer, nullable=False),
    Column("passage", Integer, nullable=False),
    Column("code", LargeBinary, nullable=False),
    Index("vectors_by_passage", "embedder", "passage", unique=True),
    sqlite_autoincrement=True,
)

unindexed_pages = Table("unshelved", metadata, Column("page_id", String(40), primary_key=True))

library_metadata = Table(
    "marks", metadata, Column("name", String(80), primary_key=True), Column("value", Text, nullable=False)
)

FULLTEXT_TABLE = "library_words"
"""The full-text index of the passages; on SQLite only."""

batches = Table(
    "batches",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("name", Text, nullable=False),
    Column("state", String(16), nullable=False),
    Column("settings", Text, nullable=False),
    Column("allowance", Text, nullable=False),
    Column("columns", Text, nullable=False),
    Column("created_at", String(32), nullable=False),
    Column("updated_at", String(32), nullable=False),
)

batch_rows = Table(
    "batch_rows",
    metadata,
    Column("batch_id", String(32), nullable=False),
    Column("n", Integer, nullable=False),
    Column("question", Text, nullable=False),
    Column("given", Text, nullable=False, default="{}"),
    Column("own", Text, nullable=False, default="{}"),
    Column("same_as", Integer, nullable=False, default=0),
    Column("trouble", Text, nullable=False, default=""),
    Column("run_id", String(32), nullable=False, default=""),
    Column("again", Integer, nullable=False, default=0),
    PrimaryKeyConstraint("batch_id", "n"),
    Index("batch_rows_by_run", "run_id"),
)


applied_migrations = Table(
    "migrations",
    metadata,
    Column("name", String(100), primary_key=True),
    Column("at", String(32), nullable=False),
)
