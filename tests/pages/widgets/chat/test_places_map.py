"""The map of places: drawn to scale, with room for the numbers."""

from __future__ import annotations

import math
import re

from agent.flows.chat.state import FacilityHit, FacilitySearch
from pages.widgets.chat import places_map

HERE = (59.0, 15.0)


def _place(name: str, km: float) -> FacilityHit:
    return FacilityHit(
        name=name, kind="library", latitude=HERE[0] + km / places_map.KM_PER_DEGREE, longitude=HERE[1], km=km
    )


def _points(drawn: str, radius: str) -> list[float]:
    """How far from the middle the circles of this radius are, in pixels."""
    middle = places_map.SIZE / 2
    found = re.findall(rf'<circle cx="([\d.]+)" cy="([\d.]+)" r="{radius}"', drawn)
    return sorted(math.hypot(float(x) - middle, float(y) - middle) for x, y in found)


def test_a_place_close_by_is_drawn_where_it_is_and_its_number_beside_it():
    drawn = places_map.render_map(
        FacilitySearch(near="here", origin=HERE, rows=[_place("a", 0.26), _place("b", 20.0)])
    )
    scale = (places_map.SIZE / 2 - places_map.MARGIN) / (20 * 1.08)
    (point,) = _points(drawn, "3")
    assert abs(point - 0.26 * scale) < 0.2, "the point is to scale"
    near, far = _points(drawn, "11")
    assert near > 19 and abs(far - 20 * scale) < 0.2, (
        "the number of the first has made room for the middle, the second stands where it is"
    )


def test_places_with_room_need_no_points_of_their_own():
    drawn = places_map.render_map(FacilitySearch(near="here", origin=HERE, rows=[_place("a", 0.26)]))
    assert _points(drawn, "3") == [] and len(_points(drawn, "11")) == 1
