"""The library's records: sources, search scope and results, facilities, folder imports."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from agent.types.record import Actor, Record
from agent.types.web import Passage

SourceKind = Literal["page", "file", "topic"]
"""A web page, a document that was added or found in a folder, or a topic of the team."""


class LibrarySource(Record):
    """A page or document as it was last read. Its text is the stored page `page_id`."""

    source_id: str
    """`kb:<address or path>` or `team:<file>`."""
    kind: SourceKind
    title: str
    url: str
    """A web address, or `file:<name>` for a document."""
    page_id: str
    sha256: str
    description: str
    described_by: Actor
    tags: list[str]
    added_at: str
    fetched_at: str
    passages: int
    deleted_at: str
    """When it was moved to the bin; "" while it is in the library."""
    gone_at: str
    """When its file was found missing from its folder; "" while it is there."""
    detail: str
    """Limits of what was read, for a person: only the first pages, rows that could not be used."""


class LibraryScope(Record):
    """Limits a search to the sources that any of these fields names; empty: the whole library."""

    run_ids: list[str] = Field(default_factory=list)
    """Runs that read the source."""
    tags: list[str] = Field(default_factory=list)
    source_ids: list[str] = Field(default_factory=list)
    added_only: bool = False
    """Of these only what was added to the library, without what only runs brought."""

    @property
    def is_unlimited(self) -> bool:
        """Whether the whole library is searched."""
        return not (self.run_ids or self.tags or self.source_ids or self.added_only)


class LibrarySearchResult(Record):
    """Passages, best first (the best score is 1), how they were found, and why vectors were not used."""

    hits: list[Passage]
    by: Literal["words", "words and meaning"]
    note: str


class Facility(Record):
    """A place with its coordinates (degrees, WGS 84), read from a table."""

    name: str
    kind: str
    address: str
    latitude: float
    longitude: float
    source_id: str
    row: int
    """Its row in the table; the first row below the header is 1."""


class RefusedFile(Record):
    """A file that was not imported, and why."""

    name: str
    why: str


class FolderImportResult(Record):
    """The sources imported from a folder, and the files refused."""

    sources: list[LibrarySource] = Field(default_factory=list)
    refused: list[RefusedFile] = Field(default_factory=list)


class FolderSyncResult(Record):
    """What changed in the folders since the last synchronisation, by source id."""

    added: list[str] = Field(default_factory=list)
    changed: list[str] = Field(default_factory=list)
    removed: list[str] = Field(default_factory=list)
    refused: list[RefusedFile] = Field(default_factory=list)
