"""Books: chapters in reading order, each read as a page."""

from __future__ import annotations

from agent.types import Outcome
from agent.web.extract.formats.epub import extract_epub
from tests.agent.web.extract.sample_documents import make_epub

CHAPTERS = {
    "b.xhtml": "<h1>Tides</h1><p>High water comes twice a day.</p><table><tr><th>day</th><th>hour</th></tr><tr><td>Monday</td><td>9</td></tr></table>",
    "a.xhtml": "<h1>Moorings</h1><p>Boats moor at the north pier.</p><ul><li>Long boats first.</li></ul>",
}


def test_chapters_come_in_reading_order_with_their_structure() -> None:
    book = extract_epub(make_epub(CHAPTERS))
    assert (book.outcome, book.title, book.author, book.language) == (
        Outcome.OK,
        "The tide book",
        "Tove Lind",
        "en",
    )
    assert book.published_at == "2019-04-02" and "Contents" not in book.text
    assert [book.text[h.start :].startswith(h.text) and h.text for h in book.headings] == [
        "Tides",
        "Moorings",
    ]
    table = book.tables[0]
    assert book.text[table.start : table.end] == "day | hour\nMonday | 9"
    assert ("item", "Long boats first.") in [(b.kind, book.text[b.start : b.end]) for b in book.blocks]


def test_a_chapter_without_a_heading_has_its_title() -> None:
    book = extract_epub(
        make_epub({"a.xhtml": "<title>Preface</title><p>Written at sea, in a storm of nine days.</p>"})
    )
    assert [heading.text for heading in book.headings] == ["Preface"]


def test_a_protected_book_says_so_but_hidden_fonts_do_not_matter() -> None:
    def entry(uri: str) -> str:
        return f'<encryption><CipherReference URI="{uri}"/></encryption>'

    locked = extract_epub(make_epub(CHAPTERS, **{"META-INF/encryption.xml": entry("OEBPS/text/a.xhtml")}))
    assert locked.outcome is Outcome.UNSUPPORTED and "copy protection" in locked.detail
    fonts = extract_epub(make_epub(CHAPTERS, **{"META-INF/encryption.xml": entry("OEBPS/a.ttf")}))
    assert fonts.outcome is Outcome.OK


def test_a_book_of_pictures_a_damaged_one_and_one_that_explodes_are_refused() -> None:
    empty = extract_epub(make_epub({"a.xhtml": '<img src="a.png"/>'}))
    assert "no text" in empty.detail
    assert "damaged" in extract_epub(make_epub(CHAPTERS)[:300]).detail
    bomb = extract_epub(make_epub({"a.xhtml": "<p>" + "ha " * 5_000_000 + "</p>"}))
    assert "no program writes one" in bomb.detail
    entities = '<!DOCTYPE html [<!ENTITY a "ha">]><p>&a;</p>'
    assert "no program" in extract_epub(make_epub(CHAPTERS, **{"OEBPS/x.xhtml": entities})).detail
