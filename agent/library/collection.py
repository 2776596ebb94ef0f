"""The library: all pages any flow has read and the documents people add, searched by words and, where there
are vectors, by meaning.

One Library serves a store, from any number of threads. Texts stay in the stored pages; the index holds where
their passages are, their terms and their vectors. A `source_id` is `kb:` with an address or a file's name, or
`team:` with a topic's file."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from heapq import nlargest
from itertools import chain
from pathlib import Path
from typing import Unpack

from agent.errors import ModelUnavailable, NotFound, UsageError
from agent.library.folder_sync import FolderSync
from agent.library.ingest import (
    DEMO_TAG,
    SOURCES_PER_PURGE,
    Indexer,
    IndexRequest,
    demo_tags_for_path,
    is_address_list,
    source_id_for,
)
from agent.library.poi_table import find_facilities
from agent.llm.embed import Embedder
from agent.retrieval import scorer
from agent.retrieval.passages import split_passages
from agent.retrieval.scorer import CollectionCounts, CountedPassages, fuse_rankings, question_terms
from agent.retrieval.vector_index import VectorIndex
from agent.settings.reply_config import DEMO_KB
from agent.store.database import Store
from agent.store.ledger import utc_timestamp
from agent.store.library_index import SourceQuery
from agent.text.tokens import is_stemmed
from agent.text.urls import canonicalize
from agent.types import (
    Facility,
    FolderImportResult,
    FolderSyncResult,
    LibraryScope,
    LibrarySearchResult,
    LibrarySource,
    Page,
    Passage,
    RefusedFile,
)
from agent.types.library import SourceKind
from agent.types.record import Actor
from agent.web.extract import documents

PENDING_PER_SEARCH, PENDING_AT_ONCE = 20, 500
"""Waiting pages that a search indexes first, and that are indexed at once else."""
FUSION_DEPTH, EXTRA_PASSAGES = 50, 20
"""Depth of the two rankings that are merged; passages read beyond those asked for, as some may be deleted."""
MAX_COUNTED_PASSAGES = 10_000
"""Passages whose words are counted for one search (8 ms); in more, they are about as frequent."""
MAX_TAG_CHARS = 60


class Library:
    """The sources of a store."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder | None = None,
        *,
        absent: str = "",
        kb_dir: Path | None = None,
        team_dir: Path | None = None,
    ) -> None:
        """Without an `embedder` (reason: `absent`) search is by words. `sync` reads the folders."""
        self.store, self.library_index = store, store.library_index
        self.vector_index = VectorIndex(store, embedder, absent=absent)
        self.kb_dir, self.team_dir = kb_dir, team_dir
        self._indexer = Indexer(store)
        self._folder_sync = FolderSync(self._indexer)

    def use_embedder(self, embedder: Embedder | None, absent: str) -> None:
        """Search with another embedder from now on, or by words alone for the reason `absent`."""
        self.vector_index = VectorIndex(self.store, embedder, absent=absent)

    def add_page(
        self, page: Page, *, source_id: str = "", tags: Sequence[str] = (), kind: SourceKind = "page"
    ) -> LibrarySource:
        """Add a page, or restore it from the bin. The same text again changes only its time and tags; a newer
        text replaces the older. Raises UsageError when the page has no text."""
        if not page.text.strip():
            raise UsageError(f"{page.url} has no text: {page.detail or 'there is nothing to add'}")
        return self._indexer.index(
            [IndexRequest(page, source_id or source_id_for(page), kind=kind, tags=_clean_tags(tags))]
        )[0]

    def add_path(self, path: Path) -> LibrarySource:
        """Add a file of this computer under its name. Raises UsageError when it cannot be read."""
        return self.add_file(path.name, documents.read_bytes(path), tags=demo_tags_for_path(path))

    def add_file(self, name: str, data: bytes, *, tags: Sequence[str] = ()) -> LibrarySource:
        """Add a document, or replace its namesake outside of synchronised folders. Raises UsageError."""
        return self.add_page(documents.read_document(name, data), tags=tags, kind="file")

    def add_folder(self, folder: Path, *, tags: Sequence[str] = ()) -> FolderImportResult:
        """Add every readable file below a folder; lists the refused ones. Raises UsageError without one."""
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

    def add_demo(self) -> list[str]:
        """Add the documents and places of the demo; returns their ids."""
        added = self.add_folder(DEMO_KB, tags=[DEMO_TAG]).sources
        return [one.source_id for one in (*added, self.add_path(DEMO_KB.parent / "facilities.csv"))]

    def index_pending(self, *, most: int = PENDING_AT_ONCE) -> int:
        """Index pages that flows have stored, at most `most`; returns how many. Cheap when there are none."""
        if waiting := self.library_index.list_unindexed(most):
            self._indexer.index_pages(waiting)
        return len(waiting)

    def search(
        self, query: str, k: int = 10, *, scope: LibraryScope | None = None, words_only: bool = False
    ) -> LibrarySearchResult:
        """The `k` passages most relevant to the query, best first; by words and, with vectors, by meaning.
        With `words_only` no embedding model is asked."""
        self.index_pending(most=PENDING_PER_SEARCH)
        limited = scope is not None and not scope.is_unlimited
        within = self.library_index.source_rows(self._scope_query(scope)) if limited else None
        depth = max(FUSION_DEPTH, k)
        by_meaning, note = self._search_vectors("" if words_only else query, depth, within)
        terms = question_terms(query)
        if within is None or self.library_index.passage_count(within) > MAX_COUNTED_PASSAGES:
            scored = by_words = self.library_index.search(
                terms, depth, None if within is None else set(within)
            )
        else:
            scored = by_words = nlargest(depth, self._score_sources(query, within)[1].items(), key=_by_score)
        if by_meaning:
            scored = fuse_rankings([[row for row, _ in by_words], [row for row, _ in by_meaning]])
        hits = self.library_index.passages(scored[: k + EXTRA_PASSAGES])[:k]
        best = hits[0][1] if hits and hits[0][1] > 0 else 1.0
        return LibrarySearchResult(
            hits=[hit.replace(score=round(score / best, 4)) for hit, score in hits],
            by="words and meaning" if by_meaning else "words",
            note=note,
        )

    def search_pages(self, query: str, page_ids: Collection[str], k: int) -> CountedPassages:
        """The `k` passages of these stored pages that match the query's words best, best first, each with its
        score (0..1, see agent.retrieval.scorer); words are counted over these pages alone.

        Those of the pages that wait to be indexed are indexed first. A page that is not in the index (its
        source holds a newer text, or was deleted) is split and scored at hand."""
        if waiting := self.library_index.list_unindexed(among=page_ids):
            self._indexer.index_pages(waiting)
        rows = self.library_index.rows_of_pages(page_ids)
        pages, _ = self.store.pages.get_many([page_id for page_id in page_ids if page_id not in rows])
        texts = [(page_id, page) for page_id, page in pages.items() if not is_address_list(page)]
        others = [passage for page_id, page in texts for passage in split_passages(page, page_id)]
        counts, scores = self._score_sources(query, list(rows.values()), others)
        hits = self.library_index.passages(nlargest(k, scores.items(), key=_by_score))
        found = [hit.replace(score=round(score, 4)) for hit, score in hits]
        found += [hit for hit in scorer.rank_passages(query, others, k, counts) if hit.score]
        return CountedPassages(sorted(found, key=lambda hit: -hit.score)[:k], counts)

    def _score_sources(
        self, query: str, within: Sequence[int], others: Sequence[Passage] = ()
    ) -> tuple[CollectionCounts, dict[int, float]]:
        """The words' counts over these sources and `others`, and by its id the score of each passage of the
        sources that holds one; in other languages than English an absent word in its other forms."""
        terms, inflected = question_terms(query), not is_stemmed(query)
        passages, held = self.library_index.match_terms(terms, within, inflected=inflected)
        beside = scorer.count_words(terms, others)
        frequencies = {term: len(found) + beside[term] for term, found in held.items()}
        counts = CollectionCounts(passages + len(others), frequencies)
        return counts, scorer.sum_scores(held, counts)

    def _search_vectors(
        self, query: str, k: int, within: list[int] | None
    ) -> tuple[list[tuple[int, float]], str]:
        """The passages found by meaning, none for "", and a note on what was not searched so."""
        if self.vector_index.embedder is None:
            return [], f"Searched by words only. {self.vector_index.unavailable_reason}".strip()
        if not query:
            return [], "Searched by words only. Without a model no embedding model is asked either."
        try:
            found = self.vector_index.search(query, k, within=within)
        except ModelUnavailable as trouble:
            return [], f"Searched by words only. {trouble}"
        missing = self.vector_index.count_missing_cached()
        note = f"{missing:,} passages have no vector yet; those were searched by words only."
        return found, note if missing else ""

    def count_terms(self, question: str) -> CollectionCounts:
        """How many passages there are, and how many hold each of the question's words."""
        index = self.library_index
        return CollectionCounts(index.passage_count(), index.document_frequencies(question_terms(question)))

    def index(self, *, scope: LibraryScope | None = None) -> list[LibrarySource]:
        """The sources in the order they were added."""
        return self.library_index.sources(self._scope_query(scope))

    def describe(self, source_id: str, text: str, by: Actor) -> None:
        """Set the description of a source; it stays until the text changes."""
        self.source(source_id)
        description = " ".join(text.split())
        if not description:
            raise UsageError("the description is empty: say in a sentence what the source is about")
        self.library_index.set(source_id, description=description, described_by=by)

    def load(self, source_id: str) -> Page:
        """The page of a source. Raises NotFound."""
        source = self.source(source_id)
        if source.deleted_at:
            raise NotFound(f"the library's source {source_id} is in the bin: restore it first")
        return self.store.pages.get(source.page_id)

    def source(self, source_id: str) -> LibrarySource:
        """A source, deleted or not. Raises NotFound."""
        held = self.library_index.get(source_id)
        if held is None:
            raise NotFound(f"the library has no source {source_id}")
        return held.source

    def sources(
        self,
        *,
        limit: int = 200,
        offset: int = 0,
        scope: LibraryScope | None = None,
        **wanted: Unpack[SourceQuery],
    ) -> list[LibrarySource]:
        """Sources, newest first: those of a scope, else those for which these fields of SourceQuery hold."""
        query = self._scope_query(scope) if scope else wanted
        return self.library_index.sources(query, newest=True, limit=limit, offset=offset)

    def count(self, **wanted: Unpack[SourceQuery]) -> int:
        """How many sources there are for which these fields of SourceQuery hold."""
        return self.library_index.count(wanted)

    def tags(self) -> dict[str, int]:
        """Every tag with its number of sources."""
        return self.library_index.tags()

    def tag(self, source_id: str, *tags: str, away: bool = False) -> None:
        """Add tags to a source, or take them `away`. Raises NotFound, UsageError."""
        self.library_index.tag(source_id, _clean_tags(tags), away=away)

    def delete(self, source_id: str) -> None:
        """Move a source to the bin: no search finds it, answers may still cite it. Raises NotFound."""
        self.library_index.set(source_id, deleted_at=utc_timestamp())

    def restore(self, source_id: str) -> None:
        """Restore a source from the bin. Raises NotFound."""
        self.library_index.set(source_id, deleted_at="")

    def empty_bin(self) -> int:
        """Remove the sources in the bin, with their pages unless a run names them; returns how many. Files of
        a synchronised folder stay, or they would come back as new."""
        went, now = 0, utc_timestamp()
        while gone := self.library_index.purge(now, SOURCES_PER_PURGE):
            went += gone
        return went

    def replace(self, source_id: str, page: Page) -> LibrarySource:
        """Replace a source's text by a newer page. Raises NotFound, UsageError (the page has no text)."""
        return self.add_page(page, source_id=source_id, kind=self.source(source_id).kind)

    def sync(self, kb_dir: Path | None = None, team_dir: Path | None = None) -> FolderSyncResult:
        """Synchronise the sources with two folders (by default those of the settings): new files are added,
        changed ones read again, missing ones deleted until they come back."""
        return self._folder_sync.sync(kb_dir or self.kb_dir, team_dir or self.team_dir)

    def facilities(self, *, scope: LibraryScope | None = None) -> list[Facility]:
        """The facilities in the tables of the sources: rows with a name and coordinates."""
        sources = self.library_index.sources({**self._scope_query(scope), "places": True})
        get = self.store.pages.get
        found = (find_facilities(get(source.page_id), source.source_id)[0] for source in sources)
        return list(chain.from_iterable(found))

    def _scope_query(self, scope: LibraryScope | None) -> SourceQuery:
        if scope is None or scope.is_unlimited:
            return SourceQuery()
        # The ids of the sources that these runs read
        steps = (step for run_id in scope.run_ids for step in self.store.ledger.steps(run_id))
        pages = (page for step in steps for page in step.change.get("pages", []) if page.get("page_id"))
        addresses = (canonicalize(page.get("final_url") or page.get("url", "")) for page in pages)
        ids = (*scope.source_ids, *list(dict.fromkeys(f"kb:{address}" for address in addresses if address)))
        query = SourceQuery(added_only=scope.added_only)
        if scope.source_ids or scope.run_ids or scope.tags:
            query["among"] = (ids, _clean_tags(scope.tags))
        return query


def _by_score(entry: tuple[int, float]) -> tuple[float, int]:
    """Order of passages: the best score, then the earliest."""
    return entry[1], -entry[0]


def _clean_tags(tags: Sequence[str]) -> list[str]:
    """Tags as they are stored: on one line, without a leading "#"."""
    cleaned = [" ".join(tag.split()).lstrip("#").strip() for tag in tags]
    if any(len(tag) > MAX_TAG_CHARS for tag in cleaned):
        raise UsageError(f"a tag has at most {MAX_TAG_CHARS} characters: use a word or two")
    return sorted({tag for tag in cleaned if tag})
