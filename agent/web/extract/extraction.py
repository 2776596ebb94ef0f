"""What reading one body gives: text with its structure, or the outcome that says why there is none."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from agent.types import Anchor, Block, Heading, Link, Outcome, Page, Publication, Table
from agent.types.collection import LinkCandidate, PageFeatures, Post

MAX_PARTS = 50_000
"""Headings and blocks of a page; the Bible with a paragraph for each verse has 31,000."""
MAX_ROWS, MAX_COLUMNS = 50_000, 200
"""Of one table."""
MAX_LINKS = 5_000
MAX_LINK_CHARACTERS = 1_000_000
"""Of the addresses of a page together."""
LOCKED = (
    "The {} is locked with a password or a copy protection. Open it, save it without, and add that, or look "
    "for an unlocked copy."
)
EXTRACTION_VERSION = 2
"""Raised when bodies are read in another way: a stored page is then read again from its body."""


@dataclass
class PageStructure:
    """The structure of an HTML page's markup, with instructions to machines among its links."""

    posts: list[Post] = field(default_factory=list)
    links: list[LinkCandidate] = field(default_factory=list)
    features: PageFeatures = field(default_factory=PageFeatures)
    next_url: str = ""


@dataclass
class Extraction:
    """The readable part of a body. Offsets count characters of `text`; `refresh_url` is where a page
    redirects to, `anchors` where its text links to, `structure` what was asked for alone: none is part of the
    page."""

    outcome: Outcome = Outcome.OK
    detail: str = ""
    title: str = ""
    author: str = ""
    published_at: str = ""
    language: str = ""
    text: str = ""
    headings: list[Heading] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    publication: Publication | None = None
    anchors: list[Anchor] = field(default_factory=list)
    refresh_url: str = ""
    structure: PageStructure | None = None

    def limit(self) -> Extraction:
        """Itself, cut where it has too many parts, without the links that are too many."""
        ends = accumulate(len(link.url) for link in self.links[:MAX_LINKS])
        self.links = self.links[: sum(end <= MAX_LINK_CHARACTERS for end in ends)]
        starts = sorted([*(one.start for one in self.headings), *(one.start for one in self.blocks)])
        if len(starts) > MAX_PARTS:
            end = starts[MAX_PARTS]
            self.text = self.text[:end]
            self.headings = [heading for heading in self.headings if heading.start < end]
            self.tables = [table for table in self.tables if table.end <= end]
            self.blocks = [block for block in self.blocks if block.end <= end]
            has = f"it has more than {MAX_PARTS:,} headings and paragraphs"
            self.detail = f"{self.detail} Only its first {end:,} characters were read: {has}.".strip()
        return self

    def to_page(self, **known: Any) -> Page:
        """The page with this content; `known` is what the fetch knows, and wins over the content."""
        apart = ("refresh_url", "anchors", "structure")
        fields = {name: value for name, value in vars(self).items() if name not in apart}
        fields["sha256"] = hashlib.sha256(self.text.encode("utf-8", "replace")).hexdigest()
        fields |= {"extraction": EXTRACTION_VERSION, **known}
        fields["language"] = fields["language"][:12]
        return Page(**fields)
