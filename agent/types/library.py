"""The library's nouns: a source on the shelf, what a search is limited to and what it found, the index,
facilities."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from agent.types.facts import Actor
from agent.types.record import Record
from agent.types.web import Passage

SourceKind = Literal["page", "file", "topic"]
"""A page of the web, a document somebody added or a folder holds, a topic of the team."""
SearchMethod = Literal["words", "words and meaning"]


class LibrarySource(Record):
    """One source: a page or document as it was last read. Its text is the stored page `page_id`."""

    source_id: str
    """`kb:<address or path>` or `team:<file>`."""
    kind: SourceKind
    title: str = ""
    url: str = ""
    """Where it was read: a web address, or `file:<name>` for a document."""
    page_id: str
    sha256: str = ""
    description: str = ""
    described_by: Actor = "keyless"
    tags: list[str] = Field(default_factory=list)
    added_at: str = ""
    fetched_at: str = ""
    passages: int = 0
    deleted_at: str = ""
    """When it was put into the bin; "" while it stands on the shelf."""
    gone_at: str = ""
    """When its file was last missed in its folder; "" while it is there."""
    detail: str = ""
    """What a person should know of it: only its first pages were read, rows that could not be used."""


class IndexEntry(Record):
    """One line of the index: what a source is about, and who wrote that."""

    source_id: str
    description: str
    by: Actor = "keyless"


class LibraryScope(Record):
    """What a search is limited to: sources that any of these name. Empty: everything on the shelf."""

    run_ids: list[str] = Field(default_factory=list)
    """Runs that read the source."""
    tags: list[str] = Field(default_factory=list)
    source_ids: list[str] = Field(default_factory=list)

    @property
    def is_unlimited(self) -> bool:
        """Is nothing named?"""
        return not (self.run_ids or self.tags or self.source_ids)


class LibrarySearchResult(Record):
    """Passages, best first (the best's score is 1), how they were found, and why not by meaning when they
    were not."""

    hits: list[Passage] = Field(default_factory=list)
    by: SearchMethod = "words"
    note: str = ""


class Facility(Record):
    """A place of some kind with its coordinates (degrees, WGS 84), from row `row` (the first below the header
    is 1) of a table."""

    name: str
    kind: str = ""
    address: str = ""
    latitude: float
    longitude: float
    source_id: str = ""
    row: int = 0


class RefusedFile(Record):
    """A file that was not taken, and why."""

    name: str
    why: str


class FolderImportResult(Record):
    """What a folder brought."""

    sources: list[LibrarySource] = Field(default_factory=list)
    refused: list[RefusedFile] = Field(default_factory=list)


class FolderSyncResult(Record):
    """What changed since the folders were last looked at, by source id."""

    added: list[str] = Field(default_factory=list)
    changed: list[str] = Field(default_factory=list)
    removed: list[str] = Field(default_factory=list)
    refused: list[RefusedFile] = Field(default_factory=list)

    @property
    def has_changes(self) -> bool:
        """Did anything change?"""
        return bool(self.added or self.changed or self.removed)
