"""A Word document (DOCX): its headings, lists, tables, links and notes. Pictures are left out.

The file is a zip of XML. Before anything is parsed, its parts are counted and their sizes checked (a part
never yields more than the size it declares), and a part with a document type is refused: Office writes none,
and entities are how XML explodes. Any part may be declared the main document, so every part that could be XML
is checked."""

from __future__ import annotations

import io
import logging
import re
import struct
import zipfile
import zlib
from html import unescape
from xml.parsers.expat import ExpatError

from selectolax.lexbor import LexborHTMLParser

from agent.text import urls
from agent.types import Link, Outcome
from agent.web.extract.extraction import Extraction
from agent.web.extract.text_blocks import TextBlocks, inline_text

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
MAX_PARTS = 5_000
MAX_XML = 16_000_000
"""Bytes of unpacked XML; a thousand pages of a manual have less."""
MAX_TAGS = 1_000_000
"""Tags in all its XML, opening and closing: each costs a parser time and a kilobyte."""
MAX_RATIO = 80
"""How many times larger than packed one part of more than a megabyte may be; Word's own XML stays below
50."""
_MAIN_PART = "word/document.xml"
_BROKEN = (
    "The Word document is damaged and could not be read. Open it in Word, save it again, or save it as PDF."
)
_HOSTILE = (
    "The Word document is built in a way that no word processor builds one, so it was not opened. Save "
    "it again from Word, or as PDF."
)
_LARGE = (
    "The Word document unpacks to more text than is read here. Split it, or save the part you need as a "
    "document of its own."
)
_LOCKED = "The Word document is locked with a password. Take the password off and add it again."
_EMPTY = "The Word document holds no text (perhaps pictures only). Add a version with text."
_DECLARATIONS = re.compile(rb"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)
_ENTITIES = re.compile(rb"<!ENTITY", re.IGNORECASE)
_PICTURE_FOLDER = "word/media/"
"""A drawing (SVG) in here may name its document type, as drawing programs do, but declare no entities."""
_HEAD_BYTES = 1_000
_SKIPPED_LEADING_BYTES = b"\xef\xbb\xbf\xfe\xff\0 \t\r\n"
"""What may come before the first tag: byte-order marks, half of a UTF-16 character, blanks."""
_CORE_PROPERTY = re.compile(r"<dc:(title|creator)>([^<]{1,500})</dc:\1>")
_PARSER_ERRORS = (
    *(zipfile.BadZipFile, zlib.error, struct.error, ExpatError),
    *(EOFError, OSError, LookupError, ValueError, TypeError, AttributeError, RuntimeError),
)
"""What zipfile, expat and mammoth raise on damaged files."""

logging.getLogger("mammoth").setLevel(logging.ERROR)


def is_docx(data: bytes) -> bool:
    """Whether it is a zip with Word's main part in it, or a broken one that names it."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            return _MAIN_PART in packed.namelist()
    except _PARSER_ERRORS:
        return _MAIN_PART.encode() in data


def extract_docx(data: bytes) -> Extraction:
    """The document's text. Outcome `unsupported` or `too_large`, with advice, when it cannot be read."""
    import mammoth  # imported here: few documents need it

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            if refusal := _find_refusal(packed):
                return refusal
            about = (
                packed.read("docProps/core.xml").decode("utf-8", "replace")
                if "docProps/core.xml" in packed.namelist()
                else ""
            )
        html = mammoth.convert_to_html(
            io.BytesIO(data), convert_image=mammoth.images.img_element(lambda _image: {"src": ""})
        ).value
    except _PARSER_ERRORS:
        return Extraction(outcome=Outcome.UNSUPPORTED, detail=_BROKEN)
    return _build_extraction(
        html, {name: unescape(value).strip() for name, value in _CORE_PROPERTY.findall(about)}
    )


def _find_refusal(packed: zipfile.ZipFile) -> Extraction | None:
    """Why the file is not opened; None when it is."""
    parts = packed.infolist()
    if any(part.flag_bits & 1 for part in parts):
        return Extraction(outcome=Outcome.UNSUPPORTED, detail=_LOCKED)
    if len(parts) > MAX_PARTS or len({part.filename for part in parts}) < len(parts):
        return Extraction(outcome=Outcome.UNSUPPORTED, detail=_HOSTILE)
    xml = [part for part in parts if _may_be_xml(packed, part)]
    if any(
        part.file_size > 1_000_000 and part.file_size > MAX_RATIO * max(1, part.compress_size) for part in xml
    ):
        return Extraction(outcome=Outcome.UNSUPPORTED, detail=_HOSTILE)
    if sum(part.file_size for part in xml) > MAX_XML:
        return Extraction(outcome=Outcome.TOO_LARGE, detail=_LARGE)
    tags = 0
    for part in xml:
        plain = packed.read(part).replace(b"\0", b"")
        if b"<!" in plain and (
            _ENTITIES if part.filename.startswith(_PICTURE_FOLDER) else _DECLARATIONS
        ).search(plain):
            return Extraction(outcome=Outcome.UNSUPPORTED, detail=_HOSTILE)
        tags += plain.count(b"<")
    return Extraction(outcome=Outcome.TOO_LARGE, detail=_LARGE) if tags > MAX_TAGS else None


def _may_be_xml(packed: zipfile.ZipFile, part: zipfile.ZipInfo) -> bool:
    """Whether an XML parser would get beyond the first characters; pictures and fonts begin otherwise."""
    with packed.open(part) as opened:
        begin = opened.read(_HEAD_BYTES).lstrip(_SKIPPED_LEADING_BYTES)
    return begin.startswith(b"<") or (not begin and part.file_size > 0)


def _build_extraction(html: str, about: dict[str, str]) -> Extraction:
    body = LexborHTMLParser(f"<html><body>{html}</body></html>").body
    blocks = TextBlocks(body) if body is not None else None
    if body is None or blocks is None or not blocks.text.strip():
        return Extraction(outcome=Outcome.UNSUPPORTED, detail=_EMPTY)
    first = next((heading.text for heading in blocks.headings if heading.level == 1), "")
    found = {
        address: inline_text(node)
        for node in body.css("a[href]")
        if (address := urls.resolve("", node.attributes.get("href") or ""))
    }
    return Extraction(
        title=about.get("title") or first,
        author=about.get("creator", ""),
        text=blocks.text,
        headings=blocks.headings,
        tables=blocks.tables,
        links=[Link(url=address, text=text) for address, text in found.items()],
    )
