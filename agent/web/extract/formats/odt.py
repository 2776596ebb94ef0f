"""An OpenDocument text (ODT), read as the page that it would be. Tracked deletions, comments and the table of
contents are left out; notes stand at the end."""

from __future__ import annotations

import zipfile

from lxml import etree

from agent.text.dates import normalize_date
from agent.web.extract.extraction import MAX_COLUMNS, Extraction
from agent.web.extract.formats import archive
from agent.web.extract.text_blocks import extract_fragment

KIND = archive.ArchiveKind("OpenDocument text")
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


def extract_odt(data: bytes) -> Extraction:
    """The document's text. Outcome `unsupported` or `too_large`, with advice, when it cannot be read."""
    return KIND.read(data, _read_document)


def _read_document(packed: zipfile.ZipFile) -> Extraction:
    notes: list[etree._Element] = []
    html = etree.Element("body")
    for body in archive.parse_xml(packed.read("content.xml")).iter("{*}text"):
        _write_children(body, html, notes)
    for note in notes:
        html.append(note)
    reading = extract_fragment(etree.tostring(html, encoding="unicode", method="html"))
    if not reading.text:
        return KIND.refuse("empty")
    about = archive.parse_xml(packed.read("meta.xml")).iter("{*}*") if "meta.xml" in packed.NameToInfo else ()
    stated = {etree.QName(node).localname: " ".join((node.text or "").split()) for node in about}
    reading.author = stated.get("initial-creator") or stated.get("creator", "")
    reading.published_at = normalize_date(stated.get("date", "")[:10])
    reading.language = stated.get("language", "")[:12]
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
            for _ in range(_count_repeats(node, named)):
                _write_children(node, etree.SubElement(html, tag, href=named.get("href", "")), notes)
        elif name not in _SKIPPED:
            _write_children(node, html, notes)
        _write_text(html, node.tail)


def _count_repeats(node: etree._Element, named: dict[str, str]) -> int:
    """How often a cell or row with text is written; an empty one that says it is repeated fills the sheet."""
    times = int(named.get("number-columns-repeated") or named.get("number-rows-repeated") or 1)
    return min(times, MAX_COLUMNS) if times > 1 and "".join(node.itertext()).strip() else 1


def _write_text(html: etree._Element, text: str | None) -> None:
    """Add text behind what an element holds."""
    if text and len(html):
        html[-1].tail = (html[-1].tail or "") + text
    elif text:
        html.text = (html.text or "") + text
