"""Two folders the library is kept current with: documents (`kb:<path>`) and the team's topics (`team:<file>`).

A file is read again when its time or size changed. What a person added by hand under its name stays, and the file is refused. One
that is gone goes to the bin and comes back with the file, unless a person put it there: then it stays. Knows files and the shelf,
not who searches it.
"""

from __future__ import annotations

import threading
from pathlib import Path

from agent.errors import UsageError
from agent.shelving import BY_HAND, Ask, Shelving
from agent.store.holdings import Shelved
from agent.store.ledger import now
from agent.tools import documents
from agent.types import LibrarySource, Refused, Synced
from agent.types.holdings import Kind


class Folders:
    """Looks at the folders, one thread at a time."""

    def __init__(self, shelving: Shelving) -> None:
        self._shelf, self._shelving = shelving.shelf, shelving
        self._refused: dict[tuple[str, str], tuple[str, str]] = {}
        """Files that could not be read: how they looked then, and why."""
        self._lock = threading.Lock()

    def sync(self, kb_dir: Path | None, team_dir: Path | None) -> Synced:
        """Bring the shelf to what the folders hold now."""
        told = Synced()
        with self._lock:
            for origin, folder in (("kb", kb_dir), ("team", team_dir)):
                if folder is not None:
                    self._one(origin, folder, told, beside=team_dir if origin == "kb" else None)
        return told

    def _one(self, origin: str, folder: Path, told: Synced, *, beside: Path | None = None) -> None:
        """One folder; what lies in the folder `beside`, should that be inside, is not its own."""
        try:
            files = [(name, path) for name, path in documents.files(folder) if beside is None or not path.resolve().is_relative_to(beside.resolve())]
            there = {f"{origin}:{documents.clean(name)}": (name, path) for name, path in files}
        except UsageError as missing:  # perhaps a disk that is not mounted: nothing is taken for removed
            told.refused.append(Refused(name=str(folder), why=str(missing)))
            return
        known = {held.source.source_id: held for held in self._shelf.folder(origin)}
        for source_id, (name, path) in there.items():
            self._file(origin, source_id, name, path, known.get(source_id), told)
        for source_id, held in known.items():
            if source_id not in there and not held.source.gone_at:
                at = now()
                self._shelf.set(source_id, gone_at=at, mark="", **({} if held.source.deleted_at else {"deleted_at": at}))
                told.removed.append(source_id)

    def _file(self, origin: str, source_id: str, name: str, path: Path, held: Shelved | None, told: Synced) -> None:
        try:
            mark = _mark(path)
        except OSError as trouble:
            told.refused.append(Refused(name=name, why=f"{name} cannot be looked at: {trouble.strerror or trouble}"))
            return
        if not mark:
            return
        if held and held.mark == mark and not held.source.gone_at:
            return
        if held is None and self._shelf.get(source_id) is not None:
            told.refused.append(Refused(name=name, why=f"{source_id} {BY_HAND}"))
            return
        seen, why = self._refused.get((origin, name), ("", ""))
        if seen == mark:
            told.refused.append(Refused(name=name, why=why))
            return
        try:
            changed = self._read(origin, source_id, name, path, held, mark)
        except UsageError as refusal:
            self._refused[(origin, name)] = (mark, str(refusal))
            told.refused.append(Refused(name=name, why=str(refusal)))
            return
        if changed:
            (told.changed if held and not held.source.gone_at else told.added).append(source_id)

    def _read(self, origin: str, source_id: str, name: str, path: Path, held: Shelved | None, mark: str) -> LibrarySource | None:
        """The file's text on the shelf; None when it is the text that was there."""
        page = documents.read(name, documents.data(path))
        url = f"file:{'team/' if origin == 'team' else ''}{documents.clean(name)}"
        page = page.model_copy(update={"url": url, "final_url": url})
        kind: Kind = "topic" if origin == "team" else "file"
        back = held is None or held.source.deleted_at == held.source.gone_at  # in the bin only because its file was gone
        (source,) = self._shelving.put([Ask(page, source_id, kind=kind, restore=back, origin=origin, mark=mark)])
        return None if held and held.source.page_id == source.page_id and not held.source.gone_at else source


def _mark(path: Path) -> str:
    """How a file looks from outside: the time of its last change and its size; "" when it went away this moment. Raises OSError."""
    try:
        seen = path.stat()
    except FileNotFoundError:
        return ""
    return f"{seen.st_mtime_ns}:{seen.st_size}"
