"""Places in a text, and the distance of two points.

The places that are known are those of the facilities' own rows: names, addresses, and the towns and streets
in these. Points are degrees (WGS 84), distances kilometres along the great circle."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import asin, cos, radians, sin, sqrt
from typing import Literal

from agent.text.tokens import fold, tokenize
from agent.types import Facility

EARTH_KM = 6371.0088
"""Mean radius of the Earth, R1 of the International Union of Geodesy and Geophysics (Moritz 2000, Geodetic
Reference System 1980)."""
MAX_TOWN_RADIUS_KM = 30.0
"""Facilities whose addresses end alike but lie further from their middle than this are not in one town."""

GeoPoint = tuple[float, float]

_NUMBER = r"([-+]?\d{1,3}(?:\.\d+)?)\s*°?\s*"
_COORDINATES = re.compile(rf"{_NUMBER}([NS]?)(?:\s*[,;]\s*|\s+){_NUMBER}([EW]?)", re.IGNORECASE)


@dataclass(frozen=True)
class Place:
    """A place that a distance can be measured from, and how it is known."""

    name: str
    point: GeoPoint
    kind: Literal["coordinates", "facility", "address", "street", "town"]


def distance_km(one: GeoPoint, other: GeoPoint) -> float:
    """The great-circle distance of two points, by the haversine formula (Sinnott 1984)."""
    (lat1, lon1), (lat2, lon2) = (tuple(map(radians, point)) for point in (one, other))
    half = sin((lat2 - lat1) / 2) ** 2 + cos(lat1) * cos(lat2) * sin((lon2 - lon1) / 2) ** 2
    return 2 * EARTH_KM * asin(min(1.0, sqrt(half)))


def parse_coordinates(text: str) -> GeoPoint | None:
    """The point that a text is ("59.33, 18.06" or "59.33° N, 18.06° E"), or None; "1,000" is none."""
    text = text.strip()
    found = _COORDINATES.fullmatch(text) if "." in text or " " in text else None
    if found is None:
        return None
    south, west = (-1 if found[2] in ("S", "s") else 1), (-1 if found[4] in ("W", "w") else 1)
    point = float(found[1]) * south, float(found[3]) * west
    return point if abs(point[0]) <= 90 and abs(point[1]) <= 180 else None


def build_gazetteer(facilities: Sequence[Facility]) -> dict[str, list[Place]]:
    """The places that facilities name, by folded name: themselves, their addresses, and the towns and streets
    of these.

    The last part of an address is its town (the one before, when all end alike and have three: a country). A
    name of several places (a street of two towns) has an entry for each."""
    addresses = [[p.strip() for p in facility.address.split(",") if p.strip()] for facility in facilities]
    endings = {_strip_numbers(parts[-1]) if len(parts) > 2 else "" for parts in addresses}
    country = endings.pop() if len(endings) == 1 else ""
    found: dict[str, list[Place]] = defaultdict(list)
    streets: dict[str, dict[str, list[GeoPoint]]] = defaultdict(lambda: defaultdict(list))
    towns: dict[str, list[GeoPoint]] = defaultdict(list)
    for facility, parts in zip(facilities, addresses, strict=True):
        point = (facility.latitude, facility.longitude)
        local = [part for part in parts if not country or _strip_numbers(part) != country]
        town = _strip_numbers(local[-1]) if len(local) > 1 else ""
        if facility.name:
            found[fold(facility.name).strip()].append(Place(facility.name, point, "facility"))
        for name in filter(None, (facility.address, *local[:-1])):
            found[fold(name).strip()].append(Place(name, point, "address"))
        for part in local[:-1]:
            streets[_strip_numbers(part)][town].append(point)
        if town:
            towns[town].append(point)
    for name, by_town in streets.items():
        for town, points in by_town.items():
            full_name = f"{name}, {town}" if len(by_town) > 1 else name
            found[fold(name).strip()].append(Place(full_name, _centroid(points), "street"))
    for name, points in towns.items():
        if max(distance_km(_centroid(points), point) for point in points) <= MAX_TOWN_RADIUS_KM:
            found[fold(name).strip()] = [Place(name, _centroid(points), "town")]
    for key, places in found.items():
        kept: list[Place] = []
        for place in places:
            if all(distance_km(place.point, other.point) > 1.0 for other in kept):
                kept.append(place)
        found[key] = kept
    return {key: places for key, places in found.items() if len(key) > 2}


def _strip_numbers(part: str) -> str:
    """A town or street without its numbers."""
    return " ".join(re.sub(r"\b[A-Z]{0,3}-?\d[\d -]*\b", " ", part).split()).strip(" -")


def _centroid(points: Sequence[GeoPoint]) -> GeoPoint:
    return (sum(point[0] for point in points) / len(points), sum(point[1] for point in points) / len(points))


def find_places(text: str, known: dict[str, list[Place]]) -> list[Place]:
    """The known place of the longest name in a text; several when the name has several, [] for none."""
    spelled = f" {' '.join(tokenize(text))} "
    named = [key for key in known if f" {' '.join(tokenize(key))} " in spelled]
    best = max(named, key=lambda key: (len(tokenize(key)), len(key)), default="")
    found = known.get(best, [])
    narrowed = [place for place in found if set(tokenize(place.name)) <= set(tokenize(text))]
    return narrowed if len(found) > 1 and narrowed else found
