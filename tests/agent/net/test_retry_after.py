"""Retry-After: seconds, dates, and what is neither."""

from __future__ import annotations

from datetime import UTC, datetime

from agent.net.exchange import parse_retry_after
from tests.tables import by_table


@by_table
def test_what_retry_after_asks_for(header: str | None, seconds: float | None) -> None:
    assert parse_retry_after(header, datetime(2026, 11, 21, 10, 0, 0, tzinfo=UTC)) == seconds
