"""An uploaded document as a Page (see `mime.FORMATS`). Nothing in it is executed, fetched or unpacked to
disk; what is no text is read in a process of its own (`agent.web.parser_pool`).

A document's name is a label: it is cleaned, shown and compared, never opened."""

from __future__ import annotations

import csv
import logging
import re
import unicodedata
from datetime import UTC, datetime
from pathlib import Path

from agent.errors import UsageError
from agent.text.urls import FILE_SCHEME, canonicalize
from agent.types import Anchor, Outcome, Page
from agent.web import mime
from agent.web.extract import dispatch, encoding
from agent.web.extract.extraction import Extraction
from agent.web.http_outcomes import MISREAD
from agent.web.link_targets import resolve_anchors

MAX_BYTES = 50_000_000
"""Bytes a document may have. The screens accept less in an upload: server.maxUploadSize."""
_CONVERSION_HINTS = {
    **dict.fromkeys(("doc", "dot"), "an old Word file: open it there and save it as DOCX or PDF"),
    **dict.fromkeys(("ppt", "pps"), "an old PowerPoint file: open it there and save it as PPTX or PDF"),
    **dict.fromkeys(("pages", "numbers", "key"), "an Apple file: export it as PDF"),
    **dict.fromkeys(("odp", "odg"), "an OpenDocument drawing: save it as PDF"),
    **dict.fromkeys(("zip", "gz", "7z", "rar", "tar"), "an archive: unpack it first"),
}

log = logging.getLogger(__name__)


def read_document(name: str, data: bytes, *, url: str = "") -> Page:
    """The document as a page at `url`, or at `file:<name>`. Raises UsageError when it cannot be read."""
    label = clean_name(name)
    file = label.rpartition("/")[2]
    if len(data) > MAX_BYTES:
        size = f"{len(data) / 1e6:.0f} MB; {MAX_BYTES / 1e6:.0f} MB are the most"
        raise UsageError(f"{label} has {size}. Split it, or leave its pictures out")
    if not data.strip(b"\x00 \t\r\n"):
        raise UsageError(f"{label} is empty: there is nothing to add")
    address = url if canonicalize(url) else f"{FILE_SCHEME}{label}"
    try:
        reading, kind = _extract(data, label, address)
    except (*MISREAD, OSError, RuntimeError, csv.Error) as fault:
        log.warning("%s cannot be read", label, exc_info=fault)
        advice = "Save it again, or as PDF or plain text"
        raise UsageError(
            f"{label} is damaged or built in an unusual way and cannot be read. {advice}"
        ) from fault
    if reading.outcome is not Outcome.OK:
        raise UsageError(f"{label} cannot be added. {reading.detail}")
    return reading.to_page(
        url=address,
        final_url=address,
        content_type=kind,
        title=reading.title or file.rpartition(".")[0] or file,
        raw=data,
        fetched_at=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
    )


def find_anchors(page: Page) -> list[Anchor]:
    """Where the text of a page links to, found by reading its raw body again; none for a page without one."""
    if not page.raw:
        return []
    if page.url.startswith(FILE_SCHEME):
        label = page.url.removeprefix(FILE_SCHEME)
        reading, kind = _extract(page.raw, label, page.url)
    else:
        kind = page.content_type
        reading = dispatch.extract_content(page.raw, kind, page.final_url)
    if reading.text != page.text:  # another version of the program extracted it
        return []
    if mime.detect_kind(page.raw, kind) != "html":
        return reading.anchors
    html, url = encoding.decode(page.raw, kind), page.final_url
    return resolve_anchors(reading.anchors, page.text, html, "" if url.startswith(FILE_SCHEME) else url)


def clean_name(name: str) -> str:
    """A file's name or relative path as a label: "/" between its parts, none of them "..", nothing invisible,
    200 characters at most."""
    normal = unicodedata.normalize("NFC", name).replace("\\", "/")
    seen = "".join(c if c.isprintable() else " " for c in normal if unicodedata.category(c) != "Cf")
    parts = [" ".join(part.split()) for part in seen.split("/")]
    label = "/".join(
        part for part in parts if part and part not in (".", "..") and not re.fullmatch(r"[A-Za-z]:", part)
    )
    if len(label) > 200:
        stem, dot, ending = label.rpartition(".")
        label = f"{stem[: 190 - len(ending)]}…{dot}{ending}" if dot and len(ending) < 10 else label[:200]
    return label or "unnamed"


def _extract(data: bytes, label: str, address: str) -> tuple[Extraction, str]:
    """The document read by what it is, and its type: its first bytes decide, then its ending."""
    ending = mime.read_ending(label)
    known = mime.BY_ENDING.get(ending)
    stated = known.media_type if known and not known.label else ""
    kind = mime.detect_kind(data, stated)
    if document := mime.DOCUMENTS.get(kind):
        return dispatch.extract_content(data, stated, address), document.media_type
    if kind != "locked" and ending in _CONVERSION_HINTS:
        raise UsageError(f"{label} is {_CONVERSION_HINTS[ending]}")
    if kind in ("other", "text") and known and known.label:
        raise UsageError(
            f"{label} is damaged, or no {known.label}. Open it in the program that wrote it and save it "
            "again, or as PDF"
        )
    if kind == "other":
        raise UsageError(f"{label} holds nothing that can be read as text. {mime.FORMAT_NAMES} can be read")
    is_mislabelled = kind == "html" and stated == mime.PLAIN_TEXT.media_type
    reading = dispatch.extract_content(data, "" if is_mislabelled else stated, address)
    return reading, stated or f"text/{kind}"


def list_files(folder: Path) -> list[tuple[str, Path]]:
    """The readable files below a folder with their relative paths, sorted. Hidden files are left out, and
    links that lead out of the folder; a file without permission is in the list, because reading it explains
    the problem.

    Raises UsageError when there is no such folder, or it cannot be listed."""
    try:
        if not folder.is_dir():
            raise UsageError(f"there is no folder {folder}")
        root, paths = folder.resolve(), sorted(folder.rglob("*"))
    except OSError as trouble:
        raise UsageError(f"the folder {folder} cannot be listed: {trouble.strerror or trouble}") from trouble
    found = []
    for path in paths:
        parts = path.relative_to(folder).parts
        if mime.read_ending(path.name) not in mime.BY_ENDING or any(p[0] == "." for p in parts):
            continue
        try:
            is_within = path.resolve().is_relative_to(root) and path.is_file()
        except RuntimeError:  # a link that leads to itself
            continue
        except OSError:  # it is there, but may not be looked at
            is_within = True
        if is_within:
            found.append(("/".join(parts), path))
    return found


def read_bytes(path: Path) -> bytes:
    """A file's bytes, one more than may be read at most. Raises UsageError when it cannot be opened."""
    try:
        with path.open("rb") as opened:
            return opened.read(MAX_BYTES + 1)
    except OSError as trouble:
        raise UsageError(f"{path.name} cannot be opened: {trouble.strerror or trouble}") from trouble
