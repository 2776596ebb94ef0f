"""Documents of word processors: Word (DOCX), OpenDocument (ODT) and Rich Text Format. A zip is read as the
page that it would be: headings, lists, tables, links and notes; pictures are left out, and of an OpenDocument
text tracked deletions, comments and the table of contents."""

from __future__ import annotations

import io
import logging
import re
import zipfile
from html import unescape

import mammoth
from lxml import etree
from striprtf.striprtf import rtf_to_text as convert_rtf

from agent.text.dates import normalize_date
from agent.web.extract.extraction import MAX_COLUMNS, Extraction
from agent.web.extract.formats import archive
from agent.web.extract.text_blocks import extract_fragment
from agent.web.extract.writer import DocumentWriter

WORD = archive.ArchiveKind("Word document")
OPEN_TEXT = archive.ArchiveKind("OpenDocument text")
RICH_TEXT = archive.ArchiveKind("RTF document")
_CORE_PROPERTY = re.compile(r"<dc:(title|creator)>([^<]{1,500})</dc:\1>")
_SKIPPED = frozenset(
    "tracked-changes annotation annotation-end table-of-content sequence-decls forms".split()
)
_TAGS = dict(
    zip(
        "p a list list-item line-break table table-row table-cell covered-table-cell".split(),
        "p a ul li br table tr td td".split(),
        strict=True,
    )
)
"""The elements of HTML for those of a text, by their local names; others are passed through."""
_STATED = re.compile(rb"\{\\(title|author)\s([^{}]{1,500})\}")

logging.getLogger("mammoth").setLevel(logging.ERROR)


@WORD.reader
def extract_docx(packed: zipfile.ZipFile, data: bytes) -> Extraction:
    """The document's text."""
    about = packed.read("docProps/core.xml") if "docProps/core.xml" in packed.namelist() else b""
    no_picture = mammoth.images.img_element(lambda _image: {"src": ""})
    styles = "p[style-name='Title'] => h1:fresh\np[style-name='Caption'] => figcaption:fresh"
    made = mammoth.convert_to_html(io.BytesIO(data), convert_image=no_picture, style_map=styles)
    reading = extract_fragment(made.value)
    if not reading.text:
        return WORD.refuse("empty")
    stated = _CORE_PROPERTY.findall(about.decode("utf-8", "replace"))
    names = {name: unescape(value).strip() for name, value in stated}
    first = next((heading.text for heading in reading.headings if heading.level == 1), "")
    reading.title, reading.author = names.get("title") or first, names.get("creator", "")
    return reading


@OPEN_TEXT.reader
def extract_odt(packed: zipfile.ZipFile, _data: bytes) -> Extraction:
    """The document's text."""
    notes: list[etree._Element] = []
    html = etree.Element("body")
    for body in archive.parse_xml(packed.read("content.xml")).iter("{*}text"):
        _write_children(body, html, notes)
    for note in notes:
        html.append(note)
    reading = extract_fragment(etree.tostring(html, encoding="unicode", method="html"))
    if not reading.text:
        return OPEN_TEXT.refuse("empty")
    about = archive.parse_xml(packed.read("meta.xml")).iter("{*}*") if "meta.xml" in packed.NameToInfo else ()
    stated = {etree.QName(node).localname: " ".join((node.text or "").split()) for node in about}
    reading.author = stated.get("initial-creator") or stated.get("creator", "")
    reading.published_at = normalize_date(stated.get("date", "")[:10])
    reading.language = stated.get("language", "")
    first = next((heading.text for heading in reading.headings if heading.level == 1), "")
    reading.title = stated.get("title") or first
    return reading


def _write_children(parent: etree._Element, html: etree._Element, notes: list[etree._Element]) -> None:
    """Write an element's text and children into one of HTML."""
    _write_text(html, parent.text)
    for node in parent.iterchildren("{*}*"):
        name = etree.QName(node).localname
        named = {etree.QName(key).localname: str(value) for key, value in node.items()}
        if name == "note":
            notes.append(etree.Element("li"))
            _write_text(html, f"[{len(notes)}]")
            _write_text(notes[-1], f"[{len(notes)}] ")
            for body in node.iterchildren("{*}note-body"):
                _write_children(body, notes[-1], notes)
        elif name in ("s", "tab"):
            _write_text(html, " ")
        elif name == "p" and html.tag == "li":  # the item itself is the paragraph
            _write_text(html, " ")
            _write_children(node, html, notes)
        elif name == "h" or name in _TAGS:
            tag = f"h{min(6, int(named.get('outline-level', 1)))}" if name == "h" else _TAGS[name]
            times = int(named.get("number-columns-repeated") or named.get("number-rows-repeated") or 1)
            has_text = times > 1 and "".join(node.itertext()).strip()  # an empty one fills the sheet
            for _ in range(min(times, MAX_COLUMNS) if has_text else 1):
                _write_children(node, etree.SubElement(html, tag, href=named.get("href", "")), notes)
        elif name not in _SKIPPED:
            _write_children(node, html, notes)
        _write_text(html, node.tail)


def _write_text(html: etree._Element, text: str | None) -> None:
    """Add text behind what an element holds."""
    if text and len(html):
        html[-1].tail = (html[-1].tail or "") + text
    elif text:
        html.text = (html.text or "") + text


def _convert(rtf: str) -> str:
    return str(convert_rtf(rtf, errors="replace"))  # type: ignore[no-untyped-call]


def extract_rtf(data: bytes) -> Extraction:
    """The document's text. Outcome `unsupported`, with advice, when it cannot be read."""
    try:
        text = _convert(data.decode("latin-1"))
        about = {
            name.decode(): " ".join(_convert("{\\rtf1 " + value.decode("latin-1") + "}").split())
            for name, value in _STATED.findall(data[:20_000])
        }
    except (ValueError, LookupError, TypeError, RuntimeError):
        return RICH_TEXT.refuse("broken")
    writer = DocumentWriter()
    rows: list[list[str]] = []
    for line in [*text.replace("\x00", "").replace("\r", "\n").split("\n"), ""]:
        if line.rstrip().endswith("|"):  # the library ends each cell so
            rows.append(line.rstrip().removesuffix("|").split("|"))
            continue
        writer.write_table(rows)
        rows = []
        writer.write_block(" ".join(line.split()))
    if not writer.length:
        return RICH_TEXT.refuse("empty")
    return writer.finish(title=about.get("title", ""), author=about.get("author", ""))
