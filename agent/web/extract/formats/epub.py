"""A book (EPUB): its chapters in reading order, each read as an HTML page."""

from __future__ import annotations

import posixpath
import zipfile
from urllib.parse import unquote

from agent.text.dates import normalize_date
from agent.types import Outcome
from agent.web.extract import encoding, html_page
from agent.web.extract.extraction import Extraction
from agent.web.extract.formats import archive
from agent.web.extract.writer import DocumentWriter

KIND = archive.ArchiveKind("book (EPUB)", max_xml=64_000_000, max_tags=4_000_000)


@KIND.reader
def extract_epub(packed: zipfile.ZipFile, _data: bytes) -> Extraction:
    """The book's text."""
    container = archive.parse_xml(packed.read("META-INF/container.xml"))
    place = str(container.xpath("//*[local-name()='rootfile']/@full-path")[0])
    package = archive.parse_xml(packed.read(place))

    def find_text(name: str) -> str:
        found = package.xpath(f"//*[local-name()='metadata']/*[local-name()='{name}']/text()")
        return " ".join(str(found[0]).split()) if found else ""

    title = find_text("title")
    writer = DocumentWriter()
    # The parts of the spine in order, without the book's own navigation
    folder = posixpath.dirname(place)
    items = {str(item.get("id")): item for item in package.xpath("//*[local-name()='manifest']/*")}
    spine = (items.get(str(ref.get("idref"))) for ref in package.xpath("//*[local-name()='spine']/*"))
    for chapter in [
        posixpath.normpath(posixpath.join(folder, unquote(str(item.get("href", "")))))
        for item in spine
        if item is not None
        and item.get("media-type") in ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")
        and "nav" not in str(item.get("properties", "")).split()
    ]:
        if chapter in packed.NameToInfo:
            markup = encoding.decode(packed.read(chapter), "application/xhtml+xml")
            reading = html_page.extract_html(markup, "")
            if reading.outcome is Outcome.EMPTY:
                continue
            if not reading.headings and reading.title not in ("", title):
                writer.write_heading(reading.title, 1)
            writer.write_reading(reading)
    if not writer.length:
        return KIND.refuse("empty")
    return writer.finish(
        title=title,
        author=find_text("creator"),
        published_at=normalize_date(find_text("date")),
        language=find_text("language"),
    )
