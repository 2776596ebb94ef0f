"""The documents of a folder world in a SQLite file with their full-text index, built once for each content.

The file is named by a hash of the documents and their folder, built beside its place and moved there, so that
no kill or second process damages it. Without a writable data folder it is built in memory."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import sqlite3
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from agent.errors import NotFound, UsageError
from agent.text import urls
from agent.text.tokens import ANALYSIS_FINGERPRINT, content_stems, join_terms, stem_words
from agent.types import Outcome, SearchResult, SourceFilter
from agent.web.extract.extraction import EXTRACTION_VERSION
from agent.web.search_results import RawResult, build_hits

# The documents of a folder world: `docs.jsonl` or `docs.jsonl.gz`, one JSON object a line, with the files
# they name. What cannot be read is a `UsageError` that names the line.

FolderDocument = dict[str, Any]


def find_docs_file(folder: Path) -> Path:
    """The folder's documents; raises `NotFound` with a hint when there are none."""
    for name in ("docs.jsonl", "docs.jsonl.gz"):
        if (folder / name).is_file():
            return folder / name
    hint = "Name a folder that has one, or use --world live or demo."
    raise NotFound(f"There is no docs.jsonl or docs.jsonl.gz in {folder}. {hint}")


def read_docs(file: Path) -> Iterator[FolderDocument]:
    """The documents of a file, in order. Raises UsageError."""
    number = 0
    try:
        with gzip.open(file, "rb") if file.suffix == ".gz" else file.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if not line.strip():
                    continue
                where = f"{file.name}, line {number}"
                try:
                    doc = json.loads(line.decode("utf-8-sig"))
                except UnicodeDecodeError as odd:
                    raise UsageError(
                        f"{where}: not UTF-8 text ({odd.reason}). Save the file as UTF-8."
                    ) from odd
                except ValueError as odd:
                    raise UsageError(f"{where}: not JSON ({odd}).") from odd
                if not isinstance(doc, dict) or not urls.canonicalize(str(doc.get("url", ""))):
                    raise UsageError(f"{where}: a document needs an absolute http(s) `url`.")
                if not str(doc.get("status", 200)).isdecimal():
                    raise UsageError(f"{where}: `status` must be a number such as 404.")
                if b"\\ud" in line.lower():  # half a character, which no page could send
                    doc = json.loads(json.dumps(doc, ensure_ascii=False).encode("utf-8", "replace"))
                if doc.get("file"):
                    try:
                        find_attached_file(file.parent, str(doc["file"]))
                    except UsageError as odd:
                        raise UsageError(f"{where}: {odd}") from odd
                yield doc
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        hint = "Pack it again, or put an unpacked docs.jsonl beside it."
        raise UsageError(f"{file.name} is damaged after line {number} ({error}). {hint}") from error
    except OSError as error:
        raise UsageError(f"{file} can't be read ({error.strerror}): check its permissions.") from error


def find_attached_file(folder: Path, name: str) -> Path:
    """The file that a document names, inside the world's folder. Raises UsageError."""
    try:
        file = (folder / name).resolve()
        if file.is_relative_to(folder.resolve()) and file.is_file():
            return file
    except (OSError, ValueError):
        pass  # a name that no file can have
    raise UsageError(f"the document's file {name!r} is not in the world's folder: copy it there.")


VERSION = 2
"""Raised when the file's tables or its windows change."""
WINDOW_CHARS = 2000
"""Characters of a text that are scored together: its best window ranks a document. Whole documents put the
right page of long manuals lower (33 of 38 in the first three, 36 by windows), windows of 900 those of short
texts."""
MAX_KEPT, MAX_UNUSED_DAYS = 20, 30
"""Files kept at most, and days after which an unused one is removed."""
UNFINISHED_DAYS = 1
TITLE_WEIGHT = 2.0
"""Weight of a word in the title, against 1 in the text (as in agent.store.library_index)."""
RESERVED_PATHS = ("/robots.txt", "/sitemap.xml")
_READ_ONLY = "?mode=ro&immutable=1"
_SCHEMA = """
CREATE TABLE documents (n INTEGER PRIMARY KEY, key TEXT, name TEXT, host TEXT, public INTEGER, url TEXT,
    title TEXT, record BLOB);
CREATE TABLE windows (id INTEGER PRIMARY KEY, document INTEGER, text BLOB);
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT);
CREATE VIRTUAL TABLE words USING fts5(head, body, content='', tokenize="ascii tokenchars '.,_'");
"""
_INDEXES = """
CREATE INDEX by_key ON documents (key);
CREATE INDEX by_name ON documents (name);
CREATE INDEX by_host ON documents (host, public);
"""

ReadText = Callable[[FolderDocument], tuple[str, str]]
"""Gives a document's title and text."""


class FolderStore:
    """The documents of one world. Thread-safe."""

    def __init__(self, connection: sqlite3.Connection, folder: Path, note: str = "") -> None:
        self.folder, self.note = folder, note
        """`note`: that it is kept in memory only, and why; "" when it is not."""
        self._connection = connection
        self._lock = threading.Lock()

    def _rows(self, query: str, *values: object) -> list[tuple[object, ...]]:
        with self._lock:
            return self._connection.execute(query, values).fetchall()

    def find(self, url: str) -> FolderDocument | None:
        """The document at an address, in any spelling: the first of those with the same."""
        query = "SELECT record FROM documents WHERE key = ? ORDER BY n LIMIT 1"
        for record, *_ in self._rows(query, urls.canonicalize(url)):
            return dict(json.loads(zlib.decompress(record)))  # type: ignore[arg-type]
        return None

    def find_linked(self, link: str) -> tuple[str, str] | None:
        """Address and title of the document with this id or address."""
        for column, value in (("name", link), ("key", urls.canonicalize(link))):
            query = f"SELECT url, title FROM documents WHERE {column} = ? ORDER BY n LIMIT 1"
            for url, title in self._rows(query, value) if value else ():
                return str(url), str(title)
        return None

    def has_host(self, host: str) -> bool:
        """Whether a document is on this host."""
        return bool(self._rows("SELECT 1 FROM documents WHERE host = ? LIMIT 1", host))

    def list_public(self, host: str) -> list[tuple[str, str]]:
        """Address and title of the documents of a host, without redirects, failures and rules."""
        query = "SELECT url, title FROM documents WHERE host = ? AND public = 1 ORDER BY n"
        return [(str(url), str(title)) for url, title in self._rows(query, host)]

    def search(self, terms: Sequence[str], limit: int) -> list[tuple[str, str, str]]:
        """Address, title and best window of the documents with the best windows for any of the terms, at most
        `limit` windows deep."""
        match = " OR ".join(f'"{term}"' for term in terms)
        query = (
            "SELECT d.url, d.title, w.text FROM (SELECT rowid AS id, rank FROM words WHERE words MATCH ? "
            "ORDER BY rank LIMIT ?) found JOIN windows w ON w.id = found.id JOIN documents d ON "
            "d.n = w.document ORDER BY found.rank, found.id"
        )
        best: dict[str, tuple[str, str, str]] = {}
        for url, title, text in self._rows(query, match, limit) if match else ():
            if str(url) not in best:
                best[str(url)] = (str(url), str(title), zlib.decompress(text).decode())  # type: ignore[arg-type]
        return list(best.values())


def open_folder_store(folder: Path, kept_in: Path, read_text: ReadText) -> FolderStore:
    """The store of a folder's documents, opened or built. Raises NotFound, UsageError."""
    docs = find_docs_file(folder)
    # A hash of where the documents are, what they say, and how they are read: the files that documents
    # name differ from folder to folder
    with docs.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
    digest.update(f"{docs.resolve()} {VERSION} {EXTRACTION_VERSION} {ANALYSIS_FINGERPRINT}".encode())
    kept = kept_in / f"{digest.hexdigest()[:32]}.db"
    if kept.is_file():  # a finished one is opened while its attached files are as they were
        connection = sqlite3.connect(f"{kept.as_uri()}{_READ_ONLY}", uri=True, check_same_thread=False)
        try:
            files = connection.execute("SELECT value FROM about WHERE name = 'files'").fetchone()[0]
            if all(_sign_file(folder / name) == sign for name, sign in json.loads(files).items()):
                kept.touch()
                return FolderStore(connection, folder)
        except (sqlite3.DatabaseError, TypeError, OSError):
            pass  # damaged or not to be touched: built anew
        connection.close()
    try:
        return FolderStore(_build_kept(kept, folder, docs, read_text), folder)
    except (OSError, sqlite3.OperationalError) as trouble:
        note = f"in memory only: {kept_in} can't be written ({trouble})"
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    _fill(connection, folder, docs, read_text)
    return FolderStore(connection, folder, note)


def _build_kept(kept: Path, folder: Path, docs: Path, read_text: ReadText) -> sqlite3.Connection:
    kept.parent.mkdir(parents=True, exist_ok=True)
    unfinished = kept.with_suffix(f".{uuid4().hex[:8]}.tmp")
    try:
        connection = sqlite3.connect(unfinished)
        try:
            connection.execute("PRAGMA journal_mode = OFF")
            connection.execute("PRAGMA synchronous = OFF")
            _fill(connection, folder, docs, read_text)
        finally:
            connection.close()
        with unfinished.open("rb+") as file:
            os.fsync(file.fileno())
        unfinished.replace(kept)
    finally:
        unfinished.unlink(missing_ok=True)
    # Remove unused files of other worlds, the oldest beyond the limit, and what killed processes left
    for pattern, most, days in (("*.db", MAX_KEPT, MAX_UNUSED_DAYS), ("*.tmp", sys.maxsize, UNFINISHED_DAYS)):
        used = sorted(((file.stat().st_mtime, file) for file in kept.parent.glob(pattern)), reverse=True)
        for n, (at, old) in enumerate(used):
            if old != kept and (n >= most or time.time() - at > days * 86_400):
                old.unlink(missing_ok=True)
    return sqlite3.connect(f"{kept.as_uri()}{_READ_ONLY}", uri=True, check_same_thread=False)


def _sign_file(file: Path) -> list[int]:
    found = file.stat()
    return [found.st_size, found.st_mtime_ns]


def _fill(connection: sqlite3.Connection, folder: Path, docs: Path, read_text: ReadText) -> None:
    connection.executescript(_SCHEMA)
    attached: dict[str, list[int]] = {}
    window = 0
    for n, doc in enumerate(read_docs(docs)):
        if doc.get("file"):
            attached[str(doc["file"])] = _sign_file(find_attached_file(folder, str(doc["file"])))
        public = is_public(doc)
        title, text = read_text(doc) if public else (str(doc.get("title", "")), "")
        url = str(doc["url"])
        place = (n, urls.canonicalize(url), str(doc.get("id", "")), urls.host(url), public, url, title)
        packed = zlib.compress(json.dumps(doc).encode(), 6)
        connection.execute("INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (*place, packed))
        head = join_terms(title)
        for piece in split_windows(text) if public else ():
            window += 1
            terms = (window, head, join_terms(piece))
            connection.execute("INSERT INTO words (rowid, head, body) VALUES (?, ?, ?)", terms)
            connection.execute(
                "INSERT INTO windows VALUES (?, ?, ?)", (window, n, zlib.compress(piece.encode()))
            )
    connection.execute("INSERT INTO words (words, rank) VALUES ('rank', ?)", (f"bm25({TITLE_WEIGHT}, 1.0)",))
    connection.execute("INSERT INTO words (words) VALUES ('optimize')")
    connection.executescript(_INDEXES)
    connection.execute("INSERT INTO about VALUES ('files', ?)", (json.dumps(attached),))
    connection.commit()


def is_public(doc: FolderDocument) -> bool:
    """Whether a search engine would index a document: no redirect, failure or rules."""
    is_page = int(doc.get("status", 200)) == 200 and not doc.get("location")
    return is_page and urlsplit(doc["url"]).path not in RESERVED_PATHS


def split_windows(text: str) -> Iterator[str]:
    """The text in pieces of about `WINDOW_CHARS`, cut at lines or ends of words; at least one."""
    piece = ""
    for line in text.splitlines():
        if piece and len(piece) + len(line) > WINDOW_CHARS:
            yield piece
            piece = ""
        piece = f"{piece}\n{line}".strip()
        while len(piece) > 2 * WINDOW_CHARS:
            cut = piece.rfind(" ", WINDOW_CHARS // 2, WINDOW_CHARS) + 1 or WINDOW_CHARS
            yield piece[:cut].strip()
            piece = piece[cut:]
    yield piece


# The search engine of a folder world: the full-text index of its documents.

SNIPPET_WORDS = 30
MAX_TERMS = 48
WINDOWS_PER_RESULT = 5
"""Windows searched for each result that is wanted: a long document has many."""
OVERFETCH_FACTOR = 50
"""How many times more documents are searched when only some hosts are allowed."""
_WORD = re.compile(r"\S+")


class FolderIndex:
    """The engine. `name` is the engine it stands in for; `label` is the name shown to a person."""

    def __init__(
        self, store: FolderStore, *, name: str = "duckduckgo", label: str = "the world's own index"
    ) -> None:
        self.name, self.label = name, label
        self._store = store

    def search(self, query: str, max_results: int, reach: SourceFilter | None = None) -> SearchResult:
        """The best documents for any word of the query, on the allowed hosts; `empty` for none."""
        reach = reach or SourceFilter()
        terms = content_stems(query)[:MAX_TERMS]
        most = max_results * (OVERFETCH_FACTOR if reach.allowed or reach.blocked else 1)
        found = [row for row in self._store.search(terms, most * WINDOWS_PER_RESULT) if reach.allows(row[0])]
        rows = (RawResult(url, title, cut_snippet(text, terms)) for url, title, text in found)
        hits = build_hits(self.name, rows, max_results)
        outcome = Outcome.OK if hits else Outcome.EMPTY
        detail = "" if hits else f"{self.label} has no page with these words. Try other words."
        return SearchResult(engine=self.name, query=query, outcome=outcome, hits=hits, detail=detail)


def cut_snippet(text: str, terms: Sequence[str]) -> str:
    """The first `SNIPPET_WORDS` words in a row that hold most of the terms, with ellipses at cuts."""
    words = _WORD.findall(text)
    held = [[term for term in stem_words(word) if term in terms] for word in words]
    starts = [n for n, found in enumerate(held) if found] or [0]
    best = max(starts, key=lambda n: len({term for found in held[n : n + SNIPPET_WORDS] for term in found}))
    start = max(0, min(best - 3, len(words) - SNIPPET_WORDS))
    before, after = "\u2026" * (start > 0), "\u2026" * (start + SNIPPET_WORDS < len(words))
    return f"{before}{' '.join(words[start : start + SNIPPET_WORDS])}{after}"
