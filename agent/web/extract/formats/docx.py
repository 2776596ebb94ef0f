"""A Word document (DOCX): its headings, lists, tables, links and notes. Pictures are left out."""

from __future__ import annotations

import io
import logging
import re
import zipfile
from html import unescape

import mammoth
from selectolax.lexbor import LexborHTMLParser

from agent.text import urls
from agent.types import Link
from agent.web.extract.extraction import Extraction
from agent.web.extract.formats import archive
from agent.web.extract.text_blocks import TextBlocks, inline_text

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
    return _build_extraction(
        html, {name: unescape(value).strip() for name, value in _CORE_PROPERTY.findall(about)}
    )


def _build_extraction(html: str, about: dict[str, str]) -> Extraction:
    body = LexborHTMLParser(f"<html><body>{html}</body></html>").body
    blocks = TextBlocks(body) if body is not None else None
    if body is None or blocks is None or not blocks.text.strip():
        return KIND.refuse("empty")
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
        blocks=blocks.blocks,
        links=[Link(url=address, text=text) for address, text in found.items()],
    )
