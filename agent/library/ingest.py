"""Indexing: a page is split into passages, whose words replace the source's earlier text."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from agent.errors import UsageError
from agent.library.poi_table import find_facilities
from agent.retrieval.passages import PASSAGES_VERSION, describe_page, split_passages
from agent.settings.config import ROOT
from agent.store import tables
from agent.store.database import Store
from agent.store.ledger import utc_timestamp
from agent.store.library_index import IndexedPassage, IndexedSource, SourceUpdate
from agent.store.pages import make_page_id
from agent.text.tokens import ANALYSIS_FINGERPRINT, fold, join_terms
from agent.text.urls import canonicalize, host, is_page_list
from agent.types import LibrarySource, Page, RefusedFile
from agent.types.library import SourceKind
from agent.web import mime

DEMO_TAG = "demo"
"""The tag of pages of the demo world, whose hosts end in .example (reserved): nothing in them is true."""
MAX_HEADING_CHARS, MAX_INDEXED_CHARS = 500, 5_000_000
"""Characters of a heading and of a text that can be searched."""
PASSAGES_PER_WRITE, SOURCES_PER_PURGE = 400, 50
"""Passages written in one transaction (0.1 s), one source at least; deleted sources removed in one."""
ADDED_BY_HAND_REASON = (
    "was added to the library by hand: rename the file in the folder, or delete that document and empty "
    "the bin"
)
IN_FOLDER_REASON = (
    "is a file of a folder that the library synchronises with: change it there, or use another name"
)


@dataclass(frozen=True)
class IndexRequest:
    """A page to index as the text of a source. `restore`: it was added, so from the bin, too (else a run read
    it, or it is indexed again); `origin` and `mark`: the folder it is synchronised with (None keeps that) and
    the signature of its file."""

    page: Page
    source_id: str
    kind: SourceKind = "page"
    tags: Sequence[str] = ()
    restore: bool = True
    origin: str | None = None
    mark: str = ""


class Indexer:
    """Indexes pages of a store. Thread-safe."""

    def __init__(self, store: Store) -> None:
        self.store, self.library_index = store, store.library_index
        sample = f"{PASSAGES_VERSION} {ANALYSIS_FINGERPRINT} with terms"
        self.fingerprint = hashlib.sha256(sample.encode()).hexdigest()[:12]
        """How passages and terms are made; a full-text index that was made in another way is made anew."""
        self.library_index.use_terms(self.fingerprint)

    def index(
        self, asks: Iterable[IndexRequest], refused: list[RefusedFile] | None = None
    ) -> list[LibrarySource]:
        """Index each request's page as the text of its source, many in one transaction. Tags are added to
        the existing ones; a written description stays until the text changes. A file of a synchronised
        folder and a document added by hand do not replace each other: such a request goes to `refused`, or
        raises UsageError without that."""
        done = list[LibrarySource]()
        batch = dict[str, tuple[IndexRequest, SourceUpdate]]()
        for ask in asks:
            size = sum(len(entry.pieces) for _, entry in batch.values())
            if ask.source_id in batch or size >= PASSAGES_PER_WRITE:
                done += self._write(batch, refused)
                batch = {}
            try:
                entry = self._prepare(ask)
            except UsageError as refusal:
                if refused is None:
                    raise
                refused.append(RefusedFile(name=ask.source_id.partition(":")[2], why=str(refusal)))
                continue
            if isinstance(entry, SourceUpdate):
                batch[ask.source_id] = (ask, entry)
            else:
                done.append(entry)
        return done + self._write(batch, refused)

    def _write(
        self, batch: dict[str, tuple[IndexRequest, SourceUpdate]], refused: list[RefusedFile] | None
    ) -> list[LibrarySource]:
        """Write prepared sources; one that others changed meanwhile is indexed anew."""
        overtaken = self.library_index.put([entry for _, entry in batch.values()]) if batch else set()
        done = list[LibrarySource]()
        for source_id, (ask, entry) in batch.items():
            done += self.index([ask], refused) if source_id in overtaken else [entry.source]
        return done

    def index_pages(self, page_ids: Sequence[str]) -> None:
        """Index pages that flows have stored, except those whose source holds a newer text."""
        asks: list[IndexRequest] = []
        for page_id, page in self.store.pages.get_many(page_ids)[0].items():
            if not page.text.strip() or is_address_list(page):
                continue
            if holders := self.library_index.find(tables.sources.c.page_id == page_id):
                for one in holders:
                    kind = one.source.kind
                    asks.append(IndexRequest(page, one.source.source_id, kind=kind, restore=False))
                continue
            held = self.library_index.get(source_id_for(page))
            if held is None or held.source.fetched_at <= page.fetched_at:
                kind = "page" if canonicalize(page.final_url or page.url) else "file"
                asks.append(IndexRequest(page, source_id_for(page), kind=kind, restore=False))
        self.index(asks, refused=[])
        if left := self.library_index.list_unindexed(among=page_ids):
            self.library_index.mark_indexed(left)

    def _prepare(self, ask: IndexRequest) -> SourceUpdate | LibrarySource:
        """The update to write; the source itself where it holds this text already (time and tags are new).
        Raises UsageError."""
        page, page_id = ask.page, make_page_id(ask.page)
        former = self.library_index.get(ask.source_id)
        if former:
            is_same, is_gone = former.source.page_id == page_id, bool(former.source.gone_at)
            why = ADDED_BY_HAND_REASON if ask.origin is not None and not former.origin else ""
            if ask.origin is None and former.origin and not is_gone and not is_same:
                why = IN_FOLDER_REASON
            if why:
                raise UsageError(f"{ask.source_id} {why}")
            if is_same and former.words == self.fingerprint and not is_gone:
                return self._refresh_unchanged(former, ask)
        old, pieces, address = former and former.source, list[IndexedPassage](), page.final_url or page.url
        for passage in split_passages(page, page_id, longest=MAX_INDEXED_CHARS):
            heading, label = passage.heading[:MAX_HEADING_CHARS], passage.label[:MAX_HEADING_CHARS]
            head = _join_head_terms(f"{page.title}\n{heading}\n{label}")
            short = passage.replace(heading=heading, label=label)
            pieces.append(IndexedPassage(short, head, join_terms(passage.text)))
        found, skipped = find_facilities(page, ask.source_id)
        longer = f"Only its first {MAX_INDEXED_CHARS:,} characters can be searched."
        missing = f"{skipped} of {skipped + len(found)} rows have no usable name or coordinates."
        details = (
            page.detail,
            longer if len(page.text) > MAX_INDEXED_CHARS else "",
            missing if found and skipped else "",
        )
        written = old if old and old.described_by != "keyless" and old.page_id == page_id else None
        demo = [DEMO_TAG] if host(address).endswith(".example") else []
        source = LibrarySource(
            source_id=ask.source_id,
            kind=old.kind if old and ask.kind == "page" else ask.kind,
            title=page.title,
            url=address,
            page_id=page_id,
            sha256=page.sha256,
            description=written.description if written else describe_page(page),
            described_by=written.described_by if written else "keyless",
            added_at=old.added_at if old else utc_timestamp(),
            fetched_at=page.fetched_at or utc_timestamp(),
            passages=len(pieces),
            detail=" ".join(filter(None, details)),
            deleted_at=old.deleted_at if old and not ask.restore else "",
            gone_at="",
            tags=sorted({*(old.tags if old else []), *ask.tags, *demo}),
        )
        # what is added by hand while its file is gone no longer belongs to the folder
        keeps_origin = former and ask.origin is None and not (former.source.gone_at and ask.restore)
        is_by_run = not ask.restore and ask.origin is None
        own: dict[str, str | int] = {
            "words": self.fingerprint,
            "folded": fold(f"{source.title}\n{source.source_id}\n{source.url}\n{source.description}"),
            "places": len(found),
            "origin": former.origin if former and keeps_origin else ask.origin or "",
            "mark": former.mark if former and keeps_origin else ask.mark,
            "by_run": int(former.by_run if former and is_by_run else is_by_run),
        }
        return SourceUpdate(source, pieces, page, own, former=former)

    def _refresh_unchanged(self, former: IndexedSource, ask: IndexRequest) -> LibrarySource:
        """The same text again: update its time, its tags and whether it is deleted."""
        source, is_added = former.source, ask.restore or ask.origin is not None
        shown = {"fetched_at": max(source.fetched_at, ask.page.fetched_at)}
        shown |= {"deleted_at": ""} if ask.restore else {}
        new = {name: value for name, value in shown.items() if getattr(source, name) != value}
        changed: dict[str, str | int] = {**new, **({"by_run": 0} if former.by_run and is_added else {})}
        if ask.origin is not None:
            changed |= {"origin": ask.origin, "mark": ask.mark}
        if changed:
            self.library_index.set(source.source_id, **changed)
        if more := sorted(set(ask.tags) - set(source.tags)):
            self.library_index.tag(source.source_id, more)
        self.library_index.mark_indexed([source.page_id])
        return source.replace(**shown, tags=sorted({*source.tags, *ask.tags}))


def source_id_for(page: Page) -> str:
    """The source id of a page: `kb:` and its address, or its file's name."""
    address = page.final_url or page.url
    return f"kb:{canonicalize(address) or address.removeprefix('file:')}"


_join_head_terms = lru_cache(maxsize=256)(join_terms)
"""The stems of what stands over a passage: the same for its neighbours."""


def demo_tags_for_path(path: Path) -> list[str]:
    """The demo tag for a file of the project's demo folder."""
    return [DEMO_TAG] if path.resolve().is_relative_to((ROOT / DEMO_TAG).resolve()) else []


def is_address_list(page: Page) -> bool:
    """Whether a page is a list of addresses for programs (robots.txt, a sitemap, a feed), not a text."""
    is_xml = mime.parse_media_type(page.content_type).startswith(mime.XML_TYPES)
    return is_xml or is_page_list(page.final_url or page.url)
