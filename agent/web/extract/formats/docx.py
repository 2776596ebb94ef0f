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
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            if refusal := archive.find_refusal(packed, KIND):
                return refusal
            about = (
                packed.read("docProps/core.xml").decode("utf-8", "replace")
                if "docProps/core.xml" in packed.namelist()
                else ""
            )
        html = mammoth.convert_to_html(
            io.BytesIO(data), convert_image=mammoth.images.img_element(lambda _image: {"src": ""})
        ).value
    except archive.PARSER_ERRORS:
        return KIND.refuse("broken")
    reading = extract_fragment(html)
    if not reading.text:
        return KIND.refuse("empty")
    stated = {name: unescape(value).strip() for name, value in _CORE_PROPERTY.findall(about)}
    first = next((heading.text for heading in reading.headings if heading.level == 1), "")
    reading.title, reading.author = stated.get("title") or first, stated.get("creator", "")
    return reading
