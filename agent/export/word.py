"""Blocks as a Word document (DOCX). Plain text throughout.

It loads nothing from elsewhere; links are links to the web (http, https). Its dates are the run's own."""

from __future__ import annotations

from datetime import UTC, datetime
from io import BytesIO
from typing import Any

from agent.export.blocks import Block, Bullets, Chart, Heading, Inline, Paragraph, Span, Table
from agent.export.chart import draw_png
from agent.export.document import build_paper
from agent.export.escaping import clean_url, clean_xml, to_one_line
from agent.export.report import Report


def render_docx(report: Report) -> bytes:
    """The answer of a run as the bytes of a .docx file."""
    from docx import Document  # imported here: it takes a fifth of a second

    document = Document()
    properties = document.core_properties
    properties.title, properties.author = _clean_line(report.run.question)[:250], "Touchstone"
    properties.comments = ""
    try:
        at = datetime.fromisoformat(report.run.updated_at).astimezone(UTC).replace(tzinfo=None)
    except ValueError:
        at = datetime(1980, 1, 1)
    properties.created = properties.modified = at
    for block in build_paper(report):
        _write_block(document, block)
    out = BytesIO()
    document.save(out)
    return out.getvalue()


def _write_block(document: Any, block: Block) -> None:
    from docx.shared import Cm

    match block:
        case Heading(level, text, source):
            document.add_heading(
                f"[{source}] {_clean_line(text)}" if source else _clean_line(text), level - 1
            )
        case Paragraph(spans, style):
            _write_spans(document.add_paragraph(), spans, bold=style == "band")
        case Bullets(items, numbers):
            for n, (spans, sub_items) in enumerate(items):
                if numbers:  # written out: a number of Word's own is lost where the text is copied
                    _write_spans(document.add_paragraph(), [f"[{numbers[n]}] ", *spans])
                else:
                    _write_spans(document.add_paragraph(style="List Bullet"), spans)
                for line in sub_items:
                    look = "Quote" if numbers else "List Bullet 2"
                    document.add_paragraph(_clean_line(line), style=look)
        case Table(heads, rows, caption):
            if caption:
                document.add_paragraph(_clean_line(caption), style="Caption")
            table = document.add_table(rows=1, cols=len(heads), style="Light Grid Accent 1")
            for row in (heads, *rows):
                cells = table.rows[0].cells if row is heads else table.add_row().cells
                for cell, value in zip(cells, row, strict=True):
                    _write_spans(cell.paragraphs[0], [value] if isinstance(value, Span | str) else value)
        case Chart(caption, series):
            document.add_picture(BytesIO(draw_png(series)), width=Cm(15))
            document.add_paragraph(_clean_line(caption), style="Caption")


def _write_spans(paragraph: Any, spans: Inline, *, bold: bool = False) -> None:
    for span in spans:
        if isinstance(span, str):
            paragraph.add_run(_clean(span)).bold = bold or None
        elif span.url and clean_url(span.url):
            _write_link(paragraph, span)
        elif span.style == "cite":
            paragraph.add_run(f"[{span.text}]").font.superscript = True
        else:
            run = paragraph.add_run(_clean(span.text) + ":" * (span.style == "label"))
            run.bold, run.italic = span.style in ("strong", "label") or None, span.style == "emphasis" or None


def _write_link(paragraph: Any, span: Span) -> None:
    from docx.opc.constants import RELATIONSHIP_TYPE
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    link = OxmlElement("w:hyperlink")
    target = paragraph.part.relate_to(clean_url(span.url), RELATIONSHIP_TYPE.HYPERLINK, is_external=True)
    link.set(qn("r:id"), target)
    run = paragraph.add_run(_clean_line(span.text))
    run.font.underline = True
    link.append(run._r)
    paragraph._p.append(link)


def _clean_line(text: str) -> str:
    return clean_xml(to_one_line(text))


def _clean(text: str) -> str:
    """The text on one line, with one space kept at either end: spans follow each other."""
    line = _clean_line(text)
    return f"{' ' if text[:1].isspace() else ''}{line}{' ' if line and text[-1:].isspace() else ''}"
