"""The documents of a folder world: `docs.jsonl` or `docs.jsonl.gz`, one JSON object a line, with the files
they name. What cannot be read is a `UsageError` that names the line."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agent.errors import NotFound, UsageError
from agent.text import urls

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
                if line.strip():
                    yield _parse_document(line, file.parent, f"{file.name}, line {number}")
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


def _parse_document(line: bytes, folder: Path, where: str) -> FolderDocument:
    try:
        doc = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UsageError(f"{where}: not UTF-8 text ({error.reason}). Save the file as UTF-8.") from error
    except ValueError as error:
        raise UsageError(f"{where}: not JSON ({error}).") from error
    if not isinstance(doc, dict) or not urls.canonicalize(str(doc.get("url", ""))):
        raise UsageError(f"{where}: a document needs an absolute http(s) `url`.")
    if not str(doc.get("status", 200)).isdecimal():
        raise UsageError(f"{where}: `status` must be a number such as 404.")
    if b"\\ud" in line.lower():  # half a character, which no page could send
        doc = json.loads(json.dumps(doc, ensure_ascii=False).encode("utf-8", "replace"))
    if doc.get("file"):
        try:
            find_attached_file(folder, str(doc["file"]))
        except UsageError as error:
            raise UsageError(f"{where}: {error}") from error
    return dict(doc)
