"""Retry-After: seconds, dates, and what is neither."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from agent.text.retry_after import MAX_RETRY_AFTER_S, parse_retry_after


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("120", 120),
        ("0", 0),
        ("-5", 0),
        ("1.5", 1.5),
        ("999999999999", MAX_RETRY_AFTER_S),
        ("Sat, 21 Nov 2026 10:00:30 GMT", 30),
        ("Sat, 21 Nov 2026 09:00:00 GMT", 0),
        ("soon", None),
        ("nan", None),
        ("inf", None),
        ("", None),
        (None, None),
        ("1e400", None),
        ("Sun, 06 Nov 1994 08:49:37 -99999999999999", None),
    ],
)
def test_what_retry_after_asks_for(header: str | None, seconds: float | None) -> None:
    assert parse_retry_after(header, datetime(2026, 11, 21, 10, 0, 0, tzinfo=UTC)) == seconds
