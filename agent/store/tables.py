"""The tables as they are at the newest version. How they came to be so is told in `migrations.py`."""

from __future__ import annotations

from sqlalchemy import Column, Float, Index, Integer, LargeBinary, MetaData, PrimaryKeyConstraint, String, Table, Text

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

desks = Table(
    "desks",
    metadata,
    Column("name", String(80), primary_key=True),
    Column("settings", Text, nullable=False),
    Column("at", String(32), nullable=False),
)

applied = Table(
    "migrations",
    metadata,
    Column("name", String(100), primary_key=True),
    Column("at", String(32), nullable=False),
)
