"""A chart of a report as a picture: SVG for web pages, PNG for Word. Loads nothing, needs no browser.

Both draw the same marks: bars by category, a line for each column where all labels are years."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from io import BytesIO
from itertools import pairwise
from math import floor, log10
from typing import Literal, NamedTuple

from agent.evidence.block_layout import is_year
from agent.export.escaping import to_one_line

Series = Mapping[str, Sequence[tuple[str, float]]]
"""By name each label with its number; all series have the same labels."""
WIDTH, HEIGHT = 640, 280
LEFT, RIGHT, TOP, BOTTOM = 70, 20, 15, 50
"""Margins of the drawing area, in the units of WIDTH and HEIGHT."""
FONT, CHAR_WIDTH, RADIUS, MAX_LABEL_CHARS = 11, 7, 3.5, 16
SOFT, LINE = "#5b625d", "#dedad0"
COLOURS = ("#14695b", "#b5651d", "#4b5fa5", "#8a3d62")
"""Of the series in their order; told apart by people who confuse red and green, and in grey."""
PNG_SCALE = 3
"""Pixels a unit: 15 cm wide in print are then 325 dots an inch."""


class Mark(NamedTuple):
    """A line, bar (between two corners), dot or text of the picture; `series`: its number, or -1."""

    kind: Literal["axis", "line", "bar", "dot", "start", "middle", "end"]
    """The last three are texts by where (x, y) is in them."""
    x: float
    y: float
    x2: float = 0
    y2: float = 0
    text: str = ""
    series: int = -1


def draw_svg(series: Series) -> str:
    """The chart as an SVG element. Its classes take their colours from the page."""
    marks = ""
    for kind, x, y, x2, y2, text, number in _lay_out(series):
        name = f"series{number % len(COLOURS)}" if number >= 0 else kind
        if text:
            marks += f'<text class="{name}" x="{x}" y="{y}" text-anchor="{kind}">{escape(text)}</text>'
        elif kind == "dot":
            marks += f'<circle class="{name}" cx="{x}" cy="{y}" r="{RADIUS}"/>'
        elif kind == "bar":
            size = f'width="{x2 - x:.1f}" height="{y2 - y:.1f}"'
            marks += f'<rect class="{name}" x="{x}" y="{y}" {size}/>'
        else:
            marks += f'<line class="{name}" x1="{x}" x2="{x2}" y1="{y}" y2="{y2}"/>'
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
    draw, font = ImageDraw.Draw(image), ImageFont.load_default(FONT * PNG_SCALE)
    for kind, *corners, text, number in _lay_out(series):
        x, y, x2, y2 = (value * PNG_SCALE for value in corners)
        colour = COLOURS[number % len(COLOURS)] if number >= 0 else SOFT
        if text:
            anchor = {"start": "ls", "middle": "ms", "end": "rs"}[kind]
            draw.text((x, y), text, fill=colour, font=font, anchor=anchor)
        elif kind == "bar":
            draw.rectangle((x, y, x2, y2), fill=colour)
        elif kind == "dot":
            draw.circle((x, y), RADIUS * PNG_SCALE, fill=colour)
        else:
            look = (LINE, PNG_SCALE) if kind == "axis" else (colour, PNG_SCALE * 2)
            draw.line((x, y, x2, y2), fill=look[0], width=look[1])
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
        yield Mark("end", LEFT - FONT, height(tick) + RADIUS, text=f"{tick:,.10g}")
    labels = [label for label, _ in next(iter(series.values()))]
    wide = (WIDTH - LEFT - RIGHT) / len(labels)
    middles = [round(LEFT + wide * (n + 0.5), 1) for n in range(len(labels))]
    longest = min(MAX_LABEL_CHARS, max(map(len, labels)))
    every = max(1, -(-longest * CHAR_WIDTH // max(1, int(wide))))  # of many labels every second, third …
    room = max(2, int(wide * every / CHAR_WIDTH))
    for x, label in list(zip(middles, labels, strict=True))[::every]:
        yield Mark("middle", x, HEIGHT - BOTTOM + 2 * FONT, text=_shorten(to_one_line(label), room))
    if not is_time_series(series):
        half = round(min(wide, 2 * BOTTOM) / 3, 1)
        for x, (_, value) in zip(middles, next(iter(series.values())), strict=True):
            top, bottom = sorted((height(value), height(0)))
            yield Mark("bar", x - half, top, x + half, bottom, series=0)
        return
    for number, (name, points) in enumerate(series.items()):
        line = [(x, height(value)) for x, (_, value) in zip(middles, points, strict=True)]
        for start, end in pairwise(line):
            yield Mark("line", *start, *end, series=number)
        if len(series) > 1:
            x, y = LEFT + number * (WIDTH - LEFT - RIGHT) / len(series), HEIGHT - FONT
            line.append((x, y))
            yield Mark("start", x + FONT, y + RADIUS, text=_shorten(name, MAX_LABEL_CHARS), series=number)
        yield from (Mark("dot", *place, series=number) for place in line)


def _shorten(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
