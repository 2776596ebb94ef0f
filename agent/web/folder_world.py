"""A folder with `docs.jsonl` or `docs.jsonl.gz` as a small web: a search engine over its documents, and the
response that a server would give for each address. It never touches the network.

Documents and their full-text index lie in a SQLite file, built once for each content: it is named by a hash
of it, built beside its place and moved there, so that no kill or second process damages it. Without a
writable data folder it is built in memory."""

from __future__ import annotations

import gzip
import hashlib
import json
import sqlite3
import threading
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from html import escape
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from agent.errors import NotFound, UsageError
from agent.net.exchange import Reply, parse_json
from agent.text import urls
from agent.text.tokens import ANALYSIS_FINGERPRINT, content_stems, join_terms, stem_words
from agent.types import SearchResult, SourceFilter
from agent.web.extract import dispatch
from agent.web.extract.extraction import EXTRACTION_VERSION
from agent.web.search_results import RawResult, build_result

Document = dict[str, Any]

VERSION = 3
"""Raised when the file's tables or its windows change."""
WINDOW_CHARS = 2000
"""Characters of a text that are scored together: its best window ranks a document. Whole documents put the
right page of long manuals lower, windows of 900 that of short texts."""
MAX_UNUSED_DAYS = 30
TITLE_WEIGHT = 2.0
"""Weight of a word in the title, against 1 in the text (as in agent.store.library_index)."""
SNIPPET_WORDS = 30
MAX_TERMS = 48
_RESERVED_PATHS = ("/robots.txt", "/sitemap.xml")
_HTML = "text/html; charset=utf-8"
_SCHEMA = """
CREATE TABLE documents (n INTEGER PRIMARY KEY, key TEXT, name TEXT, host TEXT, public INTEGER, url TEXT,
    title TEXT, record BLOB);
CREATE INDEX by_key ON documents (key);
CREATE INDEX by_name ON documents (name);
CREATE INDEX by_host ON documents (host);
CREATE TABLE attached (signs TEXT);
CREATE VIRTUAL TABLE windows USING fts5(head, body, text UNINDEXED, document UNINDEXED,
    tokenize="ascii tokenchars '.,_'");
"""


_OPENED: dict[tuple[object, ...], FolderWorld] = {}


def open_folder(folder: Path, kept_in: Path) -> FolderWorld:
    """The world of a folder, opened once a process for each state of its documents; its file is in `kept_in`.
    Raises NotFound with a hint, UsageError for what cannot be read."""
    for docs in (folder / "docs.jsonl", folder / "docs.jsonl.gz"):
        if docs.is_file():
            opened = (docs, kept_in, *_sign_file(docs))
            if opened not in _OPENED:
                _OPENED[opened] = FolderWorld(docs, kept_in)
            return _OPENED[opened]
    hint = "Name a folder that has docs.jsonl or docs.jsonl.gz, or use --world live or demo."
    raise NotFound(f"There are no documents in {folder}. {hint}")


class FolderWorld:
    """The documents of a folder, as an engine and as servers. Thread-safe."""

    name = "duckduckgo"
    """The engine that it stands in for."""

    def __init__(self, docs: Path, kept_in: Path) -> None:
        self._docs, self._folder, self._lock, note = docs, docs.parent, threading.Lock(), ""
        try:
            self._connection = self._open_kept(kept_in)
        except (OSError, sqlite3.OperationalError) as trouble:
            note = f" (in memory only: {kept_in} can't be written ({trouble}))"
            self._connection = sqlite3.connect(":memory:", check_same_thread=False)
            self._fill(self._connection)
        self.label = f"the index of {self._folder.resolve().name}{note}"
        """The name that a person is shown."""

    def _open_kept(self, kept_in: Path) -> sqlite3.Connection:
        """The file of these documents, opened or built. Raises OSError where it cannot be written."""
        with self._docs.open("rb") as file:  # the files that documents name differ from folder to folder
            digest = hashlib.file_digest(file, "sha256")
        digest.update(
            f"{self._docs.resolve()} {VERSION} {EXTRACTION_VERSION} {ANALYSIS_FINGERPRINT}".encode()
        )
        kept = kept_in / f"{digest.hexdigest()}.db"
        address = f"{kept.as_uri()}?mode=ro&immutable=1"
        if kept.is_file():  # a finished one is opened while its attached files are as they were
            connection = sqlite3.connect(address, uri=True, check_same_thread=False)
            try:
                signs = json.loads(connection.execute("SELECT signs FROM attached").fetchone()[0])
                if all(_sign_file(self._folder / name) == sign for name, sign in signs.items()):
                    kept.touch()
                    return connection
            except (sqlite3.DatabaseError, TypeError, OSError):
                pass  # damaged or not to be touched: built anew
            connection.close()
        kept_in.mkdir(parents=True, exist_ok=True)
        unfinished = kept.with_suffix(f".{uuid4().hex}.tmp")
        try:
            with closing(sqlite3.connect(unfinished)) as connection:
                connection.execute("PRAGMA journal_mode = OFF")
                self._fill(connection)
            unfinished.replace(kept)
        finally:
            unfinished.unlink(missing_ok=True)
        for old in kept_in.iterdir():  # what nobody used for so long, and what killed processes left
            with suppress(FileNotFoundError):
                if time.time() - old.stat().st_mtime > MAX_UNUSED_DAYS * 86_400:
                    old.unlink()
        return sqlite3.connect(address, uri=True, check_same_thread=False)

    def _fill(self, connection: sqlite3.Connection) -> None:
        connection.executescript(_SCHEMA)
        connection.execute(
            "INSERT INTO windows (windows, rank) VALUES ('rank', ?)", [f"bm25({TITLE_WEIGHT})"]
        )
        attached: dict[str, list[int]] = {}
        for n, doc in enumerate(_read_docs(self._docs)):
            if file := str(doc.get("file") or ""):
                attached[file] = _sign_file(_find_attached_file(self._folder, file))
            url, title, text = (str(doc.get(field, "")) for field in ("url", "title", "text"))
            is_page = int(doc.get("status", HTTPStatus.OK)) == HTTPStatus.OK and not doc.get("location")
            public = is_page and urlsplit(url).path not in _RESERVED_PATHS  # what a search engine indexes
            if public and not text and (doc.get("html") or file):
                _, headers, body, _ = self._serve_document(doc)
                reading = dispatch.extract_content(body, headers["Content-Type"], url)
                title, text = title or reading.title, reading.text
            packed, name = zlib.compress(json.dumps(doc).encode()), str(doc.get("id", ""))
            row = (n, urls.canonicalize(url), name, urls.host(url), public, url, title, packed)
            connection.execute("INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
            for piece in split_windows(text) if public else ():
                window = (join_terms(title), join_terms(piece), piece, n)
                connection.execute("INSERT INTO windows VALUES (?, ?, ?, ?)", window)
        connection.execute("INSERT INTO windows (windows) VALUES ('optimize')")
        connection.execute("INSERT INTO attached VALUES (?)", (json.dumps(attached),))
        connection.commit()

    def search(self, query: str, max_results: int, reach: SourceFilter) -> SearchResult:
        """The best documents for any word of the query, on the allowed hosts; `empty` for none."""
        terms = content_stems(query)[:MAX_TERMS]
        match = " OR ".join(f'"{term}"' for term in terms) or '""'
        best = self._rows("SELECT rowid FROM windows WHERE windows MATCH ? ORDER BY rank, rowid", match)
        window = "SELECT url, title, text FROM windows JOIN documents ON n = document WHERE windows.rowid = ?"
        rows = (self._rows(window, n)[0] for (n,) in best)
        allowed = (row for row in rows if reach.allows(row[0]))
        found = (RawResult(url, title, cut_snippet(text, terms)) for url, title, text in allowed)
        result = build_result(self, query, found, max_results)
        detail = f"{self.label} has no page with these words. Try other words."
        return result if result.hits else result.replace(detail=detail)

    def serve(self, url: str) -> Reply:
        """Status, headers and body for an address, in any spelling; 404 for one that is not here. Each host
        has a robots.txt, a sitemap and a front page, its own or one that lists its pages."""
        query = "SELECT record FROM documents WHERE key = ? ORDER BY n LIMIT 1"
        for (record,) in self._rows(query, urls.canonicalize(url)):
            return self._serve_document(json.loads(zlib.decompress(record)))
        host, parts = urls.host(url), urlsplit(url)
        own = self._rows("SELECT url, title, public FROM documents WHERE host = ? ORDER BY n", host)
        pages = [(page, title) for page, title, public in own if public]
        if parts.path not in ("", "/", *_RESERVED_PATHS) or not own:
            missing = b"<title>Not found</title><p>There is no such page in this world.</p>"
            return Reply(HTTPStatus.NOT_FOUND, {"Content-Type": _HTML}, missing)
        if parts.path == "/robots.txt":
            rules = f"User-agent: *\nAllow: /\nSitemap: {parts.scheme}://{parts.netloc}/sitemap.xml\n"
            return Reply(HTTPStatus.OK, {"Content-Type": "text/plain"}, rules.encode())
        if parts.path == "/sitemap.xml":
            listed = "".join(f"<url><loc>{escape(page)}</loc></url>\n" for page, _ in pages)
            sitemap = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{listed}</urlset>'
            return Reply(HTTPStatus.OK, {"Content-Type": "application/xml"}, sitemap.encode())
        entries = "".join(_list_item(page, title or page) for page, title in pages)
        front = _make_page(host, f"<h1>{host}</h1>\n<ul>\n{entries}</ul>")
        return Reply(HTTPStatus.OK, {"Content-Type": _HTML}, front)

    def _rows(self, query: str, *values: object) -> list[Any]:
        with self._lock:
            return self._connection.execute(query, values).fetchall()

    def _serve_document(self, doc: Document) -> Reply:
        kind, html, text = (str(doc.get(name) or "") for name in ("content_type", "html", "text"))
        if doc.get("file"):
            body = _find_attached_file(self._folder, str(doc["file"])).read_bytes()
            kind = kind or ("application/pdf" if body.startswith(b"%PDF") else "")
        elif kind and "html" not in kind and "html" not in doc:
            body = text.encode()
        else:
            body = html.encode() if html else self._render_page(doc, text)
        moved = {"Location": str(doc["location"])} if doc.get("location") else {}
        status = int(doc.get("status", HTTPStatus.FOUND if moved else HTTPStatus.OK))
        return Reply(status, {"Content-Type": kind or _HTML, **moved}, body)

    def _render_page(self, doc: Document, text: str) -> bytes:
        """The page of a document that has only text: title, paragraphs, and its links apart from them."""
        title = escape(str(doc.get("title", "")))
        paragraphs = "".join(f"<p>{escape(line)}</p>\n" for line in text.splitlines() if line.strip())
        linked = (
            "SELECT url, title FROM documents WHERE name = ?1 OR key = ?2 ORDER BY name = ?1 DESC, n LIMIT 1"
        )
        links = ""
        for link in map(str, doc.get("links") or ()):  # the id or the address of a document, or any address
            found = self._rows(linked, link, urls.canonicalize(link)) if link else []
            if found or urls.canonicalize(link):
                links += _list_item(*(found[0] if found else (link, "")))
        navigation = f"<nav><ul>\n{links}</ul></nav>\n" if links else ""
        published = doc.get("published_at") or doc.get("date")
        meta = f'<meta name="date" content="{escape(str(published), quote=True)}">' if published else ""
        return _make_page(title, f"<main><h1>{title}</h1>\n{paragraphs}</main>\n{navigation}", meta)


def _make_page(title: str, body: str, meta: str = "") -> bytes:
    head = f"<!doctype html>\n<html><head><title>{title}</title>{meta}</head>\n"
    return f"{head}<body>{body}</body></html>".encode()


def _list_item(url: str, text: str) -> str:
    return f'<li><a href="{escape(url, quote=True)}">{escape(text)}</a></li>\n'


def _sign_file(file: Path) -> list[int]:
    found = file.stat()
    return [found.st_size, found.st_mtime_ns]


def _read_docs(file: Path) -> Iterator[Document]:
    """The documents of a file, in order. Raises UsageError, which names the line."""
    number = 0
    try:
        with gzip.open(file, "rb") if file.suffix == ".gz" else file.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if not line.strip():
                    continue
                try:
                    yield _read_document(line, file.parent)
                except (ValueError, UsageError) as odd:
                    raise UsageError(f"{file.name}, line {number}: {odd}") from odd
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        hint = "Pack it again, or put an unpacked docs.jsonl beside it."
        raise UsageError(f"{file.name} is damaged after line {number} ({error}). {hint}") from error
    except OSError as error:
        raise UsageError(f"{file} can't be read ({error.strerror}): check its permissions.") from error


def _read_document(line: bytes, folder: Path) -> Document:
    try:
        doc = parse_json(line.decode("utf-8-sig"))
    except ValueError as odd:
        raise ValueError(f"no JSON in UTF-8 ({odd}).") from odd
    if not isinstance(doc, dict) or not urls.canonicalize(str(doc.get("url", ""))):
        raise ValueError("a document needs an absolute http(s) `url`.")
    if "status" in doc and not str(doc["status"]).isdecimal():
        raise ValueError("`status` must be a number such as 404.")
    if doc.get("file"):
        _find_attached_file(folder, str(doc["file"]))
    return doc


def _find_attached_file(folder: Path, name: str) -> Path:
    """The file that a document names, inside the world's folder. Raises UsageError."""
    try:
        file = (folder / name).resolve()
        if file.is_relative_to(folder.resolve()) and file.is_file():
            return file
    except (OSError, ValueError):
        pass  # a name that no file can have
    raise UsageError(f"the document's file {name!r} is not in the world's folder: copy it there.")


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


def cut_snippet(text: str, terms: Sequence[str]) -> str:
    """The first `SNIPPET_WORDS` words in a row that hold most of the terms, with ellipses at cuts."""
    words = text.split()
    held = [[term for term in stem_words(word) if term in terms] for word in words]
    starts = [n for n, found in enumerate(held) if found] or [0]
    best = max(starts, key=lambda n: len({term for found in held[n : n + SNIPPET_WORDS] for term in found}))
    start = max(0, min(best - 3, len(words) - SNIPPET_WORDS))
    before, after = "\u2026" * (start > 0), "\u2026" * (start + SNIPPET_WORDS < len(words))
    return f"{before}{' '.join(words[start : start + SNIPPET_WORDS])}{after}"
