"""The text layer of a PDF: headings, paragraphs, lists and code under a heading for every page. Scripts are
not run, pictures of text are not read."""

from __future__ import annotations

import ctypes
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, pairwise

import pypdfium2
import pypdfium2.raw as pdfium

from agent.text import urls
from agent.text.dates import normalize_date
from agent.types import Anchor, Outcome
from agent.web.extract.extraction import LOCKED, Extraction
from agent.web.extract.formats import pdf_layout
from agent.web.extract.formats.pdf_layout import LARGER, SECTION_NUMBER, Layout
from agent.web.extract.formats.pdf_lines import Line, normalize_characters, read_lines
from agent.web.extract.writer import DocumentWriter

# The link areas of a PDF: the words below each, found again in the extracted text.

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


# What pages of a PDF hold that is no part of its text: running heads, page numbers, contents.

_LEADER = re.compile(r"\s?(?:[.·…‥]\s?){3,}\s*([ivxlcdm]+|[IVXLCDM]+|\d{1,4})?\s*$")
"""Dots that lead to a page number, and the number."""
_LAST_NUMBER = re.compile(r"\s(\d{1,4})\s*$")
_NUMBER = re.compile(r"\d+|\b[ivxlcdm]+\b")
_BAND = 1.0
"""Points within which a running head keeps its height from page to page."""
_NEAR_PAGES = 4
"""A running head returns within so many pages: it may differ by chapter and by side of the sheet."""
_MIN_CONTENTS_LINES = 3


def drop_running_heads(pages: Sequence[Sequence[Line]], largest: float) -> list[list[Line]]:
    """The pages without their outermost lines where these are smaller than `largest` and at a height where
    most repeat the words of a page nearby; nothing is dropped where that would empty every fourth page."""
    kept = [list(lines) for lines in pages]
    for edge in (max, min):
        outer = [edge(lines, key=lambda line: line.y) if lines else None for lines in pages]
        heads = [line if line and line.size < largest and not line.rows else None for line in outer]
        heights: dict[int, list[bool]] = defaultdict(list)
        for number, head in enumerate(heads):
            near = heads[max(0, number - _NEAR_PAGES) : number] + heads[number + 1 :][:_NEAR_PAGES]
            if head:
                heights[round(head.y)].append(any(other and _is_alike(head, other) for other in near))
        running = {y for y, alike in heights.items() if sum(alike) >= max(2, 0.5 * len(alike))}
        left = [
            [line for line in lines if not (head and line.y == head.y and round(head.y) in running)]
            for lines, head in zip(kept, heads, strict=True)
        ]
        if 4 * sum(map(bool, left)) >= 3 * sum(map(bool, kept)):
            kept = left
    return kept


def _is_alike(line: Line, other: Line) -> bool:
    words, others = (set(_NUMBER.sub("", text.text.lower()).split()) for text in (line, other))
    is_counted = not words and not others  # nothing but page numbers
    shared = 2 * len(words & others) > min(len(words), len(others))
    return abs(line.y - other.y) <= _BAND and (is_counted or shared)


def drop_contents(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """The pages without tables of contents (and of figures): entries whose page numbers rise, set apart by
    leaders. Other leaders become a blank."""
    kept: list[list[Line]] = []
    goes_on = False
    for lines in pages:
        kept.append(_drop_entries(list(lines), 1 if goes_on else _MIN_CONTENTS_LINES))
        goes_on = bool(lines) and not kept[-1]
    return kept


def _drop_entries(lines: list[Line], least: int) -> list[Line]:
    """The lines of a page without the entries of a table of contents, if there are at `least` so many."""
    marks = {n: found for n, line in enumerate(lines) if (found := _LEADER.search(line.text))}
    entries = [(n, found[1]) for n, found in marks.items() if found[1]]
    # nearly all page numbers are followed by the same or a higher one; Roman ones count as zero
    values = [int(number) if number.isdigit() else 0 for _, number in entries]
    steps = [a <= b for a, b in pairwise(values)]
    if len(entries) >= least and sum(steps) >= 0.9 * len(steps):
        first, last = entries[0][0], entries[-1][0]
        while last + 1 < len(lines) and _LAST_NUMBER.search(lines[last + 1].text):
            last += 1
        return lines[last + 1 :] if first <= 8 else lines[:first] + lines[last + 1 :]
    for n, found in marks.items():
        text = f"{lines[n].text[: found.start()]} {found[1] or ''}".strip()
        lines[n] = replace(lines[n], text=text, is_row=True)  # its end is that of the dots
    return [line for line in lines if line.text]


PAGE_HEADING_LEVEL = 6
"""Deepest, so that a page break ends no section."""
_BROKEN = "The PDF is damaged and could not be read. Open it yourself, or look for another copy."
_NO_TITLE = re.compile(
    r"untitled|microsoft \w+ - |.*\.(?:docx?|tex|dvi|indd|qxd|pdf|odt|rtf)$", re.IGNORECASE
)
"""What programs write as the title when nobody gave one."""


def extract_pdf(raw: bytes, *, seconds: float) -> Extraction:
    """The document's text, read for at most `seconds` of CPU time. Outcome `unsupported` when it has none."""
    try:
        document = pypdfium2.PdfDocument(raw)
    except pypdfium2.PdfiumError as error:
        is_locked = error.err_code == pdfium.FPDF_ERR_PASSWORD
        return Extraction(outcome=Outcome.UNSUPPORTED, detail=LOCKED.format("PDF") if is_locked else _BROKEN)
    try:
        return _read_document(document, seconds)
    except pypdfium2.PdfiumError:
        return Extraction(outcome=Outcome.UNSUPPORTED, detail=_BROKEN)
    finally:
        document.close()


def _read_document(document: pypdfium2.PdfDocument, seconds: float) -> Extraction:
    started = time.process_time()
    pages, links = list[list[Line]](), list[PageLink]()
    pictures, count = 0, len(document)
    for index in range(count):
        if index and time.process_time() - started > seconds:
            break
        page = document[index]
        pages.append(read_lines(page, index + 1))
        links += read_links(document, page, index + 1)
        pictures += not pages[-1] and any(page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_IMAGE], max_depth=2))
        page.close()
    reading = _write_text(pages)
    if not reading.text:
        detail = "The PDF has no text. Open it yourself, or look for another copy."
        if pictures:
            advice = "Run text recognition (OCR) over it, or look for a version with text."
            detail = f"The PDF holds pictures of pages and no text. {advice}"
        return Extraction(outcome=Outcome.UNSUPPORTED, detail=detail)
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
    reading.anchors = place_links(links, reading)
    return reading


def _write_text(pages: list[list[Line]]) -> Extraction:
    largest = LARGER * Layout(chain.from_iterable(pages)).size
    kept = drop_contents(drop_running_heads(pages, largest))
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
            writer.write_heading(paragraph.text, min(PAGE_HEADING_LEVEL - 1, depth))
        elif paragraph.kind == "table":
            writer.write_table(pdf_layout.join_cells(paragraph, layout))
        else:
            writer.write_block(paragraph.text, "paragraph" if paragraph.kind == "note" else paragraph.kind)
    return writer.finish()
