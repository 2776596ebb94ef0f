"""What reading one body gives: text with its structure, or the outcome that says why there is none."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

from agent.types import Anchor, Block, Heading, Link, Outcome, Page, Publication, Table
from agent.types.collection import LinkCandidate, PageFeatures, Post

EXTRACTION_VERSION = 1
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

    def to_page(self, **known: Any) -> Page:
        """The page with this content; `known` is what the fetch knows, and wins over the content."""
        return Page(**(self.page_fields() | {"extraction": EXTRACTION_VERSION} | known))

    def page_fields(self) -> dict[str, Any]:
        """The fields of a page that follow from the content, its hash included."""
        apart = ("refresh_url", "anchors", "structure")
        fields = {name: value for name, value in vars(self).items() if name not in apart}
        return fields | {"sha256": hashlib.sha256(self.text.encode("utf-8", "replace")).hexdigest()}
