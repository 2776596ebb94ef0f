"""What a step of a collection says of itself."""

from __future__ import annotations

import pytest

from agent.flows.collect.flow import describe_step
from agent.types.collection import CollectIntent


@pytest.mark.parametrize(
    ("since", "until", "told"),
    [
        ("2024-02-29", "2024-12-31", "wanted: ferries, 2024-02-29 to 2024-12-31"),
        ("2026-11-14", "", "wanted: ferries, since 2026-11-14"),
        ("", "2024-12-31", "wanted: ferries, until 2024-12-31"),
        ("", "", "wanted: ferries"),
    ],
)
def test_a_time_is_told_by_its_days(since: str, until: str, told: str) -> None:
    intent = CollectIntent(topic="ferries", since=since, until=until, today="2026-11-21")
    assert describe_step("intent", {"intent": intent.model_dump()}) == told
