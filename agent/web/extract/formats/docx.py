"""A Word document (DOCX): its headings, lists, tables, links and notes. Pictures are left out."""

from __future__ import annotations

import io
import logging
import re
import zipfile
from html import unescape

import mammoth

from agent.web.extract.extraction import Extraction
from agent.web.extract.formats import archive
from agent.web.extract.text_blocks import extract_fragment

KIND = archive.ArchiveKind("Word document")
_CORE_PROPERTY = re.compile(r"<dc:(title|creator)>([^<]{1,500})</dc:\1>")

logging.getLogger("mammoth").setLevel(logging.ERROR)


def extract_docx(data: bytes) -> Extraction:
    """The document's text. Outcome `unsupported` or `too_large`, with advice, when it cannot be read."""
    return KIND.read(data, lambda packed: _read_document(packed, data))


def _read_document(packed: zipfile.ZipFile, data: bytes) -> Extraction:
    about = packed.read("docProps/core.xml") if "docProps/core.xml" in packed.namelist() else b""
    no_picture = mammoth.images.img_element(lambda _image: {"src": ""})
    reading = extract_fragment(mammoth.convert_to_html(io.BytesIO(data), convert_image=no_picture).value)
    if not reading.text:
        return KIND.refuse("empty")
    stated = _CORE_PROPERTY.findall(about.decode("utf-8", "replace"))
    names = {name: unescape(value).strip() for name, value in stated}
    first = next((heading.text for heading in reading.headings if heading.level == 1), "")
    reading.title, reading.author = names.get("title") or first, names.get("creator", "")
    return reading
