"""Places that were found: a map drawn here (nothing is fetched) with rings of distance, and a table."""

from __future__ import annotations

import math
from collections.abc import Sequence

from agent.flows.chat.state import FacilitySearch
from agent.text.plurals import format_count
from pages.widgets.run import answer_pane
from pages.widgets.shell import escape, markup

KM_PER_DEGREE = 111.195
"""Kilometres of one degree on a great circle (mean earth radius 6371.0 km)."""
SIZE, MARGIN = 420, 34
"""Side of the map and its empty margin, in pixels."""
MIDDLE = SIZE / 2
Point = tuple[float, float]


def draw(located: FacilitySearch, run_id: str) -> None:
    """The map and below it the table."""
    answer_pane.draw_html(f"{render_map(located)}{render_table(located)}", f"chat-places-{run_id}")


def describe(located: FacilitySearch) -> str:
    """What was found, in words."""
    what = format_count(len(located.rows), "place") + (f" of the kind {located.kind}" if located.kind else "")
    far = located.near and any(row.km is not None for row in located.rows)
    by = f"from {located.near} as the crow flies (the diamond on the map)" if far else "by name"
    return f"{what}, {by}"


def render_table(located: FacilitySearch) -> str:
    """The places as an HTML table, in the order of the answer."""
    far = any(row.km is not None for row in located.rows)
    kinds = len({row.kind for row in located.rows}) > 1
    head = ["No.", "Place", *["Kind"] * kinds, *["Distance"] * far]
    rows = [
        [
            f'<span class="n">{n}</span>',
            f'<b>{escape.html(row.name)}</b><br><span class="soft">{escape.html(row.address)}</span>',
            *[escape.html(row.kind)] * kinds,
            *[f'<span class="km">{format_distance(row.km)}</span>'] * far,
        ]
        for n, row in enumerate(located.rows, 1)
    ]
    line = markup.paragraph(escape.html(describe(located)))
    return f'<div class="places">{line}{markup.table(head, rows)}</div>'


def format_distance(km: float | None) -> str:
    """Kilometres as a person reads them: "800 m", "3.4 km", "128 km"."""
    if km is None:
        return "–"
    if km < 0.95:
        return f"{round(km * 100) * 10} m"
    return f"{km:.1f} km" if km < 20 else f"{km:,.0f} km"


def render_map(located: FacilitySearch) -> str:
    """The map as SVG: numbered places, and rings of distance around a point. No text from outside but its
    name."""
    rows = located.rows
    lats, lons = [row.latitude for row in rows], [row.longitude for row in rows]
    lat, lon = located.origin or ((min(lats) + max(lats)) / 2, (min(lons) + max(lons)) / 2)
    east = KM_PER_DEGREE * math.cos(math.radians(lat))  # equirectangular: good for some hundred kilometres
    places = [
        (((b - lon + 180) % 360 - 180) * east, (a - lat) * KM_PER_DEGREE)
        for a, b in zip(lats, lons, strict=True)
    ]
    reach = max([math.hypot(x, y) for x, y in places] + [0.2]) * 1.08
    scale = (MIDDLE - MARGIN) / reach
    power = 10 ** math.floor(math.log10(reach))
    step = next(power * m for m in (0.2, 0.5, 1.0, 2.0, 5.0) if reach / (power * m) < 5)
    parts = [f'<rect width="{SIZE}" height="{SIZE}" rx="8" fill="var(--sunk)"/>']
    if located.origin:
        parts += [_render_ring(step * n, step * n * scale) for n in range(1, int(reach / step) + 1)]
        parts.append(f'<path d="M{MIDDLE} {MIDDLE - 9} l7 9 l-7 9 l-7 -9 Z" fill="var(--gold)"/>')
    else:  # a bar tells the scale
        parts.append(f'<path d="M16 {SIZE - 18} h{step * scale:.1f}" stroke="var(--soft)" stroke-width="2"/>')
        parts.append(_render_text(16, SIZE - 24, f"{step:g} km", "start"))
    parts.append(_render_text(SIZE - 18, 24, "N ↑", "middle"))
    drawn = [(MIDDLE + x * scale, MIDDLE - y * scale) for x, y in places]
    numbered = _spread_labels(drawn, [(MIDDLE, MIDDLE)] if located.origin else [])
    parts += map(_render_place, range(len(drawn), 0, -1), reversed(drawn), reversed(numbered))
    name = escape.html(f"Map: {describe(located)}. The table below it has the same numbers")
    box = f'viewBox="0 0 {SIZE} {SIZE}" style="max-width: 22rem"'
    return f'<svg {box} role="img" aria-label="{name}">{"".join(parts)}</svg>'


def _render_text(x: float, y: float, text: str, anchor: str, fill: str = "var(--soft)") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" font-size="12" text-anchor="{anchor}"'
    return f'<text {place} style="fill: {fill}">{text}</text>'


def _render_ring(km: float, r: float) -> str:
    ring = f'cx="{MIDDLE}" cy="{MIDDLE}" r="{r:.1f}" fill="none" stroke="var(--line)" stroke-width="1.3"'
    return f"<circle {ring}/>" + _render_text(MIDDLE, MIDDLE + r - 4, f"{km:g} km", "middle")


def _render_place(n: int, at: Point, numbered: Point) -> str:
    """A place under its number; a line ties them where it had to make room."""
    (x, y), (a, b) = at, numbered
    tie = f'<path d="M{x:.1f} {y:.1f} L{a:.1f} {b:.1f}" stroke="var(--ink)"/>' if at != numbered else ""
    dot = f'cx="{a:.1f}" cy="{b:.1f}" r="11" fill="var(--accent)" stroke="var(--sunk)" stroke-width="2"'
    return f"{tie}<circle {dot}/>" + _render_text(a, b + 4.2, str(n), "middle", "var(--panel)")


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
