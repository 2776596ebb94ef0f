"""The link areas of a PDF: the words below each, found again in the extracted text."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence

import pypdfium2
import pypdfium2.raw as pdfium

from agent.text import urls
from agent.types import Anchor
from agent.web.extract.extraction import Extraction
from agent.web.extract.formats.pdf_lines import normalize_characters

MAX_LINKS = 500
"""Link areas of one page."""
PageLink = tuple[int, str, str]
"""The number of its page, the words below it, its address."""


def read_links(document: pypdfium2.PdfDocument, page: pypdfium2.PdfPage, number: int) -> Iterator[PageLink]:
    """The links of a page to web addresses, in the order of the file."""
    place, link, area = ctypes.c_int(0), pdfium.FPDF_LINK(), pdfium.FS_RECTF()
    text = page.get_textpage()
    for _ in range(MAX_LINKS):
        if not pdfium.FPDFLink_Enumerate(page, place, link):
            break
        action = pdfium.FPDFLink_GetAction(link)
        length = pdfium.FPDFAction_GetURIPath(document, action, None, 0) if action else 0
        address = ctypes.create_string_buffer(length)
        pdfium.FPDFAction_GetURIPath(document, action, address, length)
        url = urls.resolve("", address.value.decode("utf-8", "replace"))
        if url and pdfium.FPDFLink_GetAnnotRect(link, area):
            words = text.get_text_bounded(area.left, area.bottom, area.right, area.top)
            yield number, " ".join(normalize_characters(words).split()), url
    text.close()


def place_links(links: Sequence[PageLink], reading: Extraction) -> list[Anchor]:
    """Where the words of these links stand in the text; what is not found is left out."""
    pages = {heading.text: heading.start for heading in reading.headings}
    anchors: list[Anchor] = []
    for number, words, url in links:
        first = pages.get(f"Page {number}", 0)
        after = max(first, anchors[-1].end) if anchors else first
        at = reading.text.find(words, after) if words else -1
        at = reading.text.find(words, first) if words and at < 0 else at
        if at >= 0:
            anchors.append(Anchor(at, at + len(words), url))
    return anchors
