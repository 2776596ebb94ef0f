"""The text layer of a PDF: headings, paragraphs, lists and code under a heading for every page. Scripts are
not run, pictures of text are not read."""

from __future__ import annotations

import re
import time
from collections import Counter
from itertools import chain

import pypdfium2
import pypdfium2.raw

from agent.types import Outcome
from agent.types.web import BlockKind
from agent.web.extract.extraction import Extraction
from agent.web.extract.formats import pdf_furniture, pdf_layout, pdf_links
from agent.web.extract.formats.pdf_layout import LARGER, SECTION_NUMBER, Layout
from agent.web.extract.formats.pdf_lines import Line, normalize_characters, read_lines
from agent.web.extract.formats.writer import DocumentWriter
from agent.web.extract.page_dates import normalize_date

MAX_PAGES = 5_000
MAX_CHARACTERS = 20_000_000
PAGE_HEADING_LEVEL = 6
"""Deepest, so that a page break ends no section."""
_MAX_LEVEL = 5
_ENCRYPTED = (
    "The PDF is locked with a password. Open it, save it without the password, and add that, or look "
    "for an unlocked copy."
)
_SCANNED = (
    "The PDF holds pictures of pages and no text. Run text recognition (OCR) over it, or look for a version "
    "with text."
)
_EMPTY = "The PDF has no text. Open it yourself, or look for another copy."
_BROKEN = "The PDF is damaged and could not be read. Open it yourself, or look for another copy."
_BLOCK_KINDS: dict[str, BlockKind] = {
    "item": "item",
    "code": "code",
    "term": "term",
    "definition": "definition",
}
_PICTURE = [pypdfium2.raw.FPDF_PAGEOBJ_IMAGE]
_NO_TITLE = re.compile(
    r"untitled|microsoft \w+ - |.*\.(?:docx?|tex|dvi|indd|qxd|pdf|odt|rtf)$", re.IGNORECASE
)
"""What programs write as the title when nobody gave one."""


def extract_pdf(raw: bytes, *, seconds: float = 4.0) -> Extraction:
    """The document's text, read for at most `seconds` of CPU time. Outcome `unsupported` when it has none."""
    try:
        document = pypdfium2.PdfDocument(raw)
    except pypdfium2.PdfiumError as error:
        is_locked = error.err_code == pypdfium2.raw.FPDF_ERR_PASSWORD
        return Extraction(outcome=Outcome.UNSUPPORTED, detail=_ENCRYPTED if is_locked else _BROKEN)
    try:
        return _read_document(document, seconds)
    except pypdfium2.PdfiumError:
        return Extraction(outcome=Outcome.UNSUPPORTED, detail=_BROKEN)
    finally:
        document.close()


def _read_document(document: pypdfium2.PdfDocument, seconds: float) -> Extraction:
    started = time.process_time()
    pages, links = list[list[Line]](), list[pdf_links.PageLink]()
    characters, pictures, count = 0, 0, len(document)
    for index in range(min(count, MAX_PAGES)):
        if index and (time.process_time() - started > seconds or characters > MAX_CHARACTERS):
            break
        page = document[index]
        pages.append(read_lines(page, index + 1))
        characters += sum(len(line.text) for line in pages[-1])
        links += pdf_links.read_links(document, page, index + 1)
        pictures += not pages[-1] and any(page.get_objects(filter=_PICTURE, max_depth=2))
        page.close()
    reading = _write_text(pages)
    if not reading.text:
        return Extraction(outcome=Outcome.UNSUPPORTED, detail=_SCANNED if pictures else _EMPTY)
    if len(pages) < count:
        reading.detail = (
            f"Only the first {len(pages)} of {count} pages were read (PARSER_TIMEOUT raises the limit)."
        )
    elif pictures:
        reading.detail = f"{pictures} of {count} pages are pictures without text and were not read."
    about = {
        key: " ".join(normalize_characters(document.get_metadata_value(key)).split())
        for key in ("Title", "Author", "CreationDate")
    }
    top = next((heading.text for heading in reading.headings if heading.level == 1), "")
    reading.title = top if _NO_TITLE.match(about["Title"]) else about["Title"] or top
    reading.author, created = about["Author"], about["CreationDate"]
    if created.startswith("D:"):
        reading.published_at = normalize_date(f"{created[2:6]}-{created[6:8]}-{created[8:10]}")
    reading.anchors = pdf_links.place_links(links, reading)
    return reading


def _write_text(pages: list[list[Line]]) -> Extraction:
    largest = LARGER * Layout(chain.from_iterable(pages)).size
    kept = pdf_furniture.drop_contents(pdf_furniture.drop_running_heads(pages, largest))
    layout = Layout(chain.from_iterable(kept))
    paragraphs = pdf_layout.build_paragraphs(kept, layout)
    pdf_layout.mark_headings(paragraphs, layout)
    # The level of unnumbered headings, by size; sizes used once or twice (a title page) are the next
    sizes = Counter(p.lines[0].size for p in paragraphs if p.kind == "heading")
    usual = [size for size, count in sizes.items() if count > 2] or list(sizes)
    levels = {size: 1 + sum(other > size for other in usual) for size in sizes}
    writer = DocumentWriter()
    page = 0
    for paragraph in paragraphs:
        if paragraph.page > page:
            page = paragraph.page
            writer.write_heading(f"Page {page}", PAGE_HEADING_LEVEL)
        if paragraph.kind == "heading":
            number = SECTION_NUMBER.match(paragraph.text)
            depth = len(re.findall(r"\d+", number[0])) if number else levels[paragraph.lines[0].size]
            writer.write_heading(paragraph.text, min(_MAX_LEVEL, depth))
        elif paragraph.kind == "table":
            writer.write_table(pdf_layout.join_cells(paragraph, layout))
        else:
            writer.write_block(paragraph.text, _BLOCK_KINDS.get(paragraph.kind, "paragraph"))
    return writer.finish()
