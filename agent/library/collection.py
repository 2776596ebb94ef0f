"""The library: all pages any flow has read and the documents people add, searched by words and, where there
are vectors, by meaning.

One Library serves a store, from any number of threads. Texts stay where they are (the stored pages); what is
on the shelf is where their passages lie, their terms and their vectors. A source is known by its `source_id`:
`kb:` and an address or a file's name, `team:` and a topic's file."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from agent.errors import ModelUnavailable, NotFound, UsageError
from agent.library.folder_sync import FolderSync
from agent.library.ingest import Indexer, IndexRequest, demo_tags_for_path, source_id_for
from agent.library.poi_table import find_facilities
from agent.llm.embed import Embedder
from agent.retrieval.rank_fusion import fuse_rankings
from agent.retrieval.term_rarity import CollectionCounts
from agent.retrieval.vector_index import VectorIndex
from agent.store.database import Store
from agent.store.ledger import utc_timestamp
from agent.store.library_rows import IndexedSource, SourceQuery
from agent.text.tokens import content_stems, fold
from agent.text.urls import canonicalize
from agent.types import (
    Facility,
    FolderImportResult,
    FolderSyncResult,
    IndexEntry,
    LibraryScope,
    LibrarySearchResult,
    LibrarySource,
    Page,
    Passage,
    RefusedFile,
)
from agent.types.facts import Actor
from agent.types.library import SourceKind
from agent.web.extract import documents

MOST_TERMS = 48
"""Terms of a query that are looked up, the first ones."""
PENDING_PER_SEARCH = 20
"""Waiting pages that a search puts on the shelf before it looks."""
FUSION_DEPTH = 50
"""How far down the two rankings are merged."""
EXTRA_PASSAGES = 20
"""Passages looked at beyond those asked for: some may lie in the bin."""
MAX_CACHED_TABLES = 64
"""Tables of places that are kept in memory."""
MAX_TAG_CHARS = 60


class Library:
    """All sources, and what can be done with them."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder | None = None,
        *,
        absent: str = "",
        kb_dir: Path | None = None,
        team_dir: Path | None = None,
    ) -> None:
        """`embedder` None: search is by words alone, and says why (`absent`). The folders are those that
        `sync` looks at."""
        self.store, self.library_index = store, store.library_index
        self.vector_index = VectorIndex(store, embedder, absent=absent)
        self.kb_dir, self.team_dir = kb_dir, team_dir
        self._indexer = Indexer(store)
        self._folder_sync = FolderSync(self._indexer)
        self._places_cache: dict[tuple[str, str], tuple[list[Facility], int]] = {}
        self._lock = threading.Lock()

    # --- adding
    # ---------------------------------------------------------------------------------------------------------

    def add_page(
        self, page: Page, *, source_id: str = "", tags: Sequence[str] = (), kind: SourceKind = "page"
    ) -> LibrarySource:
        """Put a page on the shelf (out of the bin, too). The same text again changes nothing but its time and
        tags; a newer text replaces the older. Raises UsageError when the page has no text."""
        if not page.text.strip():
            raise UsageError(f"{page.url} has no text: {page.detail or 'there is nothing to add'}")
        return self._indexer.index(
            [IndexRequest(page, source_id or source_id_for(page), kind=kind, tags=_clean_tags(tags))]
        )[0]

    def add_pages(self, pages: Iterable[Page], *, tags: Sequence[str] = (), kind: SourceKind = "page") -> int:
        """Put many pages on the shelf, several in one transaction; those without text, and
        those in whose place a folder's file stands, are left out. Returns how many were put."""
        asks = (
            IndexRequest(page, source_id_for(page), kind=kind, tags=_clean_tags(tags))
            for page in pages
            if page.text.strip()
        )
        return len(self._indexer.index(asks, refused=[]))

    def add_path(self, path: Path, *, tags: Sequence[str] = ()) -> LibrarySource:
        """Put a file of this computer on the shelf under its name. Raises UsageError when it cannot be
        read."""
        return self.add_file(path.name, documents.read_bytes(path), tags=[*tags, *demo_tags_for_path(path)])

    def add_file(self, name: str, data: bytes, *, tags: Sequence[str] = (), url: str = "") -> LibrarySource:
        """Put a document on the shelf; one of the same name is replaced, but not a folder's. `url`: where it
        came from, if anywhere.

        Raises UsageError, saying what can be read or what is in the way."""
        return self.add_page(documents.read_document(name, data, url=url), tags=tags, kind="file")

    def add_folder(self, folder: Path, *, tags: Sequence[str] = ()) -> FolderImportResult:
        """Put every readable file below a folder on the shelf, and say which were refused. Raises UsageError
        when there is no such folder."""
        added = FolderImportResult()
        marks = _clean_tags(tags)

        def read() -> Iterator[IndexRequest]:
            for name, path in documents.list_files(folder):
                try:
                    page = documents.read_document(name, documents.read_bytes(path))
                except UsageError as refusal:
                    added.refused.append(RefusedFile(name=name, why=str(refusal)))
                    continue
                yield IndexRequest(
                    page, source_id_for(page), kind="file", tags=[*marks, *demo_tags_for_path(path)]
                )

        added.sources = self._indexer.index(read(), added.refused)
        return added

    def index_pending(self, *, most: int = 500) -> int:
        """Put pages on the shelf that a flow stored and nobody did yet, at most `most`; returns how many.
        Cheap when there are none."""
        self._indexer.rebuild_if_outdated()
        waiting = self.library_index.list_unindexed(most)
        if waiting:
            self._indexer.index_pages(waiting)
        return len(waiting)

    # --- searching
    # ------------------------------------------------------------------------------------------------------

    def search(self, query: str, k: int = 10, *, scope: LibraryScope | None = None) -> LibrarySearchResult:
        """The `k` passages that bear most on the query, best first; by words and meaning where there are
        vectors."""
        self.index_pending(most=PENDING_PER_SEARCH)
        within, depth = self._scope_rows(scope), max(FUSION_DEPTH, k)
        by_meaning, note = self._search_vectors(query, depth, within)
        if by_meaning and not self.library_index.has_fulltext:
            by_words, note = [], "Searched by meaning only: search by words needs the embedded SQLite so far."
        else:
            by_words = self.library_index.search(content_stems(query)[:MOST_TERMS], depth, within=within)
        if by_meaning:
            scored = fuse_rankings([[row for row, _ in by_words], [row for row, _ in by_meaning]])
        else:
            scored = by_words
        hits = self.library_index.passages(scored[: k + EXTRA_PASSAGES])[:k]
        best = hits[0][1] if hits and hits[0][1] > 0 else 1.0
        return LibrarySearchResult(
            hits=[hit.model_copy(update={"score": round(score / best, 4)}) for hit, score in hits],
            by="words and meaning" if by_meaning else "words",
            note=note,
        )

    def search_words(self, query: str, k: int = 10, *, scope: LibraryScope | None = None) -> list[Passage]:
        """The `k` passages that hold most of the query's words, best first (the best's score is 1), whatever
        vectors there are."""
        self.index_pending(most=PENDING_PER_SEARCH)
        hits = self.library_index.passages(
            self.library_index.search(
                content_stems(query)[:MOST_TERMS], k + EXTRA_PASSAGES, within=self._scope_rows(scope)
            )
        )[:k]
        best = max((score for _, score in hits), default=1.0) or 1.0
        return [hit.model_copy(update={"score": round(score / best, 4)}) for hit, score in hits]

    def embed_pending(self, *, most: int = 1_000_000, checkpoint: Callable[[], None] = lambda: None) -> int:
        """Make vectors for passages that have none yet, at most `most`; returns how many were made. 0 without
        an embedding model.

        `checkpoint` is called before each batch. Raises ModelUnavailable; what was made until then is kept.
        """
        return self.vector_index.embed_pending(most=most, checkpoint=checkpoint)

    def _search_vectors(
        self, query: str, k: int, within: list[int] | None
    ) -> tuple[list[tuple[int, float]], str]:
        """What the vectors find, and a sentence on what they did not do."""
        if self.vector_index.embedder is None:
            return [], f"Searched by words only. {self.vector_index.unavailable_reason}".strip()
        try:
            found = self.vector_index.search(query, k, within=within)
        except ModelUnavailable as trouble:
            return [], f"Searched by words only. {trouble}"
        missing = self.vector_index.count_missing_cached()
        return (
            found,
            f"{missing:,} passages have no vector yet; those were searched by words only." if missing else "",
        )

    def count_terms(self, terms: Sequence[str]) -> CollectionCounts:
        """How many passages there are, and how many hold each of these terms (see agent.text.tokens): how
        rare a word is here."""
        return CollectionCounts(
            passages=self.library_index.passage_count(),
            document_frequencies=self.library_index.document_frequencies(terms),
        )

    # --- the index
    # ------------------------------------------------------------------------------------------------------

    def index(self, *, scope: LibraryScope | None = None) -> list[IndexEntry]:
        """One entry a source on the shelf, in the order they were added."""
        found = self.library_index.sources(self._scope_query(scope), limit=1_000_000, oldest=True)
        return [
            IndexEntry(source_id=source.source_id, description=source.description, by=source.described_by)
            for source in found
        ]

    def index_text(self, *, scope: LibraryScope | None = None) -> str:
        """The index as plain text: a source's id on one line, its description on the next, a blank line
        between sources."""
        return "\n\n".join(f"{entry.source_id}\n{entry.description}" for entry in self.index(scope=scope))

    def describe(self, source_id: str, text: str, by: Actor) -> None:
        """A description that was written (by a model or a person), in place of the one made by rule; it stays
        while the text does."""
        self._require_source(source_id)
        told = " ".join(text.split())
        if not told:
            raise UsageError("the description is empty: say in a sentence what the source is about")
        self.library_index.set(source_id, description=told, described_by=by)

    def load(self, source_id: str) -> Page:
        """The text of a source on the shelf. Raises NotFound."""
        held = self._require_source(source_id)
        if held.source.deleted_at:
            raise NotFound(f"the library's source {source_id} is in the bin: take it out first")
        return self.store.pages.get(held.source.page_id)

    # --- keeping
    # --------------------------------------------------------------------------------------------------------

    def source(self, source_id: str) -> LibrarySource:
        """A source, in the bin or not. Raises NotFound."""
        return self._require_source(source_id).source

    def sources(
        self,
        *,
        text: str = "",
        tag: str = "",
        kind: str = "",
        deleted: bool = False,
        stale_days: int | None = None,
        limit: int = 200,
        offset: int = 0,
    ) -> list[LibrarySource]:
        """Sources, newest first: those whose title, address or description holds all words of `text`, that
        carry a tag, are of a kind; the bin's with `deleted`; with `stale_days` those read longer ago than
        that, or whose file is gone."""
        return self.library_index.sources(
            _list_query(text, tag, kind, deleted, stale_days), limit=limit, offset=offset
        )

    def count(
        self,
        *,
        text: str = "",
        tag: str = "",
        kind: str = "",
        deleted: bool = False,
        stale_days: int | None = None,
    ) -> int:
        """How many such sources there are."""
        return self.library_index.count(_list_query(text, tag, kind, deleted, stale_days))

    def tags(self) -> dict[str, int]:
        """Every tag, with the number of sources that carry it."""
        return self.library_index.tags()

    def tag(self, source_id: str, *tags: str) -> None:
        """Put tags on a source. Raises NotFound, UsageError."""
        self.library_index.tag(source_id, _clean_tags(tags))

    def untag(self, source_id: str, *tags: str) -> None:
        """Take tags off a source. Raises NotFound."""
        self.library_index.tag(source_id, _clean_tags(tags), away=True)

    def delete(self, source_id: str) -> None:
        """Put a source into the bin: it is found no more. Its stored text stays, for the answers that cite
        it. Raises NotFound."""
        self.library_index.set(source_id, deleted_at=utc_timestamp())

    def restore(self, source_id: str) -> None:
        """Take a source out of the bin. Raises NotFound."""
        self.library_index.set(source_id, deleted_at="")

    def empty_bin(self, *, older_days: float = 0.0) -> int:
        """Do away with the sources that have been in the bin for so many days, for good; returns how many
        went. A stored text that no run names goes with them. What still lies in a folder that `sync` looks at
        stays in the bin: it would come back as new."""
        return self._indexer.purge(_days_ago(older_days))

    def replace(self, source_id: str, page: Page) -> LibrarySource:
        """The source with what was read of it anew. Raises NotFound, UsageError (no text was read)."""
        return self.add_page(page, source_id=source_id, kind=self._require_source(source_id).source.kind)

    # --- folders and places
    # ---------------------------------------------------------------------------------------------

    def sync(self, kb_dir: Path | None = None, team_dir: Path | None = None) -> FolderSyncResult:
        """Bring the sources of the two folders (None: those of the settings) to what their files are now: new
        ones are added, changed ones read again, missing ones put into the bin until they come back. Files
        that cannot be read are told in `refused`."""
        return self._folder_sync.sync(kb_dir or self.kb_dir, team_dir or self.team_dir)

    def facilities(self, *, scope: LibraryScope | None = None) -> list[Facility]:
        """The places in the tables of sources on the shelf: rows with a name and coordinates."""
        return [place for found, _ in self._load_places(scope).values() for place in found]

    def skipped_rows(self, *, scope: LibraryScope | None = None) -> dict[str, int]:
        """How many rows of such tables were left out for want of a name or usable coordinates, by source
        id."""
        return {source_id: skipped for source_id, (_, skipped) in self._load_places(scope).items() if skipped}

    # ------------------------------------------------------------------------------------------------------------------

    def _load_places(self, scope: LibraryScope | None) -> dict[str, tuple[list[Facility], int]]:
        sources = self.library_index.sources(
            replace(self._scope_query(scope), places=True), limit=1_000, oldest=True
        )
        return {
            source.source_id: self._places_of_page(source.source_id, source.page_id) for source in sources
        }

    def _places_of_page(self, source_id: str, page_id: str) -> tuple[list[Facility], int]:
        """The places of one stored page, which never changes: read once."""
        with self._lock:
            known = self._places_cache.get((source_id, page_id))
        if known is None:
            known = find_facilities(self.store.pages.get(page_id), source_id)
            with self._lock:
                if len(self._places_cache) >= MAX_CACHED_TABLES:
                    self._places_cache.clear()
                self._places_cache[(source_id, page_id)] = known
        return known

    def _require_source(self, source_id: str) -> IndexedSource:
        held = self.library_index.get(source_id)
        if held is None:
            raise NotFound(f"the library has no source {source_id}")
        return held

    def _scope_query(self, scope: LibraryScope | None) -> SourceQuery:
        if scope is None or scope.is_unlimited:
            return SourceQuery()
        ids = (*scope.source_ids, *self._sources_read_by(scope.run_ids))
        return SourceQuery(source_ids=ids, tags=tuple(_clean_tags(scope.tags)), is_limited=True)

    def _scope_rows(self, scope: LibraryScope | None) -> list[int] | None:
        return (
            None
            if scope is None or scope.is_unlimited
            else self.library_index.source_rows(self._scope_query(scope))
        )

    def _sources_read_by(self, run_ids: Sequence[str]) -> list[str]:
        """The ids of the sources that these runs read."""
        found: dict[str, None] = {}
        for run_id in run_ids:
            for step in self.store.ledger.steps(run_id):
                for page in step.change.get("pages", []):
                    if page.get("page_id") and (
                        address := canonicalize(page.get("final_url") or page.get("url", ""))
                    ):
                        found[f"kb:{address}"] = None
        return list(found)


def _clean_tags(tags: Sequence[str]) -> list[str]:
    """Tags as they are kept: on one line, without the sign some people put before them."""
    cleaned = [" ".join(tag.split()).lstrip("#").strip() for tag in tags]
    if any(len(tag) > MAX_TAG_CHARS for tag in cleaned):
        raise UsageError(f"a tag may have {MAX_TAG_CHARS} characters: use a word or two")
    return sorted({tag for tag in cleaned if tag})


def _list_query(text: str, tag: str, kind: str, deleted: bool, stale_days: int | None) -> SourceQuery:
    before = "" if stale_days is None else _days_ago(stale_days)
    return SourceQuery(text=fold(text), tag=tag, kind=kind, deleted=deleted, fetched_before=before)


def _days_ago(days: float) -> str:
    return f"{datetime.now(UTC) - timedelta(days=days):%Y-%m-%dT%H:%M:%SZ}"
