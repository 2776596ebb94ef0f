"""Figures of different times are a series; of the same time, or of something else, they are none."""

from agent.evidence.contradiction.time_series import find_timelines
from agent.types import Fact


def told(*statements: str) -> list[list[tuple[str, str]]]:
    facts = [
        Fact(id=f"f{n}", statement=text, quote=text, url=f"https://s{n}.example/", verified=True)
        for n, text in enumerate(statements)
    ]
    return [[(point.when, point.value) for point in timeline.points] for timeline in find_timelines(facts)]


def test_figures_of_different_times_are_one_series_in_their_order() -> None:
    found = told(
        "In 2025 the Nordvik dairy employed 180 people.",
        "In 2023 the Nordvik dairy employed 120 people.",
        "The Nordvik dairy employs 31 people.",
        "In 2024 the Skarvik dairy employed 12 people.",
    )
    assert found == [[("2023", "120 people"), ("2025", "180 people")]]


def test_one_time_another_unit_or_another_matter_make_none() -> None:
    assert (
        told(
            "In 2023 the Nordvik dairy employed 120 people.", "In 2023 the Nordvik dairy employed 180 people."
        )
        == []
    )
    assert (
        told("In 2023 the Nordvik dairy employed 120 people.", "In 2025 the Nordvik dairy milked 400 cows.")
        == []
    )
