"""Tables of facilities: rows with a name and coordinates, found by the names of their columns."""

from __future__ import annotations

import re
from pathlib import Path

from agent.text.tokens import fold
from agent.types import Facility, Page

_DEGREES = re.compile(r"([NSEWnsew])?\s*([+-]?\d{1,3}(?:[.,]\d+)?)(?:\s*°)?\s*([NSEWnsew])?")
_DATA = Path(__file__).parent / "data"
_COLUMN_OF_NAME = {
    spelling: column
    for line in (_DATA / "facility_columns.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
    for column, _, spellings in [line.partition(": ")]
    for spelling in spellings.split()
}


def find_facilities(page: Page, source_id: str) -> tuple[list[Facility], int]:
    """The facilities in a page's tables, and how many rows have no name or no usable coordinates."""
    found: list[Facility] = []
    skipped = 0
    for table in page.tables:
        columns: dict[str, int] = {}  # of each kind the first column counts
        for i, cell in enumerate(table.rows[0] if table.rows else ()):
            if column := _COLUMN_OF_NAME.get(re.sub(r"[^a-z0-9]+", "_", fold(cell)).strip("_")):
                columns.setdefault(column, i)
        if "name" not in columns or not ({"latitude", "longitude"} <= columns.keys() or "pair" in columns):
            continue
        for number, row in enumerate(table.rows[1:], start=1):
            cells = {column: row[i].strip() for column, i in columns.items() if i < len(row)}
            place = _parse_coordinates(cells)
            if place is None or not cells.get("name"):
                skipped += 1
                continue
            found.append(
                Facility(
                    name=cells["name"],
                    kind=cells.get("kind", ""),
                    address=cells.get("address", ""),
                    latitude=place[0],
                    longitude=place[1],
                    source_id=source_id,
                    row=number,
                )
            )
    return found, skipped


def _parse_coordinates(cells: dict[str, str]) -> tuple[float, float] | None:
    """Latitude and longitude in degrees; None when they are missing, invalid, or both exactly 0."""
    parts = [cells.get("latitude", ""), cells.get("longitude", "")]
    if "latitude" not in cells:
        parts = cells.get("pair", "").strip("()").replace(",", " ").replace(";", " ").split()
        parts = parts if all("." in part for part in parts) else []  # "4, 5" may be any position
    degrees = [_parse_degrees(part) for part in parts]
    if len(degrees) != 2 or None in degrees:
        return None
    latitude, longitude = (value or 0.0 for value in degrees)
    on_the_globe = abs(latitude) <= 90 and abs(longitude) <= 180
    return (latitude, longitude) if on_the_globe and (latitude or longitude) else None


def _parse_degrees(text: str) -> float | None:
    """Decimal degrees, with a comma or a point, and a sign or a letter for the direction."""
    match = _DEGREES.fullmatch(text.strip())
    if match is None:
        return None
    value = float(match[2].replace(",", "."))
    direction = (match[1] or match[3] or "").upper()
    return -value if direction in ("S", "W") else value
