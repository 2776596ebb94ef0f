"""What the web returns: pages, links, tables, search results, and the passages of a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import ConfigDict, Field

from agent.types.record import Outcome, PageOrigin, Publication, Record


@dataclass(slots=True)
class Link:
    """An `<a href>` of a page with its absolute address; a light dataclass, because a page has hundreds."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")
    url: str
    text: str = ""


@dataclass(slots=True)
class Anchor:
    """A stretch of a text, from `start` to `end`, that links to an address; "" where a mark such as "[3]"
    leads to a note without one. Kept by who reads a page for its citations, not with the page."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")
    start: int
    end: int
    url: str


class Heading(Record):
    """A heading and where it starts in the page's text."""

    start: int
    level: int
    text: str


class Table(Record):
    """A table of a page. In the text, from `start` to `end`, each row is a line of cells joined by " | "."""

    start: int
    end: int
    caption: str = ""
    rows: list[list[str]] = Field(default_factory=list)
    headed: bool = True
    """True: the first row names the columns. False: the first cell of each row names what the others say."""


BlockKind = Literal["paragraph", "term", "definition", "item", "code", "post", "links"]
PassageKind = Literal["prose", "definition", "rows", "list", "code", "post"]


@dataclass(slots=True)
class Block:
    """A piece of a page's text that its markup sets apart, from `start` to `end`: a paragraph, the term or
    the definition of a definition list, a list item, preformatted text, a forum post, a list or line of links
    alone (contents, a menu). Headings and tables are kept apart. Blocks of an outer kind may hold others (an
    item with two paragraphs)."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")
    kind: BlockKind
    start: int
    end: int


class Page(Record):
    """The result of one fetch: the extracted text, or why there is none."""

    url: str
    """The address that was requested."""
    final_url: str
    """The address after redirects."""
    outcome: Outcome
    detail: str = ""
    """A sentence for a person: what went wrong and what to do about it."""
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
    blocks: list[Block] = Field(default_factory=list)
    """In the order of the text."""
    etag: str = ""
    """The server's validator of this version (`ETag`), for a conditional request."""
    last_modified: str = ""
    """When the server says that the page changed last (`Last-Modified`, as sent)."""
    raw: bytes = Field(default=b"", repr=False)
    """The body without its transfer encoding, for the store; never executed, never shown."""
    fetched_at: str = ""
    sha256: str = ""
    """SHA-256 of `text` in UTF-8, hex; quotes are checked against the text with this hash."""
    origin: PageOrigin = "fetched"
    publication: Publication | None = None
    """The published work that it says it is (`citation_…` tags)."""
    extraction: int = 0
    """The version of the extraction that read it (EXTRACTION_VERSION); 0 for none."""


class SearchHit(Record):
    """One search result. Its snippet is the engine's text, not a stored page: nothing is quoted from it."""

    url: str
    title: str
    snippet: str
    rank: int
    engine: str
    published_at: str
    """When the page was published, where the engine reports it."""
    publication: Publication | None
    """What a catalogue says of the work; None where it says nothing."""


class SearchResult(Record):
    """The result of one search."""

    engine: str
    query: str
    outcome: Outcome
    hits: list[SearchHit] = Field(default_factory=list)
    detail: str
    retry_after_s: float | None = None
    """How long the engine asked us to wait, in seconds."""
    left_out: int = 0
    """Results that the source filter excludes."""


class PassageRef(Record):
    """Where a passage is in a stored page, without its text."""

    id: str
    page_id: str
    source_id: str = ""
    """The library source it belongs to, when the library found it."""
    url: str
    title: str = ""
    heading: str = ""
    """The path of headings above it, outermost first, joined by " › "."""
    kind: PassageKind = "prose"
    label: str = ""
    """What the passage is about in the page's own words: the term of a definition, the header row of table
    rows, the line that introduces a list or a code block. "" where the page has none."""
    start: int
    end: int
    published_at: str = ""
    """The day its page states, where that is known."""

    @property
    def rows(self) -> bool:
        """Whether it consists of table rows."""
        return self.kind == "rows"

    def to_passage(self, text: str, score: float = 0.0) -> Passage:
        """The passage, cut out of its page's text."""
        return Passage(**self.model_dump(), text=text[self.start : self.end], score=score)


class Passage(PassageRef):
    """A window of a page's text. `score` is its relevance to the question; the best passage has 1."""

    text: str
    score: float = 0.0

    @property
    def above(self) -> str:
        """What stands above it: the names of a table's columns, else its headings."""
        return self.label if self.rows else self.heading

    @property
    def ref(self) -> PassageRef:
        """Where it is, without its text."""
        return PassageRef(**self.model_dump(exclude={"text", "score"}))
