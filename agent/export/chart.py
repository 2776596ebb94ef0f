"""A chart of a report as a picture: SVG for web pages, PNG for Word. Loads nothing, needs no browser.

Both draw the same marks: bars by category, a line for each column where all labels are years."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from io import BytesIO
from math import floor, log10

from agent.evidence.block_layout import is_year
from agent.export.escaping import to_one_line

Series = Mapping[str, Sequence[tuple[str, float]]]
"""By name each label with its number; all series have the same labels."""
WIDTH, HEIGHT = 640, 280
LEFT, RIGHT, TOP, BOTTOM = 70, 20, 15, 50
"""Margins of the drawing area, in the units of WIDTH and HEIGHT."""
SOFT, LINE = "#5b625d", "#dedad0"
COLOURS = ("#14695b", "#b5651d", "#4b5fa5", "#8a3d62")
"""Of the series in their order; told apart by people who confuse red and green, and in grey."""
MAX_LABEL_CHARS, CHAR_WIDTH, MAX_BAR_WIDTH = 16, 7, 64
PNG_SCALE = 3
"""Pixels a unit: 15 cm wide in print are then 325 dots an inch."""


@dataclass(frozen=True)
class Mark:
    """A line, bar, dot or text of the picture; of a bar (x, y) and (x2, y2) are its corners. `series` is the
    number of the series that it belongs to; -1 for none."""

    kind: str
    x: float
    y: float
    x2: float = 0.0
    y2: float = 0.0
    text: str = ""
    anchor: str = "middle"
    series: int = -1


def draw_svg(series: Series) -> str:
    """The chart as an SVG element. Its classes take their colours from the page."""
    marks = ""
    for mark in _lay_out(series):
        name = f"series{mark.series % len(COLOURS)}" if mark.series >= 0 else mark.kind
        place = f'class="{name}" x="{mark.x}" y="{mark.y}"'
        if mark.kind == "text":
            marks += f'<text {place} text-anchor="{mark.anchor}">{escape(mark.text)}</text>'
        elif mark.kind == "dot":
            marks += f'<circle class="{name}" cx="{mark.x}" cy="{mark.y}" r="3.5"/>'
        elif mark.kind == "bar":
            marks += f'<rect {place} width="{mark.x2 - mark.x:.1f}" height="{mark.y2 - mark.y:.1f}"/>'
        else:
            marks += f'<line class="{name}" x1="{mark.x}" x2="{mark.x2}" y1="{mark.y}" y2="{mark.y2}"/>'
    told = (
        (f"{name}: " if len(series) > 1 else "") + ", ".join(f"{label}: {value:g}" for label, value in points)
        for name, points in series.items()
    )
    label = escape("; ".join(told), quote=True)
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">{marks}</svg>'


def draw_png(series: Series) -> bytes:
    """The chart as a PNG file on white."""
    from PIL import Image, ImageDraw, ImageFont  # imported here: only an export with a chart needs it

    image = Image.new("RGB", (WIDTH * PNG_SCALE, HEIGHT * PNG_SCALE), "white")
    draw, font = ImageDraw.Draw(image), ImageFont.load_default(11 * PNG_SCALE)
    for mark in _lay_out(series):
        x, y, x2, y2 = (value * PNG_SCALE for value in (mark.x, mark.y, mark.x2, mark.y2))
        colour = COLOURS[mark.series % len(COLOURS)] if mark.series >= 0 else SOFT
        if mark.kind == "text":
            anchor = {"middle": "ms", "end": "rs", "start": "ls"}[mark.anchor]
            draw.text((x, y), mark.text, fill=colour, font=font, anchor=anchor)
        elif mark.kind == "bar":
            draw.rectangle((x, y, x2, y2), fill=colour)
        elif mark.kind == "dot":
            radius = 3.5 * PNG_SCALE
            draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=colour)
        elif mark.kind == "axis":
            draw.line((x, y, x2, y2), fill=LINE, width=PNG_SCALE)
        else:
            draw.line((x, y, x2, y2), fill=colour, width=PNG_SCALE * 2)
    out = BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def is_time_series(series: Series) -> bool:
    """Whether every label is a year, rising."""
    labels = [label.strip() for label, _ in next(iter(series.values()))]
    return all(map(is_year, labels)) and labels == sorted(set(labels))


def _lay_out(series: Series) -> Iterator[Mark]:
    """The marks of the picture, the scale first."""
    values = [value for points in series.values() for _, value in points]
    low, high = min(0.0, *values), max(0.0, *values)
    size = (high - low) / 5 or 1.0
    unit = 10.0 ** floor(log10(size))
    step = next(unit * factor for factor in (1, 2, 2.5, 5, 10) if unit * factor >= size)
    # four to seven round numbers that span the values
    ticks = [round(n * step, 10) for n in range(floor(low / step), -floor(-high / step) + 1)]
    span = ticks[-1] - ticks[0] or 1.0

    def height(value: float) -> float:
        return round(TOP + (HEIGHT - TOP - BOTTOM) * (1 - (value - ticks[0]) / span), 1)

    for tick in ticks:
        yield Mark("axis", LEFT, height(tick), WIDTH - RIGHT, height(tick))
        yield Mark("text", LEFT - 8, height(tick) + 4, text=f"{tick:,.10g}".replace("-", "−"), anchor="end")
    labels = [label for label, _ in next(iter(series.values()))]
    wide = (WIDTH - LEFT - RIGHT) / len(labels)
    middles = [round(LEFT + wide * (n + 0.5), 1) for n in range(len(labels))]
    longest = min(MAX_LABEL_CHARS, max(map(len, labels)))
    every = max(1, -(-longest * CHAR_WIDTH // max(1, int(wide))))  # of many labels every second, third …
    room = max(4, int(wide * every / CHAR_WIDTH))
    for x, label in list(zip(middles, labels, strict=True))[::every]:
        yield Mark("text", x, HEIGHT - BOTTOM + 20, text=_shorten(to_one_line(label), room))
    if not is_time_series(series):
        half = round(min(wide * 0.32, MAX_BAR_WIDTH / 2), 1)
        for x, (_, value) in zip(middles, next(iter(series.values())), strict=True):
            ends = sorted((height(value), height(0.0)))
            yield Mark("bar", x - half, ends[0], x + half, ends[1], series=0)
        return
    for number, points in enumerate(series.values()):
        heights = [height(value) for _, value in points]
        for n in range(1, len(points)):
            yield Mark("line", middles[n - 1], heights[n - 1], middles[n], heights[n], series=number)
        yield from (Mark("dot", x, y, series=number) for x, y in zip(middles, heights, strict=True))
    if len(series) > 1:
        for number, name in enumerate(series):
            x = LEFT + number * (WIDTH - LEFT - RIGHT) / len(series)
            text = _shorten(name, MAX_LABEL_CHARS)
            yield Mark("dot", x + 4, HEIGHT - 8, series=number)
            yield Mark("text", x + 12, HEIGHT - 4, text=text, anchor="start", series=number)


def _shorten(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
