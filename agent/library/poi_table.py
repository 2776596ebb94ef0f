"""Tables of facilities: rows with a name and coordinates, found by the names of their columns."""

from __future__ import annotations

import re
from math import isfinite

from agent.text.tokens import fold
from agent.types import Facility, Page

_COLUMNS = {
    "name": "name title facility place site station shop store branch bezeichnung namn nom nombre nome",
    "kind": "kind type category class facility_type facilitytype amenity art typ kategorie kategori categorie tipo categoria",
    "address": "address addr street street_address full_address location adresse anschrift adress strasse gatuadress direccion indirizzo",
    "latitude": "latitude lat y breitengrad breite latitud latitudine geo_lat gps_lat y_coord lat_wgs84 wgs84_lat",
    "longitude": "longitude lon lng long x langengrad laenge lange longitud longitudine geo_lon geo_lng gps_lon gps_lng x_coord lon_wgs84 wgs84_lon",
}
_COORDINATE_COLUMNS = frozenset(
    "coordinates coordinate coords latlon latlng lat_lon lat_lng location_latlng geo gps position geopoint koordinaten".split()
)
_DEGREES = re.compile(r"([NSEWnsew])?\s*([+-]?\d{1,3}(?:[.,]\d+)?)(?:\s*°)?\s*([NSEWnsew])?")
_COORDINATE_PAIR = re.compile(r"\(?\s*([+-]?\d{1,3}\.\d+)(?:\s*[,;]|\s)\s*([+-]?\d{1,3}\.\d+)\s*\)?")
_COLUMN_OF_NAME = {
    spelling: column for column, spellings in _COLUMNS.items() for spelling in spellings.split()
}


def find_facilities(page: Page, source_id: str) -> tuple[list[Facility], int]:
    """The facilities in a page's tables, and how many rows have no name or no usable coordinates."""
    found: list[Facility] = []
    skipped = 0
    for table in page.tables:
        columns = _match_columns(table.rows[0]) if table.rows else {}
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


def _match_columns(header: list[str]) -> dict[str, int]:
    """The index of each known column, by its name; the first of each kind counts."""
    columns: dict[str, int] = {}
    for i, cell in enumerate(header):
        name = re.sub(r"[^a-z0-9]+", "_", fold(cell)).strip("_")
        column = _COLUMN_OF_NAME.get(name) or ("pair" if name in _COORDINATE_COLUMNS else "")
        if column:
            columns.setdefault(column, i)
    return columns


def _parse_coordinates(cells: dict[str, str]) -> tuple[float, float] | None:
    """Latitude and longitude in degrees; None when they are missing, invalid, or both exactly 0."""
    pair = _COORDINATE_PAIR.fullmatch(cells.get("pair", ""))
    if pair and "latitude" not in cells:
        latitude, longitude = float(pair[1]), float(pair[2])
    else:
        north, east = _parse_degrees(cells.get("latitude", "")), _parse_degrees(cells.get("longitude", ""))
        if north is None or east is None:
            return None
        latitude, longitude = north, east
    on_the_globe = (
        isfinite(latitude) and isfinite(longitude) and abs(latitude) <= 90 and abs(longitude) <= 180
    )
    return (latitude, longitude) if on_the_globe and (latitude or longitude) else None


def _parse_degrees(text: str) -> float | None:
    """Decimal degrees, with a comma or a point, and a sign or a letter for the direction."""
    match = _DEGREES.fullmatch(text.strip())
    if match is None:
        return None
    value = float(match[2].replace(",", "."))
    direction = (match[1] or match[3] or "").upper()
    return -value if direction in ("S", "W") else value
