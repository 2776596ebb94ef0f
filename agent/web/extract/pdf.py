"""The text layer of a PDF, with a heading for every page. Scripts are not run, pictures of text are not
read."""

from __future__ import annotations

import io
import logging
import time
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from agent.types import Heading, Outcome
from agent.web.extract.extraction import Extraction
from agent.web.extract.page_dates import normalize_date

if TYPE_CHECKING:
    from pypdf import PdfReader

MAX_PAGES = 500
MAX_SECONDS = 20.0
"""CPU seconds after which no further page is read."""
SHORT_LINE = 30
"""A shorter line is a heading, a cell or the end of a paragraph, and not continued."""
MIN_FILL_BEFORE_LOWERCASE, MIN_FILL_BEFORE_ANY = 0.6, 0.85
"""The share of the widest line that a line fills which continues in lower case; in any case."""
_ENCRYPTED = "The PDF is locked with a password. Open it yourself and look for an unlocked copy."
_SCANNED = "The PDF holds pictures of pages and no text. Look for a version with text, or read it yourself."
_BROKEN = "The PDF is damaged and could not be read. Open it yourself, or look for another copy."

_PARSER_ERRORS = (
    LookupError,
    ArithmeticError,
    ValueError,
    TypeError,
    AttributeError,
    RecursionError,
    NotImplementedError,
)
"""What pypdf lets through on damaged files beside its own errors; which of them depends on where the damage
lies."""

logging.getLogger("pypdf").setLevel(logging.ERROR)


def extract_pdf(raw: bytes) -> Extraction:
    """The document's text, each page under a heading "Page n". Outcome `unsupported` with advice when there
    is none."""
    from pypdf import PdfReader  # imported here: it takes a tenth of a second
    from pypdf.errors import PyPdfError

    try:
        document = PdfReader(io.BytesIO(raw))
        if document.is_encrypted and not document.decrypt(""):
            return Extraction(outcome=Outcome.UNSUPPORTED, detail=_ENCRYPTED)
        reading = _read_pages(document)
        _fill_metadata(document, reading)
    except (PyPdfError, *_PARSER_ERRORS):
        return Extraction(outcome=Outcome.UNSUPPORTED, detail=_BROKEN)
    return reading


def _read_pages(document: PdfReader) -> Extraction:
    reading = Extraction()
    parts: list[str] = []
    length = 0
    started = time.thread_time()
    for number, page in enumerate(document.pages, start=1):
        if number > MAX_PAGES or time.thread_time() - started > MAX_SECONDS:
            reading.detail = f"Only the first {number - 1} of {len(document.pages)} pages were read."
            break
        text = join_wrapped_lines(
            [line.rstrip() for line in page.extract_text().replace("\x00", "").splitlines()]
        ).strip()
        if text:
            title = f"Page {number}"
            reading.headings.append(Heading(start=length, level=2, text=title))
            parts.append(f"{title}\n\n{text}\n\n")
            length += len(parts[-1])
    reading.text = "".join(parts).rstrip()
    if not reading.text:
        reading.outcome, reading.detail = Outcome.UNSUPPORTED, _SCANNED
    return reading


def join_wrapped_lines(lines: Sequence[str]) -> str:
    """A page's lines, joined where only the page's width broke them, so that a sentence stays one.

    A line continues in the next when it is nearly as long as the longest, does not end like a sentence or a
    row of figures, and letters follow; a shorter one when lower case follows. A hyphenated word is joined
    again."""
    widest = max(map(len, lines), default=0)
    text = ""
    for before, line in pairwise(["", *lines]):
        parted = before.endswith("-") and before[-2:-1].islower() and line[:1].islower()
        if before and line and _continues_on_next_line(before, line, len(before) / widest):
            text = f"{text[:-1]}{line.lstrip()}" if parted else f"{text} {line.lstrip()}"
        else:
            text += f"\n{line}"
    return text.removeprefix("\n")


def _continues_on_next_line(before: str, line: str, filled: float) -> bool:
    last, first = before[-1], line.lstrip()[:1]
    if last in ".:;!?|" or first.lower() == first.upper() or len(before) < SHORT_LINE:
        return False
    return filled >= (MIN_FILL_BEFORE_LOWERCASE if first.islower() else MIN_FILL_BEFORE_ANY) and (
        first.islower() or last.isalpha() or last in ",-"
    )


def _fill_metadata(document: PdfReader, reading: Extraction) -> None:
    about = document.metadata
    if about is None:
        return
    reading.title = str(about.title or "").strip()
    reading.author = str(about.author or "").strip()
    created = str(about.get("/CreationDate", ""))
    reading.published_at = (
        normalize_date(f"{created[2:6]}-{created[6:8]}-{created[8:10]}") if created.startswith("D:") else ""
    )
