"""Small documents of each format, made on the spot."""

from __future__ import annotations

import io
import zipfile
from html import escape

import docx as word
import xlsxwriter
from fpdf import FPDF
from pptx import Presentation
from pptx.util import Inches

WORDS = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
ODF = "urn:oasis:names:tc:opendocument:xmlns"


def zip_parts(named: dict[str, bytes | str]) -> bytes:
    """A zip of these parts; `mimetype` is stored as it is, as EPUB and OpenDocument want it."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        for name, data in named.items():
            packed = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            target.writestr(name, data, packed)
    return out.getvalue()


def make_docx() -> bytes:
    """A manual of a vat with headings, a list and a table."""
    made = word.Document()
    made.core_properties.title, made.core_properties.author = "Vat & cellar", "A. Wren"
    made.add_heading("Cheese cellar", 1)
    made.add_paragraph("The vat holds 400 litres of milk.")
    made.add_heading("Cleaning", 2)
    made.add_paragraph("Rinse with hot water.", style="List Bullet")
    table = made.add_table(2, 2)
    for n, text in enumerate(("name", "litres", "vat", "400")):
        table.cell(n // 2, n % 2).text = text
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def make_pdf(*pages: str) -> bytes:
    """A PDF with a page of plain text for each."""
    paper = FPDF()
    paper.set_font("Helvetica")
    for text in pages:
        paper.add_page()
        paper.multi_cell(0, text=text)
    return bytes(paper.output())


def make_epub(chapters: dict[str, str], **more: bytes | str) -> bytes:
    """A book of these chapters (file name → XHTML body), in this order; the zip holds them in another."""
    items = "".join(
        f'<item id="i{n}" href="text/{name}" media-type="application/xhtml+xml"/>'
        for n, name in enumerate(chapters)
    )
    spine = "".join(f'<itemref idref="i{n}"/>' for n in range(len(chapters)))
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>The tide book</dc:title>'
        "<dc:creator>Tove Lind</dc:creator><dc:language>en</dc:language><dc:date>2019-04-02</dc:date></metadata>"
        '<manifest><item id="nav" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>'
        f'{items}</manifest><spine><itemref idref="nav"/>{spine}</spine></package>'
    )
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
    )
    doctype = '<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml">'
    bodies = {f"OEBPS/text/{name}": f"{doctype}{body}</html>" for name, body in reversed(chapters.items())}
    return zip_parts(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": container,
            "OEBPS/book.opf": package,
            "OEBPS/nav.xhtml": f"{doctype}<nav><ol><li>Contents</li></ol></nav></html>",
            **bodies,
            **more,
        }
    )


def make_odt(body: str, **more: bytes | str) -> bytes:
    """An OpenDocument text with this body."""
    spaces = " ".join(
        f'xmlns:{name}="{ODF}:{name}:1.0"' for name in ("office", "text", "table", "meta", "style")
    )
    content = f'<office:document-content {spaces} xmlns:xlink="http://www.w3.org/1999/xlink"><office:body><office:text>{body}</office:text></office:body></office:document-content>'
    meta = f'<office:document-meta {spaces} xmlns:dc="http://purl.org/dc/elements/1.1/"><office:meta><dc:title>Harbour rules</dc:title><meta:initial-creator>Ada Lehm</meta:initial-creator><dc:date>2021-05-06T10:00:00</dc:date></office:meta></office:document-meta>'
    return zip_parts(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "content.xml": content,
            "meta.xml": meta,
            **more,
        }
    )


def make_ods(sheets: dict[str, list[list[str]]]) -> bytes:
    """An OpenDocument spreadsheet of texts."""
    spaces = " ".join(f'xmlns:{name}="{ODF}:{name}:1.0"' for name in ("office", "text", "table"))
    cell = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
    tables = "".join(
        f'<table:table table:name="{escape(name)}">'
        + "".join(
            f"<table:table-row>{''.join(cell.format(escape(text)) for text in row)}</table:table-row>"
            for row in rows
        )
        + "</table:table>"
        for name, rows in sheets.items()
    )
    return zip_parts(
        {
            "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
            "META-INF/manifest.xml": "<manifest/>",
            "content.xml": f"<office:document-content {spaces}><office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body></office:document-content>",
        }
    )


def make_xlsx(sheets: dict[str, list[list[str | float]]], hidden: str = "") -> bytes:
    """An Excel workbook."""
    out = io.BytesIO()
    with xlsxwriter.Workbook(out) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for n, row in enumerate(rows):
                sheet.write_row(n, 0, row)
            if name == hidden:
                sheet.hide()
    return out.getvalue()


def make_pptx() -> bytes:
    """Two slides: a title with two points and a note; a table under no title."""
    made = Presentation()
    made.core_properties.title, made.core_properties.author = "Spring tides", "Ada Lehm"
    slide = made.slides.add_slide(made.slide_layouts[1])
    slide.shapes.title.text = "Moorings"
    slide.placeholders[1].text_frame.text = "North pier: boats over twelve metres"
    slide.placeholders[1].text_frame.add_paragraph().text = "South pier: all others"
    slide.notes_slide.notes_text_frame.text = "Say that the south pier floods."
    second = made.slides.add_slide(made.slide_layouts[6])
    table = second.shapes.add_table(2, 2, Inches(1), Inches(1), Inches(4), Inches(1)).table
    for n, text in enumerate(("pier", "depth", "north", "4 m")):
        table.cell(n // 2, n % 2).text = text
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


RTF = (
    rb"{\rtf1\ansi{\info{\title The kiln book}{\author Ada Lehm}}\fs24 Fire the kiln to 1,040 degrees."
    rb"\par It cools for two days.\par\trowd\cellx100\cellx200 glaze\cell hours\cell\row"
    rb"\trowd\cellx100\cellx200 celadon\cell 9\cell\row\pard Caf\'e9 opens at nine.\par}"
)
