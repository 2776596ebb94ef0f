"""Rich Text Format: paragraphs, tables, accents."""

from __future__ import annotations

from agent.types import Outcome
from agent.web.extract.formats.rtf import extract_rtf
from tests.agent.web.extract.sample_documents import RTF


def test_paragraphs_and_tables_are_read() -> None:
    reading = extract_rtf(RTF)
    assert (reading.title, reading.author) == ("The kiln book", "Ada Lehm")
    assert reading.text == (
        "Fire the kiln to 1,040 degrees.\n\nIt cools for two days.\n\nglaze | hours\nceladon | 9\n\nCafé opens at nine."
    )
    assert reading.tables[0].rows == [["glaze", "hours"], ["celadon", "9"]]
    assert [block.kind for block in reading.blocks] == ["paragraph"] * 3


def test_a_document_without_text_says_so() -> None:
    assert extract_rtf(rb"{\rtf1\ansi }").outcome is Outcome.UNSUPPORTED
