"""Places in words and numbers: kinds, points, distances, and what the facilities' own rows tell of towns and
streets."""

from __future__ import annotations

import math

import pytest

from agent.text.geo import build_gazetteer, distance_km, find_places, parse_coordinates
from agent.types import Facility
from tests.tables import by_table


def facility(
    name: str, address: str, latitude: float = 60.0, longitude: float = 20.0, kind: str = "shop"
) -> Facility:
    return Facility(
        name=name, kind=kind, address=address, latitude=latitude, longitude=longitude, source_id="kb:x", row=1
    )


@by_table
def test_distances_are_great_circles(one: tuple[float, float], other: tuple[float, float], km: float) -> None:
    assert distance_km(one, other) == pytest.approx(km, rel=1e-3, abs=1e-6)
    assert distance_km(one, other) == pytest.approx(distance_km(other, one))
    assert math.isfinite(distance_km(one, other))


@by_table
def test_points_in_figures(text: str, point: tuple[float, float] | None) -> None:
    assert parse_coordinates(text) == (tuple(point) if point else None)


def test_towns_and_streets_are_known_from_the_addresses() -> None:
    known = build_gazetteer(
        [
            facility("A", "Storgatan 1, 123 45 Norrby", 60.0, 20.0),
            facility("B", "Storgatan 9, 123 46 Norrby", 60.02, 20.0),
            facility("C", "Hamngatan 2, Söderby", 61.0, 20.0),
        ]
    )
    [town] = find_places("near Norrby", known)
    assert (town.name, town.kind, town.point) == (
        "Norrby",
        "town",
        (pytest.approx(60.01), pytest.approx(20.0)),
    )
    assert [place.kind for place in find_places("Storgatan", known)] == ["street"]
    assert [place.kind for place in find_places("Storgatan 9, Norrby", known)] == ["address"], (
        "the longest name"
    )
    assert find_places("soderby", known)[0].name == "Söderby" and find_places("Paris", known) == []
    assert find_places("", known) == []


def test_a_name_of_two_places_stands_for_both_unless_the_text_says_which() -> None:
    known = build_gazetteer(
        [facility("A", "Storgatan 1, Norrby", 60.0), facility("B", "Storgatan 2, Söderby", 61.0)]
    )
    assert [place.name for place in find_places("near Storgatan", known)] == [
        "Storgatan, Norrby",
        "Storgatan, Söderby",
    ]
    assert [place.name for place in find_places("Storgatan in Söderby", known)] == ["Storgatan, Söderby"]


def test_the_country_that_all_addresses_end_with_is_no_town() -> None:
    rows = [
        facility(f"F{n}", f"Väg {n}, {'Norrby' if n % 2 else 'Söderby'}, Sweden", 60.0 + n / 100)
        for n in range(6)
    ]
    known = build_gazetteer(rows)
    assert find_places("in Sweden", known) == [] and find_places("in Norrby", known)[0].kind == "town"


def test_what_ends_alike_but_lies_far_apart_is_no_town() -> None:
    assert (
        find_places(
            "Norrby",
            build_gazetteer([facility("A", "Väg 1, Norrby", 60.0), facility("B", "Väg 2, Norrby", 65.0)]),
        )
        == []
    )
