"""What is checked before a zip of XML (Office, OpenDocument, EPUB) is opened.

Its parts are counted and their sizes checked (a part never yields more than the size it declares), and a part
with a document type is refused where programs write none: entities are how XML explodes. Any part may be
declared the main document, so every part that could be XML is checked."""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from xml.parsers.expat import ExpatError

from lxml import etree

from agent.types import Outcome
from agent.web.extract.extraction import LOCKED, Extraction

MAX_PARTS = 5_000
MAX_XML = 16_000_000
"""Bytes of unpacked XML; a thousand pages of a manual have less."""
MAX_TAGS = 1_000_000
"""Tags in all its XML, opening and closing: each costs a parser time and a kilobyte."""
MAX_RATIO = 80
"""How many times larger than packed a part over a megabyte may be; Word's own XML stays below 50."""
PARSER_ERRORS = (
    *(zipfile.BadZipFile, zlib.error, struct.error, ExpatError, etree.LxmlError),
    *(EOFError, OSError, LookupError, ValueError, TypeError, AttributeError, RuntimeError),
)
"""What zipfile and the XML parsers raise on damaged files."""
_DECLARATIONS = re.compile(rb"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)
_ENTITIES = re.compile(rb"<!ENTITY", re.IGNORECASE)
_DRAWING = re.compile(r"word/media/|.*\.(?:x?html?|svg|ncx|opf)$", re.IGNORECASE)
"""Parts that may name their document type, as drawing programs and publishers do, but declare no entities."""
_HEAD_BYTES = 1_000
_SKIPPED_LEADING_BYTES = b"\xef\xbb\xbf\xfe\xff\0 \t\r\n"
"""What may come before the first tag: byte-order marks, half of a UTF-16 character, blanks."""


@dataclass(frozen=True)
class ArchiveKind:
    """A format of documents: what a person calls it, how much is read of one that is a zip of XML, and what
    its parser raises on damaged ones."""

    name: str
    max_xml: int = MAX_XML
    max_ratio: int = MAX_RATIO
    max_tags: int = MAX_TAGS
    errors: tuple[type[Exception], ...] = PARSER_ERRORS

    def refuse(self, reason: str) -> Extraction:
        """The outcome for one of the reasons broken, hostile, large, locked, empty."""
        outcome = Outcome.TOO_LARGE if reason == "large" else Outcome.UNSUPPORTED
        return Extraction(outcome=outcome, detail=_REASONS[reason].format(self.name))

    def reader(self, read: Callable[[zipfile.ZipFile, bytes], Extraction]) -> Callable[[bytes], Extraction]:
        """Decorates what reads a zip and its bytes: it then takes the bytes alone, and gives a refusal with
        advice (outcome `unsupported` or `too_large`) when they may not be read, or are damaged."""

        @wraps(read)
        def read_bytes(data: bytes) -> Extraction:
            try:
                with zipfile.ZipFile(io.BytesIO(data)) as packed:
                    return find_refusal(packed, self) or read(packed, data)
            except self.errors:
                return self.refuse("broken")

        return read_bytes


_REASONS = {
    "broken": "The {} is damaged and could not be read. Open it, save it again, or save it as PDF.",
    "hostile": "The {} is built in a way that no program writes one, so it was not opened. Save it again, or "
    "as PDF.",
    "large": "The {} unpacks to more text than is read here. Split it, or save the part you need as a "
    "document of its own.",
    "locked": LOCKED,
    "empty": "The {} holds no text (perhaps pictures only). Add a version with text.",
}


def find_refusal(packed: zipfile.ZipFile, kind: ArchiveKind) -> Extraction | None:
    """Why the file is not opened; None when it is."""
    parts = packed.infolist()
    if any(part.flag_bits & 1 for part in parts) or _is_protected(packed):
        return kind.refuse("locked")
    if len(parts) > MAX_PARTS or len({part.filename for part in parts}) < len(parts):
        return kind.refuse("hostile")
    xml = []
    for part in parts:  # an XML parser gets no further than the first characters of pictures and fonts
        with packed.open(part) as opened:
            begin = opened.read(_HEAD_BYTES).lstrip(_SKIPPED_LEADING_BYTES)
        if begin.startswith(b"<") or (not begin and part.file_size > 0):
            xml.append(part)
    if any(
        part.file_size > 1_000_000 and part.file_size > kind.max_ratio * max(1, part.compress_size)
        for part in xml
    ):
        return kind.refuse("hostile")
    if sum(part.file_size for part in xml) > kind.max_xml:
        return kind.refuse("large")
    tags = 0
    for part in xml:
        plain = packed.read(part).replace(b"\0", b"")
        declared = _ENTITIES if _DRAWING.match(part.filename) else _DECLARATIONS
        if b"<!" in plain and declared.search(plain):
            return kind.refuse("hostile")
        tags += plain.count(b"<")
    return kind.refuse("large") if tags > kind.max_tags else None


def parse_xml(data: bytes) -> etree._Element:
    """The root of an XML part: no entities, no network, no document type of its own."""
    return etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False))


def _is_protected(packed: zipfile.ZipFile) -> bool:
    """Whether an OpenDocument file or an EPUB says that its text is encrypted (fonts often are)."""
    names = set(packed.namelist())
    for name in {"META-INF/manifest.xml", "META-INF/encryption.xml"} & names:
        if packed.getinfo(name).file_size > MAX_XML:
            return True
        stated = packed.read(name)
        if name.endswith("manifest.xml") and b"encryption-data" in stated:
            return True
        if re.search(rb"URI=[\"'][^\"']{1,500}\.x?html?[\"']", stated, re.IGNORECASE):
            return True
    return False
