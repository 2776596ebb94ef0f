"""Places in words and numbers: kinds, points, distances, and what the facilities' own rows tell of towns and streets."""

from __future__ import annotations

import math

import pytest

from agent.text.places import asks_nearest, coordinates, distance_km, facility_word, gazetteer, kinds_in, place_in, somewhere
from agent.types import Facility


def facility(name: str, address: str, latitude: float = 60.0, longitude: float = 20.0, kind: str = "shop") -> Facility:
    return Facility(name=name, kind=kind, address=address, latitude=latitude, longitude=longitude, source_id="kb:x", row=1)


@pytest.mark.parametrize(
    ("one", "other", "km"),
    [
        ((0.0, 0.0), (0.0, 0.0), 0.0),
        ((0.0, 0.0), (0.0, 1.0), 111.195),
        ((0.0, 0.0), (90.0, 0.0), 10007.557),
        ((0.0, 0.0), (0.0, 180.0), 20015.115),
        ((90.0, 0.0), (-90.0, 77.0), 20015.115),
        ((10.0, 179.5), (10.0, -179.5), 109.505),
        ((51.4779, -0.0015), (48.8584, 2.2945), 334.0),
    ],
)
def test_distances_are_great_circles(one: tuple[float, float], other: tuple[float, float], km: float) -> None:
    assert distance_km(one, other) == pytest.approx(km, rel=1e-3, abs=1e-6)
    assert distance_km(one, other) == pytest.approx(distance_km(other, one))
    assert math.isfinite(distance_km(one, other))


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("59.33, 18.06", (59.33, 18.06)),
        ("near 59.33,18.06 please", (59.33, 18.06)),
        ("at -33.9; 18.4", (-33.9, 18.4)),
        ("59.33° N, 18.06° E", (59.33, 18.06)),
        ("33.9 S 70.6 W", (-33.9, -70.6)),
        ("60, 20", (60.0, 20.0)),
        ("91.0, 10.0", None),
        ("10.0, 181.0", None),
        ("the nearest clinic to 60, 20?", (60.0, 20.0)),
        ("on 3 May", None),
        ("on 3, 4 or 5 May", None),
        ("I have 1,000 clinics", None),
        ("near 1,000", None),
        ("", None),
    ],
)
def test_points_in_figures(text: str, point: tuple[float, float] | None) -> None:
    assert coordinates(text) == point


def test_kinds_by_their_own_words_or_others_that_mean_the_same() -> None:
    kinds = ["clinic", "pharmacy", "post office", "repair café"]
    assert kinds_in("Who can mend my chair?", kinds) == ["repair café"] and kinds_in("a café", kinds) == []
    assert kinds_in("Which pharmacies are there?", kinds) == ["pharmacy"]
    assert kinds_in("I need a chemist or a doctor", kinds) == ["clinic", "pharmacy"]
    assert kinds_in("the nearest Repair Cafe", kinds) == ["repair café"]
    assert kinds_in("post offices", kinds) == ["post office"] and kinds_in("the office", kinds) == [] and kinds_in("", kinds) == []


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("the nearest dentist to Brannvik", "dentist"), ("Is there a dentist?", "dentist"), ("nearest public library", "library"),
        ("Where can I find an ATM?", "atm"), ("Where is the Bank of England?", ""), ("is there a treaty?", ""), ("the dentist said", ""),
    ],
)  # fmt: skip
def test_a_facility_asked_for_as_such(text: str, word: str) -> None:
    assert facility_word(text) == word


def test_towns_and_streets_are_known_from_the_addresses() -> None:
    known = gazetteer([
        facility("A", "Storgatan 1, 123 45 Norrby", 60.0, 20.0), facility("B", "Storgatan 9, 123 46 Norrby", 60.02, 20.0),
        facility("C", "Hamngatan 2, Söderby", 61.0, 20.0),
    ])  # fmt: skip
    [town] = place_in("near Norrby", known)
    assert (town.name, town.sort, town.point) == ("Norrby", "town", (pytest.approx(60.01), pytest.approx(20.0)))
    assert [place.sort for place in place_in("Storgatan", known)] == ["street"]
    assert [place.sort for place in place_in("Storgatan 9, Norrby", known)] == ["address"], "the longest name"
    assert place_in("soderby", known)[0].name == "Söderby" and place_in("Paris", known) == [] and place_in("", known) == []


def test_a_name_of_two_places_stands_for_both_unless_the_text_says_which() -> None:
    known = gazetteer([facility("A", "Storgatan 1, Norrby", 60.0), facility("B", "Storgatan 2, Söderby", 61.0)])
    assert [place.name for place in place_in("near Storgatan", known)] == ["Storgatan, Norrby", "Storgatan, Söderby"]
    assert [place.name for place in place_in("Storgatan in Söderby", known)] == ["Storgatan, Söderby"]


def test_the_country_that_all_addresses_end_with_is_no_town() -> None:
    rows = [facility(f"F{n}", f"Väg {n}, {'Norrby' if n % 2 else 'Söderby'}, Sweden", 60.0 + n / 100) for n in range(6)]
    known = gazetteer(rows)
    assert place_in("in Sweden", known) == [] and place_in("in Norrby", known)[0].sort == "town"


def test_what_ends_alike_but_lies_far_apart_is_no_town() -> None:
    assert place_in("Norrby", gazetteer([facility("A", "Väg 1, Norrby", 60.0), facility("B", "Väg 2, Norrby", 65.0)])) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a clinic near the harbour?", "harbour"), ("apotek nära Storgatan", "Storgatan"), ("a clinic near me", ""), ("a clinic nearby", ""),
        ("the nearest clinic", ""), ("closest to the old town.", "old town"),
    ],
)  # fmt: skip
def test_the_words_that_name_a_place(text: str, words: str) -> None:
    assert somewhere(text) == words


def test_what_asks_for_the_nearest() -> None:
    assert asks_nearest("the nearest clinic") and asks_nearest("How far is it?") and asks_nearest("närmaste") and not asks_nearest("a clinic")
