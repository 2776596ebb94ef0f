"""What the web gives: pages, links, tables, search results, and the passages of a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pydantic import ConfigDict, Field

from agent.types.record import Outcome, PageOrigin, Record


@dataclass(slots=True)
class Link:
    """One `<a href>` of a page, absolute, with its anchor text. A page has hundreds, so it is lighter than
    the other nouns."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")
    url: str
    text: str = ""


class Heading(Record):
    """A heading and where it starts in the page's text."""

    start: int
    level: int
    text: str


class Table(Record):
    """A table of a page: its rows stand in the text as lines of cells joined by " | ", from `start` to
    `end`."""

    start: int
    end: int
    caption: str = ""
    rows: list[list[str]] = Field(default_factory=list)
    headed: bool = True
    """Does the first row name the columns? Else each row names in its first cell what its other cells say."""


class Page(Record):
    """What one fetch gave: the text as read, or why there is none. `url` is the one asked for, `final_url`
    where it ended."""

    url: str
    final_url: str
    outcome: Outcome
    detail: str = ""
    """A sentence for a person: what went wrong and what can be done."""
    status: int | None = None
    redirects: list[str] = Field(default_factory=list)
    content_type: str = ""
    title: str = ""
    author: str = ""
    published_at: str = ""
    language: str = ""
    text: str = ""
    headings: list[Heading] = Field(default_factory=list)
    tables: list[Table] = Field(default_factory=list)
    links: list[Link] = Field(default_factory=list)
    raw: bytes = Field(default=b"", repr=False)
    """The body as it came (decoded from its transfer encoding), for the store; never executed, never
    shown."""
    fetched_at: str = ""
    sha256: str = ""
    """SHA-256 of `text` in UTF-8, hex: what a quote is checked against."""
    origin: PageOrigin = "fetched"


class SearchHit(Record):
    """One search result. The snippet is the engine's, not a stored page: nothing may be quoted from it."""

    url: str
    title: str = ""
    snippet: str = ""
    rank: int = 0
    engine: str = ""
    published_at: str = ""
    """When its page was published, where the engine tells it."""


class SearchResult(Record):
    """What one search gave. `retry_after_s` is how long the engine asked us to wait, in seconds."""

    engine: str
    query: str
    outcome: Outcome
    hits: list[SearchHit] = Field(default_factory=list)
    detail: str = ""
    retry_after_s: float | None = None
    left_out: int = 0
    """Results that the choice of sources does not let in."""


class Passage(Record):
    """A window of a page's text with the headings it stands under. `score` is its bearing on the question,
    best = 1."""

    id: str
    page_id: str
    url: str
    title: str = ""
    heading: str = ""
    text: str
    start: int
    end: int
    score: float = 0.0
    rows: bool = False
    """True when the passage is table rows; the header row stands in `heading`."""
    source_id: str = ""
    """The library's source it belongs to, when the library found it."""
