"""What kind of thing a body is: by its first bytes, then by what the server called it."""

from __future__ import annotations

import re
from typing import Literal

DocumentKind = Literal["pdf", "docx", "sheets", "pptx", "odt", "epub", "rtf"]
"""A document that a reader of its own reads, in a process of its own."""
BodyKind = Literal["html", "text", "xml", "locked", "other", "empty"] | DocumentKind
DOCUMENT_TYPES: dict[DocumentKind, str] = {
    "pdf": "application/pdf",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "sheets": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "odt": "application/vnd.oasis.opendocument.text",
    "epub": "application/epub+zip",
    "rtf": "application/rtf",
}
_ZIPPED: tuple[tuple[bytes, DocumentKind], ...] = (
    (b"mimetypeapplication/epub+zip", "epub"),
    (b"mimetypeapplication/vnd.oasis.opendocument.text", "odt"),
    (b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet", "sheets"),
    (b"word/document.xml", "docx"),
    (b"xl/workbook.", "sheets"),
    (b"ppt/presentation.xml", "pptx"),
    (b"META-INF/container.xml", "epub"),
)
"""What stands unpacked in a zip of each kind, the first wins: the names of its parts, or its type."""
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
    *(b"PK\x03\x04", b"\x1f\x8b", b"BZh", b"7z\xbc\xaf", b"Rar!"),  # archives
    *(b"\x7fELF", b"MZ", b"\xd0\xcf\x11\xe0", b"wOFF", b"wOF2", b"SQLite format 3"),
)
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_TEXT_TYPES = ("text/", *(f"application/{name}" for name in ("json", "ld+json", "csv", "x-ndjson", "yaml")))
XML_TYPES = ("application/xml", "text/xml", "application/rss", "application/atom")


HEAD_BYTES = 2048
"""What is looked at of a body."""


def parse_media_type(content_type: str) -> str:
    """The type without its parameters, lowercased."""
    return content_type.split(";", 1)[0].strip().lower()


def detect_kind(raw: bytes, content_type: str) -> BodyKind:
    """How to read this body; "other" cannot be read."""
    head = raw[:HEAD_BYTES].lstrip(b"\xef\xbb\xbf \t\r\n")
    if not head:
        return "empty"
    if b"%PDF-" in raw[:HEAD_BYTES]:
        return "pdf"
    if head.startswith(b"{\\rtf"):
        return "rtf"
    if raw.startswith(_ZIP):
        for mark, kind in _ZIPPED:
            if mark in raw:
                return kind
    if raw.startswith(_OLE):
        if "EncryptedPackage".encode("utf-16-le") in raw:
            return "locked"  # a document of Office with a password
        if "Workbook".encode("utf-16-le") in raw:
            return "sheets"
    stated = parse_media_type(content_type)
    is_utf16 = raw.startswith(_UTF16_MARKS) or "utf-16" in content_type.lower()
    has_nul = b"\x00" in raw[:HEAD_BYTES] and not is_utf16
    if head.startswith(_BINARY_SIGNATURES) or head[4:8] == b"ftyp" or has_nul:
        return "other"
    if stated in ("text/html", "application/xhtml+xml"):
        return "html"
    if head[:5].lower() == b"<?xml" or stated.startswith(XML_TYPES):
        return "html" if _HTML_ROOT.search(head) else "xml"
    if stated in ("", "application/octet-stream", "application/pdf") and _HTML_TAG.search(head):
        return "html"
    if stated.startswith(_TEXT_TYPES) or (not stated and b"\x00" not in head):
        return "html" if stated == "text/plain" and _HTML_START.match(head) else "text"
    return "other"


def detect_image_type(data: bytes) -> str:
    """The media type of a picture that a model accepts; "" for anything else."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((name for start, name in _IMAGE_SIGNATURES if data.startswith(start)), "")
