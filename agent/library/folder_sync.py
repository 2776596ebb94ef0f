"""Synchronises the library with two folders: documents (`kb:<path>`) and the team's topics (`team:<file>`).

A file is read again when its time or size has changed. One named like a document that was added by hand is
refused. A missing file deletes its source, and restores it when it is back, unless a person deleted it."""

from __future__ import annotations

import threading
from pathlib import Path

from agent.errors import UsageError
from agent.library.ingest import ADDED_BY_HAND_REASON, Indexer, IndexRequest
from agent.store import tables
from agent.store.ledger import utc_timestamp
from agent.store.library_index import IndexedSource
from agent.types import FolderSyncResult, RefusedFile
from agent.types.library import SourceKind
from agent.web.extract import documents


class FolderSync:
    """Reads the folders, one thread at a time."""

    def __init__(self, indexer: Indexer) -> None:
        self._library_index, self._indexer = indexer.library_index, indexer
        self._refused: dict[tuple[str, str], tuple[str, str]] = {}
        """Files that could not be read: their signature, and why."""
        self._lock = threading.Lock()

    def sync(self, kb_dir: Path | None, team_dir: Path | None) -> FolderSyncResult:
        """Bring the library to what the folders hold now."""
        result = FolderSyncResult()
        with self._lock:
            for origin, folder in (("kb", kb_dir), ("team", team_dir)):
                if folder is not None:
                    self._sync_folder(origin, folder, result, beside=team_dir if origin == "kb" else None)
        return result

    def _sync_folder(
        self, origin: str, folder: Path, result: FolderSyncResult, *, beside: Path | None
    ) -> None:
        """Synchronise one folder, without the folder `beside` inside it."""
        try:
            there = {
                f"{origin}:{documents.clean_name(name)}": (name, path)
                for name, path in documents.list_files(folder)
                if beside is None or not path.resolve().is_relative_to(beside.resolve())
            }
        except UsageError as missing:  # perhaps an unmounted disk: nothing counts as removed
            result.refused.append(RefusedFile(name=str(folder), why=str(missing)))
            return
        of_folder = self._library_index.find(tables.sources.c.origin == origin)
        known = {held.source.source_id: held for held in of_folder}
        for source_id, (name, path) in there.items():
            held = known.get(source_id)
            is_known = held is not None and not held.source.gone_at
            try:
                if self._read_file(origin, source_id, name, path, held):
                    (result.changed if is_known else result.added).append(source_id)
            except UsageError as refusal:
                result.refused.append(RefusedFile(name=name, why=str(refusal)))
        for source_id, held in known.items():
            if source_id not in there and not held.source.gone_at:
                at = utc_timestamp()
                deleted_at = held.source.deleted_at or at
                self._library_index.set(source_id, gone_at=at, mark="", deleted_at=deleted_at)
                result.removed.append(source_id)

    def _read_file(
        self, origin: str, source_id: str, name: str, path: Path, held: IndexedSource | None
    ) -> bool:
        """Index a file that is not as it was when it was last read; whether its text is new. Raises
        UsageError, for the same file with the same reason again without reading it."""
        try:
            status = path.stat()
        except FileNotFoundError:  # it has just gone
            return False
        except OSError as trouble:
            raise UsageError(f"{name} cannot be read: {trouble.strerror or trouble}") from trouble
        mark = f"{status.st_mtime_ns}:{status.st_size}"
        if held and held.mark == mark and not held.source.gone_at:
            return False
        if held is None and self._library_index.get(source_id) is not None:
            raise UsageError(f"{source_id} {ADDED_BY_HAND_REASON}")
        seen, why = self._refused.get((origin, name), ("", ""))
        if seen == mark:
            raise UsageError(why)
        try:
            page = documents.read_document(name, documents.read_bytes(path))
            url = f"file:{'team/' if origin == 'team' else ''}{documents.clean_name(name)}"
            page = page.replace(url=url, final_url=url)
            kind: SourceKind = "topic" if origin == "team" else "file"
            # deleted only because its file was missing
            back = held is None or held.source.deleted_at == held.source.gone_at
            ask = IndexRequest(page, source_id, kind=kind, restore=back, origin=origin, mark=mark)
            (source,) = self._indexer.index([ask])
        except UsageError as refusal:
            self._refused[(origin, name)] = (mark, str(refusal))
            raise
        return held is None or held.source.page_id != source.page_id or bool(held.source.gone_at)
