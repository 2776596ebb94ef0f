"""What a step of a collection says of itself."""

from __future__ import annotations

import pytest

from agent.flows.collect.flow import describe_step
from agent.types.collection import CollectIntent


@pytest.mark.parametrize(
    ("days", "until", "told"),
    [
        (996, "2024-12-31", "wanted: ferries, 2024-02-29 to 2024-12-31"),
        (7, "", "wanted: ferries, since 2026-11-14"),
        (None, "2024-12-31", "wanted: ferries, until 2024-12-31"),
        (None, "", "wanted: ferries"),
    ],
)
def test_a_time_is_told_by_its_days_not_by_their_number(days: int | None, until: str, told: str) -> None:
    intent = CollectIntent(topic="ferries", time_range_days=days, until=until, today="2026-11-21")
    assert describe_step("intent", {"intent": intent.model_dump()}) == told
