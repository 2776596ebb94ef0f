"""The blocks that a report is made of. Texts are plain: each renderer escapes them for its format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Span:
    """Text with one style. `cite` is the number of a source that it links to, `ref` numbers without a link,
    `label` what a list item is from; `url` makes the text a link when it is http(s)."""

    text: str
    style: Literal["plain", "strong", "emphasis", "code", "cite", "ref", "label"] = "plain"
    url: str = ""


Inline = Sequence[Span | str]
"""Spans one after the other; a bare string is a plain span."""
Cell = Span | str | Inline


@dataclass(frozen=True)
class Heading:
    """A heading; `source` is the number of the source it introduces, which citations link to."""

    level: int
    text: str
    source: int = 0


@dataclass(frozen=True)
class Paragraph:
    """Running text. `band` is a warning across the page, `soft` a remark in small print, `said` what
    the answer says, `lead` the line of it that stands out, `quote` a verbatim quote."""

    spans: Inline
    style: Literal["plain", "band", "soft", "said", "lead", "quote"] = "plain"


@dataclass(frozen=True)
class Bullets:
    """A list of tuples (item, sub-items); `numbers` are those of sources, which citations link to."""

    items: Sequence[tuple[Inline, Sequence[str]]]
    numbers: Sequence[int] = ()

    @classmethod
    def of(cls, items: Iterable[Inline]) -> list[Block]:
        """One list of items without sub-items; none without items."""
        made = [(item, ()) for item in items]
        return [cls(made)] if made else []


@dataclass(frozen=True)
class Table:
    """A table: every row has as many cells as `heads`."""

    heads: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""


@dataclass(frozen=True)
class Chart:
    """Numbers by label as bars, or as lines where the labels are years; the web page and Word draw it."""

    caption: str
    series: Mapping[str, Sequence[tuple[str, float]]]
    head: str = ""
    """What the labels name."""


Block = Heading | Paragraph | Bullets | Table | Chart
