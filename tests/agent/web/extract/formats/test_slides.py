"""Presentations: titles as headings, points, tables and notes."""

from __future__ import annotations

from agent.web.extract.formats.slides import extract_slides
from tests.agent.web.extract.sample_documents import make_pptx


def test_slides_keep_titles_points_notes_and_tables() -> None:
    reading = extract_slides(make_pptx())
    assert (reading.title, reading.author) == ("Spring tides", "Ada Lehm")
    assert reading.text == (
        "Moorings\nNorth pier: boats over twelve metres\nSouth pier: all others\n\nSay that the south pier floods."
        "\n\nSlide 2\n\npier | depth\nnorth | 4 m"
    )
    assert [heading.text for heading in reading.headings] == ["Moorings", "Slide 2"]
    assert [block.kind for block in reading.blocks] == ["item", "item", "paragraph"]
    assert reading.tables[0].rows == [["pier", "depth"], ["north", "4 m"]]


def test_a_damaged_presentation_is_told() -> None:
    assert "damaged" in extract_slides(make_pptx()[:2_000]).detail
