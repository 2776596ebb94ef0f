"""The Retry-After header of HTTP (RFC 9110): seconds or a date."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite

MAX_RETRY_AFTER_S = 86_400.0
"""A longer wait counts as a day."""


def parse_retry_after(header: str | None, now: datetime | None = None) -> float | None:
    """Seconds to wait, from 0 to a day; None when the header is missing, unreadable or infinite."""
    value = (header or "").strip()
    try:
        seconds = float(value)
    except ValueError:
        try:
            when = parsedate_to_datetime(value)
        except (ValueError, OverflowError):
            return None
        when = when if when.tzinfo else when.replace(tzinfo=UTC)
        seconds = (when - (now or datetime.now(UTC))).total_seconds()
    return min(max(0.0, seconds), MAX_RETRY_AFTER_S) if isfinite(seconds) else None
