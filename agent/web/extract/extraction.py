"""What reading one body gives: text with its structure, or the outcome that says why there is none. Knows no
formats."""

from __future__ import annotations

from dataclasses import dataclass, field

from agent.types import Heading, Link, Outcome, Table


@dataclass
class Extraction:
    """The readable part of a body. Offsets count characters of `text`; `refresh` is where a page sends its
    reader on."""

    outcome: Outcome = Outcome.OK
    detail: str = ""
    title: str = ""
    author: str = ""
    published_at: str = ""
    language: str = ""
    text: str = ""
    headings: list[Heading] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    refresh_url: str = ""
