"""What kind of thing a body is: by its first bytes, then by what the server called it. Servers lie, bytes
less so."""

from __future__ import annotations

import re
from typing import Literal

BodyKind = Literal["html", "pdf", "text", "xml", "other", "empty"]

_HTML_TAG = re.compile(
    rb"<(!doctype\s+html|html|head|body|title|meta|article|main|div|p|h1|table|script|a)[\s/>]", re.IGNORECASE
)
_BINARY_SIGNATURES = (
    b"\x89PNG",
    b"GIF8",
    b"\xff\xd8\xff",
    b"PK\x03\x04",
    b"\x7fELF",
    b"MZ",
    b"\x1f\x8b",
    b"RIFF",
    b"OggS",
    b"ID3",
    b"\x00\x00\x01\x00",
    b"\xd0\xcf\x11\xe0",
    b"BZh",
    b"7z\xbc\xaf",
    b"Rar!",
    b"wOFF",
    b"wOF2",
    b"SQLite format 3",
)
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_TEXT_TYPES = (
    "text/",
    "application/json",
    "application/ld+json",
    "application/csv",
    "application/x-ndjson",
    "application/yaml",
)
_XML_TYPES = ("application/xml", "text/xml", "application/rss", "application/atom")


def parse_media_type(content_type: str) -> str:
    """The type without its parameters, lowercased."""
    return content_type.split(";", 1)[0].strip().lower()


def detect_kind(raw: bytes, content_type: str) -> BodyKind:
    """What to read this body as; "other" is what we can't read."""
    head = raw[:1024].lstrip(b"\xef\xbb\xbf \t\r\n")
    if not head:
        return "empty"
    if b"%PDF-" in raw[:1024]:
        return "pdf"
    named = parse_media_type(content_type)
    if head.startswith(_BINARY_SIGNATURES) or head[4:8] == b"ftyp" or _has_nul_bytes(raw, content_type):
        return "other"
    if named in ("text/html", "application/xhtml+xml"):
        return "html"
    if head[:5].lower() == b"<?xml" or named.startswith(_XML_TYPES):
        return "html" if re.search(rb"<html[\s>]", head, re.IGNORECASE) else "xml"
    if (not named or named == "application/octet-stream" or named == "application/pdf") and _HTML_TAG.search(
        head
    ):
        return "html"
    if named.startswith(_TEXT_TYPES) or (not named and b"\x00" not in head):
        return (
            "html"
            if named == "text/plain" and re.match(rb"<(!doctype\s+html|html)[\s>]", head, re.IGNORECASE)
            else "text"
        )
    return "other"


def _has_nul_bytes(raw: bytes, content_type: str) -> bool:
    return b"\x00" in raw[:2048] and not raw.startswith(_UTF16_MARKS) and "utf-16" not in content_type.lower()
