"""An OpenDocument text (ODT): its headings, paragraphs, lists, tables, links and notes. Tracked deletions,
comments and the table of contents are left out."""

from __future__ import annotations

import zipfile

from lxml import etree

from agent.text import urls
from agent.text.dates import normalize_date
from agent.types import Link
from agent.web.extract.extraction import Extraction
from agent.web.extract.formats import archive
from agent.web.extract.formats.writer import DocumentWriter

KIND = archive.ArchiveKind("OpenDocument text")
MAX_REPEATED = 200
"""How often a cell or row that says it is repeated is written; beyond that it only fills the sheet."""
_SKIPPED = frozenset(
    "tracked-changes annotation annotation-end table-of-content sequence-decls forms".split()
)
_HREF = "{http://www.w3.org/1999/xlink}href"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"


def extract_odt(data: bytes) -> Extraction:
    """The document's text. Outcome `unsupported` or `too_large`, with advice, when it cannot be read."""
    return KIND.read(data, _read_document)


def _read_document(packed: zipfile.ZipFile) -> Extraction:
    content = archive.parse_xml(packed.read("content.xml"))
    reader = _OdtReader()
    for body in content.iter("{urn:oasis:names:tc:opendocument:xmlns:office:1.0}text"):
        reader.read(body)
    about = archive.parse_xml(packed.read("meta.xml")).iter() if "meta.xml" in packed.NameToInfo else ()
    reading = reader.finish({_local_name(n): " ".join((n.text or "").split()) for n in about if len(n) == 0})
    return reading if reading.text else KIND.refuse("empty")


def _local_name(node: etree._Element) -> str:
    return str(node.tag).rpartition("}")[2] if isinstance(node.tag, str) else ""


class _OdtReader:
    """Walks the body and writes what a reader sees."""

    def __init__(self) -> None:
        self._writer = DocumentWriter()
        self._notes: list[str] = []
        self._links: dict[str, str] = {}

    def read(self, parent: etree._Element, *, in_list: bool = False) -> None:
        """Write the children of an element."""
        for node in parent:
            name = _local_name(node)
            if name == "h":
                level = node.get(f"{_TEXT}outline-level", "1")
                self._writer.write_heading(self._inline(node), min(6, int(level)))
            elif name == "p":
                self._writer.write_block(self._inline(node), "item" if in_list else "paragraph")
            elif name == "table":
                self._writer.write_table(self._rows(node), caption="")
            elif name not in _SKIPPED and name:
                self.read(node, in_list=in_list or name == "list")

    def finish(self, about: dict[str, str]) -> Extraction:
        """The text, with the notes at its end."""
        for note in self._notes:
            self._writer.write_block(note, "item")
        self._writer.write_links([Link(url=url, text=text) for url, text in self._links.items()])
        reading = self._writer.finish(
            author=about.get("initial-creator") or about.get("creator", ""),
            published_at=normalize_date(about.get("date", "")[:10]),
            language=about.get("language", "")[:12],
        )
        first = next((heading.text for heading in reading.headings if heading.level == 1), "")
        reading.title = about.get("title") or first
        return reading

    def _inline(self, node: etree._Element) -> str:
        parts: list[str] = []
        self._collect(node, parts)
        lines = "".join(parts).split("\n")
        return "\n".join(filter(None, (" ".join(line.split()) for line in lines)))

    def _collect(self, node: etree._Element, parts: list[str]) -> None:
        parts.append(node.text or "")
        for child in node:
            name = _local_name(child)
            if name == "note":
                body = child.find(f"{_TEXT}note-body")
                if body is not None:
                    texts = [self._inline(paragraph) for paragraph in body]
                    self._notes.append(f"[{len(self._notes) + 1}] {' '.join(texts)}")
                    parts.append(f"[{len(self._notes)}]")
            elif name in ("s", "tab"):
                parts.append(" ")
            elif name == "line-break":
                parts.append("\n")
            elif name and name not in _SKIPPED:
                before = len(parts)
                self._collect(child, parts)
                if name == "a" and (address := urls.resolve("", child.get(_HREF) or "")):
                    self._links.setdefault(address, "".join(parts[before:]).strip())
                if name == "p":  # a text box inside a paragraph
                    parts.append(" ")
            parts.append(child.tail or "")

    def _rows(self, table: etree._Element) -> list[list[str]]:
        rows: list[list[str]] = []
        for row in table.iter(f"{_TABLE}table-row"):
            cells: list[str] = []
            for cell in row.iterchildren(f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
                text = " ".join(self._inline(child) for child in cell)
                times = int(cell.get(f"{_TABLE}number-columns-repeated", "1"))
                cells += [text] * (min(times, MAX_REPEATED) if text else 1)
            rows += [cells] * min(int(row.get(f"{_TABLE}number-rows-repeated", "1")), MAX_REPEATED)
        return rows
