"""A text as sentences: what each cites, in every way of citing that is understood, and what is no claim.

`citations.jsonl` holds a text a line: what it `shows`, the `text` (in a `file` of another kind than Markdown),
and its `sentences`: kind, words, and the addresses it cites or why an address is missing."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from docx import Document
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from fpdf import FPDF

from agent.flows.check_text.split_text import split_text
from agent.types import TextSentence
from agent.web.extract import documents

ROWS = [
    json.loads(row) for row in Path(__file__).with_name("citations.jsonl").read_text("utf-8").splitlines()
]
A = "https://a.example/one"


def split(data: bytes, name: str, url: str = "") -> list[TextSentence]:
    page = documents.read_document(name, data, url=url)
    return split_text(page, documents.find_anchors(page))


def cited(data: bytes, name: str) -> dict[str, list[str]]:
    """The claims with the addresses each cites."""
    return {one.text: [c.url for c in one.citations] for one in split(data, name) if one.kind == "claim"}


@pytest.mark.parametrize("row", ROWS, ids=[row["shows"] for row in ROWS])
def test_each_sentence_has_its_kind_and_what_it_cites(row: dict[str, Any]) -> None:
    name, data = row.get("file", "text.md"), row["text"].encode()
    found = split(data, name)
    told = [[one.kind, one.text, *(c.url or c.trouble for c in one.citations)] for one in found]
    assert told == row["sentences"]
    stored = documents.read_document(name, data).text
    assert all(stored[one.start : one.end].strip() for one in found), "each has its place in the stored text"


@pytest.mark.parametrize(("notes", "cites"), [(True, [A]), (False, ["https://wiki.example/red", A])])
def test_where_a_page_has_notes_its_links_to_itself_are_cross_references(
    notes: bool, cites: list[str]
) -> None:
    note = '<sup><a href="#n1">[1]</a></sup>' if notes else f' (<a href="{A}">Berg</a>)'
    html = (
        "<html><head><title>The mill</title></head><body><main><h1>The mill</h1><p>The mill by the river is painted "
        f'<a href="/red">red</a> since the end of the war, as everybody in the valley knows.{note} Who painted it is '
        'another question, which the books leave open.[<a href="/needed">citation needed</a>]</p>'
        f'<ol><li id="n1">Berg, <a href="{A}">Mills</a></li></ol></main></body></html>'
    )
    found = split(html.encode(), "mill.html", "https://wiki.example/mill")
    first, second = (one for one in found if one.kind == "claim")
    assert [c.url for c in first.citations] == cites
    assert second.text == "Who painted it is another question, which the books leave open."


def test_link_areas_of_a_pdf() -> None:
    pdf = FPDF()
    pdf.set_font("Helvetica", size=12)
    for said, link in (("The mill opened in 1902", A), ("The mill is painted red", "mailto:a@b.example")):
        pdf.add_page()
        pdf.write(8, f"{said} (")
        pdf.write(8, "its history", link)
        pdf.write(8, "). Nobody lives there now.")
    found = cited(bytes(pdf.output()), "mill.pdf")
    assert found["The mill opened in 1902."] == [A]
    assert found["The mill is painted red (its history)."] == []


def test_links_and_headings_with_numbers_of_a_word_document() -> None:
    document = Document()
    paragraph = document.add_paragraph("The mill opened in 1902 ")
    link = OxmlElement("w:hyperlink")
    link.set(qn("r:id"), document.part.relate_to(A, RELATIONSHIP_TYPE.HYPERLINK, is_external=True))
    link.append(paragraph.add_run("(its history)")._r)
    paragraph._p.append(link)
    paragraph.add_run(".")
    document.add_paragraph("It is red. [1]")
    document.add_heading("References", 1)
    document.add_heading("[1] Its history", 2)
    for line in ("Berg, mills.example, 1990.", A, "The mill was opened in 1902."):
        document.add_paragraph(line)
    out = io.BytesIO()
    document.save(out)
    assert list(cited(out.getvalue(), "mill.docx").items())[:2] == [
        ("The mill opened in 1902 (its history).", [A]),
        ("It is red.", [A]),
    ]
