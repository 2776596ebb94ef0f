"""The formats that can be read, and of which a body is: by its first bytes, then by what the server called
it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from pathlib import PurePosixPath
from pkgutil import resolve_name

from agent.web.extract.extraction import Extraction


@dataclass(frozen=True)
class Format:
    """A format that can be read: as a person calls it, the endings of its files, its media types (a file has
    the first)."""

    name: str
    endings: str
    media_types: str
    reader: str
    """Its function below `agent.web.extract`: of a text, or of the bytes of a document."""
    kind: str = "text"
    """What `detect_kind` calls a body of it; a document's is its own."""
    label: str = ""
    """What a document is called."""
    part: bytes = b""
    """What only this format's zip holds unpacked: the name of a part."""

    @property
    def media_type(self) -> str:
        """The type that a file of it has."""
        return self.media_types.split()[0]

    def load_reader(self) -> Callable[..., Extraction]:
        """Its reader, imported when it is needed: libraries of documents are large."""
        reader: Callable[..., Extraction] = resolve_name(f"agent.web.extract.{self.reader}")
        return reader


def _document(endings: str, media_type: str, reader: str, label: str, part: bytes = b"") -> Format:
    """A format that is read from bytes; its name and its kind are its first ending."""
    kind = endings.split()[0]
    return Format(kind.upper(), endings, media_type, f"formats.{reader}", kind, label, part)


_OFFICE = "application/vnd.openxmlformats-officedocument"
_OPEN = "application/vnd.oasis.opendocument"
_SHEETS = "sheets:extract_sheets"
PLAIN_TEXT = Format(
    "plain text", "txt text rst org log json yaml yml", "text/plain", "plain_text:extract_plain_text"
)
FORMATS = (
    Format("HTML", "html htm xhtml", "text/html application/xhtml+xml", "html_page:extract_html", "html"),
    _document("pdf", "application/pdf", "pdf:extract_pdf", "PDF"),
    _document(
        *("docx", f"{_OFFICE}.wordprocessingml.document", "text_documents:extract_docx"),
        *("Word document", b"word/document.xml"),
    ),
    _document("odt", f"{_OPEN}.text", "text_documents:extract_odt", "OpenDocument text"),
    _document("rtf", "application/rtf", "text_documents:extract_rtf", "RTF document"),
    _document("epub", "application/epub+zip", "epub:extract_epub", "book (EPUB)", b"META-INF/container.xml"),
    _document(
        *("pptx", f"{_OFFICE}.presentationml.presentation", "slides:extract_slides"),
        *("presentation", b"ppt/presentation.xml"),
    ),
    _document("xlsx xlsm xlsb", f"{_OFFICE}.spreadsheetml.sheet", _SHEETS, "spreadsheet", b"xl/workbook."),
    _document("xls", "application/vnd.ms-excel", _SHEETS, "spreadsheet"),
    _document("ods", f"{_OPEN}.spreadsheet", _SHEETS, "spreadsheet"),
    Format("CSV", "csv", "text/csv application/csv", "plain_text:extract_csv"),
    Format("TSV", "tsv", "text/tab-separated-values", "plain_text:extract_tsv"),
    Format("JSON-lines", "jsonl ndjson", "application/x-ndjson", "plain_text:extract_json_lines"),
    Format("Markdown", "md markdown", "text/markdown text/x-markdown", "plain_text:extract_markdown"),
    PLAIN_TEXT,
)
"""What can be read. A format is a row here and its reader."""
_NAMES = [one.name for one in FORMATS]
FORMAT_NAMES = f"{', '.join(_NAMES[:-1])} and {_NAMES[-1]}"
"""What can be read, as a person calls it."""
DOCUMENTS = {one.kind: one for one in FORMATS if one.label}
"""The formats by their kinds that are read from bytes, in a process of its own."""
BY_ENDING = {ending: one for one in FORMATS for ending in one.endings.split()}
_BY_TYPE = {name: one for one in FORMATS for name in one.media_types.split()}
_ZIP, _OLE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"

_HTML_TAG = re.compile(
    rb"<(!doctype\s+html|html|head|body|title|meta|article|main|div|p|h1|table|script|a)[\s/>]", re.IGNORECASE
)
_HTML_START = re.compile(rb"<(!doctype\s+html|html)[\s>]", re.IGNORECASE)
_HTML_ROOT = re.compile(rb"<html[\s>]", re.IGNORECASE)
_IMAGE_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
_BINARY_SIGNATURES = (
    *(b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"RIFF", b"OggS", b"ID3", b"\x00\x00\x01\x00"),  # media
    *(_ZIP, b"\x1f\x8b", b"BZh", b"7z\xbc\xaf", b"Rar!"),  # archives
    *(b"\x7fELF", b"MZ", _OLE, b"wOFF", b"wOF2", b"SQLite format 3"),
)
UNKNOWN_TYPE = "application/octet-stream"
"""What a server calls a body of which it does not know the type."""
XML_TYPES = ("application/xml", "text/xml", "application/rss", "application/atom")
HEAD_BYTES = 2048
"""What is looked at of a body."""


def parse_media_type(content_type: str) -> str:
    """The type without its parameters, lowercased."""
    return content_type.split(";", 1)[0].strip().lower()


def read_ending(name: str) -> str:
    """The ending of a file's name, or of an address without its query, lowercased."""
    return PurePosixPath(name).suffix[1:].lower()


def find_text_format(content_type: str, url: str) -> Format:
    """The format of a text: of its type, else of the ending of its address, else plain text."""
    found = (_BY_TYPE.get(parse_media_type(content_type)), BY_ENDING.get(read_ending(url.partition("?")[0])))
    return next((one for one in found if one and one.kind == "text" and one is not PLAIN_TEXT), PLAIN_TEXT)


def detect_kind(raw: bytes, content_type: str) -> str:
    """How to read this body: a kind of DOCUMENTS, html, text, xml, locked, empty; "other" cannot be read."""
    head = raw[:HEAD_BYTES].lstrip(b"\xef\xbb\xbf \t\r\n")
    if not head:
        return "empty"
    if b"%PDF-" in raw[:HEAD_BYTES]:
        return "pdf"
    if head.startswith(b"{\\rtf"):
        return "rtf"
    if raw.startswith(_ZIP):
        typed = (one.kind for one in DOCUMENTS.values() if b"mimetype" + one.media_type.encode() in raw)
        parted = (one.kind for one in DOCUMENTS.values() if one.part and one.part in raw)
        if kind := next(chain(typed, parted), ""):
            return kind
    if raw.startswith(_OLE):
        if "EncryptedPackage".encode("utf-16-le") in raw:
            return "locked"  # a document of Office with a password
        if "Workbook".encode("utf-16-le") in raw:
            return "xls"
    stated = parse_media_type(content_type)
    is_utf16 = raw.startswith((b"\xff\xfe", b"\xfe\xff")) or "utf-16" in content_type.lower()
    has_nul = b"\x00" in raw[:HEAD_BYTES] and not is_utf16
    if head.startswith(_BINARY_SIGNATURES) or head[4:8] == b"ftyp" or has_nul:
        return "other"
    known = _BY_TYPE.get(stated)
    if known and known.kind == "html":
        return "html"
    if head[:5].lower() == b"<?xml" or stated.startswith(XML_TYPES):
        return "html" if _HTML_ROOT.search(head) else "xml"
    if stated in ("", UNKNOWN_TYPE, "application/pdf") and _HTML_TAG.search(head):
        return "html"
    is_text = stated.startswith(("text/", "application/json", "application/ld+json", "application/yaml"))
    if is_text or (known and known.kind == "text") or (not stated and b"\x00" not in head):
        return "html" if stated == "text/plain" and _HTML_START.match(head) else "text"
    return "other"


def detect_image_type(data: bytes) -> str:
    """The media type of a picture that a model accepts; "" for anything else."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((name for start, name in _IMAGE_SIGNATURES if data.startswith(start)), "")
