"""Places that were found: a map drawn here (nothing is fetched) with rings of distance, and a table."""

from __future__ import annotations

import math
from collections.abc import Sequence

import streamlit as st

from agent.flows.chat.state import FacilityHit, FacilitySearch
from agent.text.plurals import format_count
from pages.widgets.shell import escape

KM_PER_DEGREE = 111.195
"""Kilometres of one degree on a great circle (mean earth radius 6371.0 km)."""
SIZE, MARGIN = 420, 34
"""Side of the map and its empty margin, in pixels."""
COLOURS = {
    False: {
        "ink": "#1f2421",
        "soft": "#5a615c",
        "line": "#dedad0",
        "dot": "#14695b",
        "text": "#ffffff",
        "gold": "#8f5c00",
        "ground": "#f3f1ea",
    },
    True: {
        "ink": "#ebe8e1",
        "soft": "#a9afa9",
        "line": "#353d3f",
        "dot": "#5cc0aa",
        "text": "#14181a",
        "gold": "#e0b252",
        "ground": "#1e2426",
    },
}
Point = tuple[float, float]


def draw(located: FacilitySearch, run_id: str) -> None:
    """Map and table side by side; below one another where there is no room."""
    dark = st.context.theme.type == "dark"
    with st.container(horizontal=True, gap="medium", key=f"chat-places-{run_id}"):
        with st.container(width=SIZE, key=f"chat-map-{run_id}"):
            st.image(
                render_map(located, dark=dark),
                alt=f"Map: {describe(located)}. The table beside it has the same numbers",
                width="stretch",
            )
        with st.container(width="stretch"):
            st.html(render_table(located))


def describe(located: FacilitySearch) -> str:
    """What was found, in words."""
    what = format_count(len(located.rows), "place") + (f" of the kind {located.kind}" if located.kind else "")
    far = located.near and any(row.km is not None for row in located.rows)
    return (
        f"{what}, from {located.near} as the crow flies (the diamond on the map)"
        if far
        else f"{what}, by name"
    )


def render_table(located: FacilitySearch) -> str:
    """The places as an HTML table, in the order of the answer."""
    far = any(row.km is not None for row in located.rows)
    kinds = len({row.kind for row in located.rows}) > 1
    head = (
        f"<tr><th>No.</th><th>Place</th>{'<th>Kind</th>' if kinds else ''}"
        f"{'<th>Distance</th>' if far else ''}</tr>"
    )
    rows = "".join(_render_row(n, row, kinds=kinds, far=far) for n, row in enumerate(located.rows, 1))
    line = f'<p class="small soft">{escape.html(describe(located))}</p>'
    return f'<div class="ts places">{line}<div class="scroll"><table>{head}{rows}</table></div></div>'


def _render_row(n: int, row: FacilityHit, *, kinds: bool, far: bool) -> str:
    place = f'<b>{escape.html(row.name)}</b><br><span class="soft">{escape.html(row.address)}</span>'
    kind = f"<td>{escape.html(row.kind)}</td>" if kinds else ""
    km = f'<td class="km">{format_distance(row.km)}</td>' if far else ""
    return f'<tr><td class="n">{n}</td><td>{place}</td>{kind}{km}</tr>'


def format_distance(km: float | None) -> str:
    """Kilometres as a person reads them: "800 m", "3.4 km", "128 km"."""
    if km is None:
        return "–"
    if km < 0.95:
        return f"{round(km * 100) * 10} m"
    return f"{km:.1f} km" if km < 20 else f"{km:,.0f} km"


def project_to_km(points: Sequence[Point], around: Point) -> list[Point]:
    """(latitude, longitude) pairs as kilometres east and north of a point (equirectangular, good for a map of
    some hundred kilometres)."""
    lat, lon = around
    shrink = math.cos(math.radians(lat))
    return [
        (((b - lon + 180) % 360 - 180) * KM_PER_DEGREE * shrink, (a - lat) * KM_PER_DEGREE) for a, b in points
    ]


def render_map(located: FacilitySearch, *, dark: bool = False) -> str:
    """The map as SVG: numbered places, and rings of distance around a point. No text from outside."""
    colours, rows = COLOURS[dark], located.rows
    origin = located.origin or _find_middle(rows)
    places = project_to_km([(row.latitude, row.longitude) for row in rows], origin)
    reach = max([math.hypot(x, y) for x, y in places] + [0.2]) * 1.08
    scale = (SIZE / 2 - MARGIN) / reach
    parts = [f'<rect width="{SIZE}" height="{SIZE}" rx="8" fill="{colours["ground"]}"/>']
    if located.origin:
        parts += _render_rings(reach, scale, colours)
        parts.append(f'<path d="M{SIZE / 2} {SIZE / 2 - 9} l7 9 l-7 9 l-7 -9 Z" fill="{colours["gold"]}"/>')
    else:
        parts += _render_scale_bar(reach, scale, colours)
    drawn = [(SIZE / 2 + x * scale, SIZE / 2 - y * scale) for x, y in places]
    taken = [(SIZE / 2, SIZE / 2)] if located.origin else []
    numbered = _spread_labels(drawn, taken)
    parts += [
        _render_leader_line(at, drawn_at, colours)
        for at, drawn_at in zip(drawn, numbered, strict=True)
        if at != drawn_at
    ]
    parts += [_render_dot(n, at, colours) for n, at in reversed(list(enumerate(numbered, 1)))]
    parts.append(
        f'<text x="{SIZE - 18}" y="24" font-size="13" text-anchor="middle" fill="{colours["soft"]}">N</text>'
    )
    parts.append(
        f'<path d="M{SIZE - 18} 30 v14 M{SIZE - 22} 35 l4 -6 l4 6" stroke="{colours["soft"]}" fill="none"/>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIZE} {SIZE}" width="{SIZE}" height="{SIZE}" '
        f'font-family="system-ui, sans-serif">{"".join(parts)}</svg>'
    )


def choose_ring_distances(reach: float) -> list[float]:
    """Two to four round distances (1, 2 or 5 times a power of ten) up to `reach` kilometres."""
    power = 10 ** math.floor(math.log10(reach))
    step = next(power * m for m in (0.2, 0.5, 1.0, 2.0, 5.0) if reach / (power * m) < 5)
    return [step * n for n in range(1, int(reach / step) + 1)]


def _render_rings(reach: float, scale: float, colours: dict[str, str]) -> list[str]:
    parts: list[str] = []
    for km in choose_ring_distances(reach):
        r = km * scale
        parts.append(
            f'<circle cx="{SIZE / 2}" cy="{SIZE / 2}" r="{r:.1f}" fill="none" '
            f'stroke="{colours["line"]}" stroke-width="1.3"/>'
        )
        parts.append(
            f'<text x="{SIZE / 2}" y="{SIZE / 2 + r - 4:.1f}" font-size="12" text-anchor="middle" '
            f'fill="{colours["soft"]}">{_format_ring(km)}</text>'
        )
    return parts


def _render_scale_bar(reach: float, scale: float, colours: dict[str, str]) -> list[str]:
    km = choose_ring_distances(reach)[0]
    return [
        f'<path d="M16 {SIZE - 18} h{km * scale:.1f}" stroke="{colours["soft"]}" stroke-width="2"/>',
        f'<text x="16" y="{SIZE - 24}" font-size="12" fill="{colours["soft"]}">{_format_ring(km)}</text>',
    ]


def _format_ring(km: float) -> str:
    return f"{km:g} km" if km >= 1 else f"{km * 1000:g} m"


def _render_dot(n: int, at: Point, colours: dict[str, str]) -> str:
    x, y = at
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="11" fill="{colours["dot"]}" '
        f'stroke="{colours["ground"]}" stroke-width="2"/>'
        f'<text x="{x:.1f}" y="{y + 4.2:.1f}" font-size="12" font-weight="600" '
        f'text-anchor="middle" fill="{colours["text"]}">{n}</text>'
    )


def _render_leader_line(at: Point, label: Point, colours: dict[str, str]) -> str:
    """A place that its number had to make room for: a point where it really is, tied to the number."""
    (x, y), (a, b) = at, label
    ink = colours["ink"]
    return (
        f'<path d="M{x:.1f} {y:.1f} L{a:.1f} {b:.1f}" stroke="{ink}" stroke-width="1.2"/>'
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{ink}" '
        f'stroke="{colours["ground"]}" stroke-width="1"/>'
    )


def _spread_labels(points: Sequence[Point], taken: Sequence[Point]) -> list[Point]:
    """The points, those that would cover others (or a taken one) moved aside: places for their numbers."""
    placed: list[Point] = list(taken)
    for x, y in points:
        for turn in range(24):
            angle, far = turn * 2.4, 0.0 if turn == 0 else 8 + turn * 2.5
            at = (x + far * math.cos(angle), y + far * math.sin(angle))
            if all(math.hypot(at[0] - a, at[1] - b) >= 20 for a, b in placed):
                break
        placed.append(at)
    return placed[len(taken) :]


def _find_middle(rows: Sequence[FacilityHit]) -> Point:
    lats, lons = [row.latitude for row in rows], [row.longitude for row in rows]
    return (min(lats) + max(lats)) / 2, (min(lons) + max(lons)) / 2
