"""The text layer of a PDF: headings, paragraphs, lists and code under a heading for every page. Scripts are
not run, pictures of text are not read."""

from __future__ import annotations

import re
import time
from itertools import islice
from statistics import median

import pypdfium2
import pypdfium2.raw

from agent.types import Outcome
from agent.types.web import BlockKind
from agent.web.extract.extraction import Extraction
from agent.web.extract.formats import pdf_furniture, pdf_layout
from agent.web.extract.formats.pdf_layout import Layout, Paragraph
from agent.web.extract.formats.pdf_lines import Line, normalize_characters, read_lines
from agent.web.extract.formats.writer import DocumentWriter
from agent.web.extract.page_dates import normalize_date

MAX_PAGES = 5_000
MAX_CHARACTERS = 20_000_000
MAX_BOOKMARKS = 20_000
PAGE_HEADING_LEVEL = 6
"""Deepest, so that a page break ends no section."""
_MAX_LEVEL = 5
_MIN_BOOKMARKED = 3
"""Headings that bookmarks name, from which on they are taken for complete."""
Outline = dict[str, list[tuple[int, int]]]
"""The titles of bookmarks (see `_outline_key`), each with the pages and levels it stands for."""
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
_HEADING_NUMBER = re.compile(r"^\W*(?:(?:\d+|[A-Z])\.?)(?:\d+\.?)*\s+")
_NO_TITLE = re.compile(
    r"untitled|microsoft \w+ - |.*\.(?:docx?|tex|dvi|indd|qxd|pdf|odt|rtf)$", re.IGNORECASE
)
"""What programs write as the title when nobody gave one."""


def extract_pdf(raw: bytes, *, seconds: float = 4.0) -> Extraction:
    """The document's text. Reads pages for at most `seconds` of CPU time. Outcome `unsupported` with advice
    when there is no text."""
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
    pages: list[list[Line]] = []
    characters, pictures, count = 0, 0, len(document)
    for index in range(min(count, MAX_PAGES)):
        if index and (time.process_time() - started > seconds or characters > MAX_CHARACTERS):
            break
        page = document[index]
        pages.append(read_lines(page, index + 1))
        characters += sum(len(line.text) for line in pages[-1])
        pictures += not pages[-1] and _has_picture(page)
        page.close()
    reading = _write_text(pages, _read_outline(document))
    if not reading.text:
        return Extraction(outcome=Outcome.UNSUPPORTED, detail=_SCANNED if pictures else _EMPTY)
    if len(pages) < count:
        reading.detail = (
            f"Only the first {len(pages)} of {count} pages were read (PARSER_TIMEOUT raises the limit)."
        )
    elif pictures:
        reading.detail = f"{pictures} of {count} pages are pictures without text and were not read."
    _fill_metadata(document, reading)
    return reading


def _has_picture(page: pypdfium2.PdfPage) -> bool:
    return any(page.get_objects(filter=[pypdfium2.raw.FPDF_PAGEOBJ_IMAGE], max_depth=2))


def _read_outline(document: pypdfium2.PdfDocument) -> Outline:
    """The pages and levels of the headings that the file's bookmarks name."""
    outline: Outline = {}
    for bookmark in islice(document.get_toc(max_depth=8), MAX_BOOKMARKS):
        target = bookmark.get_dest()
        index = target.get_index() if target is not None else None
        key = _outline_key(normalize_characters(bookmark.get_title()))
        outline.setdefault(key, []).append((0 if index is None else index + 1, bookmark.level + 1))
    return outline


def _find_level(paragraph: Paragraph, outline: Outline) -> int:
    """The level of the bookmark of this title that is nearest; 0 when there is none."""
    found = outline.get(_outline_key(paragraph.text), [])
    return min(found, key=lambda place: abs(place[0] - paragraph.page))[1] if found else 0


def _outline_key(title: str) -> str:
    """A title without its number, case and blanks, as bookmarks and headings have it in common."""
    return "".join(c for c in _HEADING_NUMBER.sub("", title).lower() if c.isalnum())


def _write_text(pages: list[list[Line]], outline: Outline) -> Extraction:
    kept = pdf_furniture.drop_contents(pdf_furniture.drop_running_heads(pages))
    layout = Layout([line for lines in kept for line in lines])
    paragraphs = pdf_layout.build_paragraphs(kept, layout)
    pdf_layout.mark_headings(paragraphs, layout)
    levels = _rank_levels(paragraphs, outline)
    writer = DocumentWriter()
    page = 0
    for n, paragraph in enumerate(paragraphs):
        if paragraph.page > page:
            page = paragraph.page
            writer.write_heading(f"Page {page}", PAGE_HEADING_LEVEL)
        if paragraph.kind == "heading":
            writer.write_heading(paragraph.text, levels[n])
        elif paragraph.kind == "table":
            writer.write_table(pdf_layout.join_cells(paragraph, layout))
        else:
            writer.write_block(paragraph.text, _BLOCK_KINDS.get(paragraph.kind, "paragraph"))
    return writer.finish()


def _rank_levels(paragraphs: list[Paragraph], outline: Outline) -> dict[int, int]:
    """The level of each heading (by its position in the list): as in the bookmarks, else by its size. Where
    there are bookmarks, a bold line in the size of the text that none of them names is no heading (but the
    head of a table, or "Note")."""
    known = {
        n: level
        for n, p in enumerate(paragraphs)
        if p.kind == "heading" and (level := _find_level(p, outline))
    }
    if len(known) >= _MIN_BOOKMARKED:
        for n, paragraph in enumerate(paragraphs):
            if paragraph.kind == "heading" and not paragraph.is_larger and n not in known:
                paragraph.kind = "paragraph"
    headings = [(n, p) for n, p in enumerate(paragraphs) if p.kind == "heading"]
    by_style: dict[tuple[float, bool], list[int]] = {}
    for n, level in known.items():
        by_style.setdefault(_heading_style(paragraphs[n]), []).append(level)
    styles = sorted({_heading_style(p) for _, p in headings}, reverse=True)
    usual = {
        style: round(median(by_style[style])) if style in by_style else rank
        for rank, style in enumerate(styles, start=1)
    }
    return {n: min(_MAX_LEVEL, known.get(n, usual[_heading_style(p)])) for n, p in headings}


def _heading_style(paragraph: Paragraph) -> tuple[float, bool]:
    return paragraph.lines[0].size, paragraph.lines[0].is_bold


def _fill_metadata(document: pypdfium2.PdfDocument, reading: Extraction) -> None:
    about = {
        key: " ".join(normalize_characters(document.get_metadata_value(key)).split())
        for key in ("Title", "Author", "CreationDate")
    }
    top = next((heading.text for heading in reading.headings if heading.level == 1), "")
    reading.title = top if _NO_TITLE.match(about["Title"]) else about["Title"] or top
    reading.author, created = about["Author"], about["CreationDate"]
    if created.startswith("D:"):
        reading.published_at = normalize_date(f"{created[2:6]}-{created[6:8]}-{created[8:10]}")
