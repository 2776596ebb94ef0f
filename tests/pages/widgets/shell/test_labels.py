"""Times as a person reads them, whatever a bundle says they are."""

from __future__ import annotations

from datetime import UTC, datetime

from pages.widgets.shell import labels

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def test_times_are_told_plainly() -> None:
    assert labels.format_time("2026-11-21T09:30:12.5Z") == "2026-11-21 09:30 UTC"
    assert labels.format_time("2026-11-21") == "2026-11-21"
    assert labels.format_age("2026-11-21T09:30:00Z", NOW) == "2 h ago"
    assert labels.format_age("2026-11-21T11:59:50+00:00", NOW) == "just now"
    assert labels.format_age("2026-11-18T09:30:00", NOW) == "3 days ago"
    assert labels.days_since("2026-11-18T09:30:00Z", NOW) == 3
