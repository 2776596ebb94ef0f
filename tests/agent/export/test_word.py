"""The Word document, read back by python-docx and by the reader that the workbench itself has for
documents."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace

from docx import Document
from lxml import etree

from agent.export.word import render_docx
from tests.web.reports import TITLES, one_line, report


def test_answer_sources_quotes_and_tables_come_back():
    given = report()
    document = Document(io.BytesIO(render_docx(given)))
    text = "\n".join(paragraph.text for paragraph in document.paragraphs)
    headings = [paragraph.text for paragraph in document.paragraphs if paragraph.style.name == "Heading 2"]
    for n, title in enumerate(TITLES[:2], 1):
        assert headings[n - 1] == f"[{n}] {one_line(title) or f'https://site{n}.example/a_b/{n}?q=ä&x=1'}"
        assert f"The answer {n} is {n * 7} cows." in text
    assert "There are cows." in text and "(non étayé)" in text, "in the language of the question"
    assert not document.tables and given.run.id not in text
    assert document.core_properties.author == "Touchstone" and not document.core_properties.comments


def test_links_lead_to_the_web_only_and_nothing_is_loaded():
    with zipfile.ZipFile(io.BytesIO(render_docx(report()))) as archive:
        rels = etree.fromstring(archive.read("word/_rels/document.xml.rels"))
    outside = [rel for rel in rels if rel.get("TargetMode") == "External"]
    targets = {rel.get("Target") for rel in outside}
    assert len(outside) == len(targets) == 2, "each source that is cited"
    assert all(target.startswith("https://site") for target in targets)
    assert all(rel.get("Type").endswith("/hyperlink") for rel in outside)


def test_a_run_without_an_answer_is_a_document_too():
    document = Document(io.BytesIO(render_docx(replace(report([]), answer=None, actions=[]))))
    assert "There is no answer yet." in [paragraph.text for paragraph in document.paragraphs]
