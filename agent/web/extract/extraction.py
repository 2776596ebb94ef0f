"""What reading one body gives: text with its structure, or the outcome that says why there is none."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

from agent.types import Anchor, Block, Heading, Link, Outcome, Page, Publication, Table

EXTRACTION_VERSION = 1
"""Raised when bodies are read in another way: a stored page is then read again from its body."""


@dataclass
class Extraction:
    """The readable part of a body. Offsets count characters of `text`; `refresh_url` is where a page
    redirects to, `anchors` where its text links to: neither is part of the page."""

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

    def to_page(self, **known: Any) -> Page:
        """The page with this content; `known` is what the fetch knows, and wins over the content."""
        return Page(**(self.page_fields() | {"extraction": EXTRACTION_VERSION} | known))

    def page_fields(self) -> dict[str, Any]:
        """The fields of a page that follow from the content, its hash included."""
        fields = {name: value for name, value in vars(self).items() if name not in ("refresh_url", "anchors")}
        return fields | {"sha256": hashlib.sha256(self.text.encode("utf-8", "replace")).hexdigest()}
