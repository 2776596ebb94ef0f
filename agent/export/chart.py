"""A chart of a report as a picture: SVG for web pages, PNG for Word. Loads nothing, needs no browser.

Both draw the same marks: bars by category, a line where all labels are years."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from io import BytesIO
from math import floor, log10

from agent.export.escaping import to_one_line

Points = Sequence[tuple[str, float]]
WIDTH, HEIGHT = 640, 280
LEFT, RIGHT, TOP, BOTTOM = 70, 20, 15, 40
"""Margins of the drawing area, in the units of WIDTH and HEIGHT."""
INK, SOFT, LINE, MARK = "#1f2421", "#5b625d", "#dedad0", "#14695b"
MAX_LABEL_CHARS = 16
PNG_SCALE = 3
"""Pixels a unit: 15 cm wide in print are then 325 dots an inch."""
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")


@dataclass(frozen=True)
class Mark:
    """A line, bar, dot or text of the picture; of a bar (x, y) and (x2, y2) are its corners."""

    kind: str
    x: float
    y: float
    x2: float = 0.0
    y2: float = 0.0
    text: str = ""
    anchor: str = "middle"


def draw_svg(points: Points) -> str:
    """The chart as an SVG element. Its classes take their colours from the page."""
    marks = "".join(map(_write_svg, _lay_out(points)))
    label = escape(", ".join(f"{name}: {value:g}" for name, value in points), quote=True)
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">{marks}</svg>'


def draw_png(points: Points) -> bytes:
    """The chart as a PNG file on white."""
    from PIL import Image, ImageDraw, ImageFont  # imported here: only an export with a chart needs it

    image = Image.new("RGB", (WIDTH * PNG_SCALE, HEIGHT * PNG_SCALE), "white")
    draw, font = ImageDraw.Draw(image), ImageFont.load_default(11 * PNG_SCALE)
    for mark in _lay_out(points):
        x, y, x2, y2 = (value * PNG_SCALE for value in (mark.x, mark.y, mark.x2, mark.y2))
        if mark.kind == "text":
            anchor = {"middle": "ms", "end": "rs"}[mark.anchor]
            draw.text((x, y), mark.text, fill=SOFT, font=font, anchor=anchor)
        elif mark.kind == "bar":
            draw.rectangle((x, y, x2, y2), fill=MARK)
        elif mark.kind == "dot":
            radius = 3.5 * PNG_SCALE
            draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=MARK)
        else:
            is_axis = mark.kind == "axis"
            draw.line((x, y, x2, y2), fill=LINE if is_axis else MARK, width=PNG_SCALE * (1 if is_axis else 2))
    out = BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def is_time_series(points: Points) -> bool:
    """Whether every label is a year, rising."""
    labels = [label.strip() for label, _ in points]
    return all(map(_YEAR.fullmatch, labels)) and labels == sorted(set(labels))


def _lay_out(points: Points) -> Iterator[Mark]:
    """The marks of the picture, the scale first."""
    values = [value for _, value in points]
    ticks = _choose_ticks(min(0.0, *values), max(0.0, *values))
    span = ticks[-1] - ticks[0] or 1.0

    def height(value: float) -> float:
        return round(TOP + (HEIGHT - TOP - BOTTOM) * (1 - (value - ticks[0]) / span), 1)

    for tick in ticks:
        yield Mark("axis", LEFT, height(tick), WIDTH - RIGHT, height(tick))
        yield Mark("text", LEFT - 8, height(tick) + 4, text=f"{tick:,.10g}", anchor="end")
    wide = (WIDTH - LEFT - RIGHT) / len(points)
    middles = [round(LEFT + wide * (n + 0.5), 1) for n in range(len(points))]
    every = max(1, -(-len(points) * MAX_LABEL_CHARS * 6 // (WIDTH - LEFT - RIGHT))) if wide < 60 else 1
    room = max(4, min(MAX_LABEL_CHARS * 2, int(wide * every / 6)))
    for n, (label, _) in enumerate(points):
        if n % every == 0:
            line = to_one_line(label)
            text = line if len(line) <= room else f"{line[: room - 1]}…"
            yield Mark("text", middles[n], HEIGHT - BOTTOM + 20, text=text)
    if is_time_series(points):
        for n in range(1, len(points)):
            yield Mark("line", middles[n - 1], height(values[n - 1]), middles[n], height(values[n]))
        yield from (Mark("dot", x, height(value)) for x, value in zip(middles, values, strict=True))
        return
    for x, value in zip(middles, values, strict=True):
        ends = sorted((height(value), height(0.0)))
        yield Mark("bar", round(x - wide * 0.32, 1), ends[0], round(x + wide * 0.32, 1), ends[1])


def _choose_ticks(low: float, high: float) -> list[float]:
    """Four to seven round numbers that span the values."""
    size = (high - low) / 5 or 1.0
    unit = 10.0 ** floor(log10(size))
    step = next(unit * factor for factor in (1, 2, 2.5, 5, 10) if unit * factor >= size)
    first = floor(low / step)
    last = -floor(-high / step)
    return [round(n * step, 10) for n in range(first, last + 1)]


def _write_svg(mark: Mark) -> str:
    if mark.kind == "text":
        return f'<text x="{mark.x}" y="{mark.y}" text-anchor="{mark.anchor}">{escape(mark.text)}</text>'
    if mark.kind == "dot":
        return f'<circle cx="{mark.x}" cy="{mark.y}" r="3.5"/>'
    if mark.kind == "bar":
        size = f'width="{mark.x2 - mark.x:.1f}" height="{mark.y2 - mark.y:.1f}"'
        return f'<rect class="bar" x="{mark.x}" y="{mark.y}" {size}/>'
    name = "axis" if mark.kind == "axis" else "curve"
    return f'<line class="{name}" x1="{mark.x}" x2="{mark.x2}" y1="{mark.y}" y2="{mark.y2}"/>'
