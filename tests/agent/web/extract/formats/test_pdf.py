"""PDFs as a person reads them: paragraphs, headings, lists and code; with text, without, locked, broken."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from fpdf import FPDF
from fpdf.enums import AccessPermission, EncryptionMethod

from agent.types import Outcome
from agent.web.extract.extraction import Extraction
from agent.web.extract.formats.pdf import extract_pdf

DEJAVU = Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")
PROSE = (
    "Boats longer than twelve metres moor at the north pier. The master is Tove Lindqvist and answers on "
    "channel twelve, which is kept by night as well; whoever enters tells her the name of the boat and how "
    "long it stays. Washing machines stand in the red hut behind the office."
)


def paper(*pages: Callable[[FPDF], None], header: str = "") -> FPDF:
    """A document; each page is drawn by a function."""
    document = FPDF()
    document.set_title("Annual report")
    document.set_author("Ada Lehm")
    for number, draw in enumerate(pages, start=1):
        document.add_page()
        document.set_font("Helvetica", size=11)
        if header:
            document.cell(0, 6, f"{header} {number}", new_x="LMARGIN", new_y="NEXT")
            document.ln(8)
        draw(document)
    return document


def text(words: str, size: float = 11, style: str = "", family: str = "Helvetica") -> Callable[[FPDF], None]:
    """Draws a paragraph."""

    def draw(document: FPDF) -> None:
        document.set_font(family, style=style, size=size)
        document.multi_cell(0, 0.45 * size, words, align="L", new_x="LMARGIN", new_y="NEXT")
        document.ln(4)

    return draw


def both(*parts: Callable[[FPDF], None]) -> Callable[[FPDF], None]:
    """Draws one after the other."""

    def draw(document: FPDF) -> None:
        for part in parts:
            part(document)

    return draw


def read(document: FPDF) -> Extraction:
    reading = extract_pdf(bytes(document.output()), seconds=60)
    assert all(reading.text[h.start :].startswith(h.text) for h in reading.headings)
    return reading


def blocks(reading: Extraction) -> list[tuple[str, str]]:
    return [(block.kind, reading.text[block.start : block.end]) for block in reading.blocks]


def test_pages_become_headings() -> None:
    reading = read(
        paper(text("The dairy sold 1,200 litres."), lambda document: None, text("In 1922 it sold more."))
    )
    assert (reading.outcome, reading.title, reading.author) == (Outcome.OK, "Annual report", "Ada Lehm")
    assert [heading.text for heading in reading.headings] == ["Page 1", "Page 3"]
    assert blocks(reading) == [
        ("paragraph", "The dairy sold 1,200 litres."),
        ("paragraph", "In 1922 it sold more."),
    ]
    assert len(reading.published_at) == 10


def test_larger_and_numbered_bold_lines_are_headings_by_their_size() -> None:
    parts = (
        text("Harbour", 20),
        text(PROSE),
        text("Moorings", 14),
        text(PROSE),
        text("1.1 Fees", 11, "B"),
        text(PROSE),
        text("Note", 11, "B"),
        text(PROSE),
    )
    reading = read(paper(both(*parts)))
    levels = {heading.text: heading.level for heading in reading.headings}
    assert levels == {"Page 1": 6, "Harbour": 1, "Moorings": 2, "1.1 Fees": 2}


def test_a_table_of_contents_is_left_out() -> None:
    entries = "\n".join(
        f"{n} {name} {'. ' * 20} {n + 1}" for n, name in enumerate(("Fees", "Boats", "Water"), 1)
    )
    reading = read(paper(both(text("Contents", 16), text(entries)), text("Fees are paid at noon.")))
    assert "Boats" not in reading.text and "Fees are paid at noon." in reading.text


def test_dots_that_lead_to_a_price_become_a_blank() -> None:
    reading = read(
        paper(
            text(
                "\n".join(
                    f"{name} {'.' * 20} {price}" for name, price in (("milk", 12), ("rye", 3), ("figs", 9))
                )
            )
        )
    )
    assert reading.text == "Page 1\n\nmilk 12\nrye 3\nfigs 9"


def test_a_word_broken_at_the_end_of_a_line_is_whole_again() -> None:
    words = "The lighthouse keeper and the well-kept lamp.\nEvery light-\nhouse has a well-\nkept lamp, and some har-\nbours too."
    reading = read(paper(text(words)))
    assert "Every lighthouse has a well-kept lamp, and some harbours too." in " ".join(
        reading.text.split("\n")
    )


def test_raised_figures_do_not_melt_into_numbers() -> None:
    def draw(document: FPDF) -> None:
        for base, raised in (
            ("They counted 10", "3"),
            (" eggs on 5 m", "2"),
            (" of the northern slope", "7"),
        ):
            document.set_font("Helvetica", size=12)
            document.write(6, base)
            document.char_vpos = "SUP"
            document.write(6, raised)
            document.char_vpos = "LINE"
        document.write(6, ".")

    assert "They counted 10^3 eggs on 5 m^2 of the northern slope^7." in read(paper(draw)).text


def test_lists_and_code_are_blocks_of_their_own() -> None:
    items = [text("- Boats over twelve metres moor in the north."), text("- All others moor in the south.")]
    code = text("def moor(boat):\n    return boat.length", family="Courier")
    reading = read(paper(both(text(PROSE), *items, code, text(PROSE))))
    assert [kind for kind, _ in blocks(reading)] == ["paragraph", "item", "item", "code", "paragraph"]
    assert blocks(reading)[3][1] == "def moor(boat):\n    return boat.length"


def test_a_term_above_an_indented_paragraph_has_its_definition() -> None:
    def draw(document: FPDF) -> None:
        text(PROSE)(document)
        text("--draught", style="B")(document)
        document.set_left_margin(25)
        document.ln(0)
        text("How deep the boat lies in the water, in centimetres.")(document)

    assert blocks(read(paper(draw)))[1:] == [
        ("term", "--draught"),
        ("definition", "How deep the boat lies in the water, in centimetres."),
    ]


def test_a_paragraph_over_two_pages_is_whole_and_the_page_comes_after_it() -> None:
    words = PROSE.split()
    first, second = " ".join(words[:20]), " ".join(words[20:])
    reading = read(paper(text(PROSE + " " + first), both(text(second), text("The hut is red."))))
    assert f"{first} {second}\n\nPage 2\n\nThe hut is red." in reading.text


def test_lines_from_right_to_left_are_joined() -> None:
    words = ["ספינות", "ארוכות", "עוגנות", "ברציף", "הצפוני", "והאחראית", "עונה", "בערוץ"] * 6

    def draw(document: FPDF) -> None:
        document.add_font("DejaVu", fname=DEJAVU)
        document.set_font("DejaVu", size=11)
        for n in range(0, len(words), 12):  # the library draws from the left: as a typesetter would, reversed
            line = " ".join(word[::-1] for word in reversed(words[n : n + 12]))
            document.set_x(document.w - document.r_margin - document.get_string_width(line) - 2)
            document.cell(text=line, new_x="LMARGIN", new_y="NEXT")

    if not DEJAVU.is_file():
        pytest.skip("no font with Hebrew letters")
    assert " ".join(words) in read(paper(draw)).text


def test_a_pdf_without_text_says_what_to_do_next() -> None:
    empty = read(paper(lambda document: None))
    assert empty.outcome is Outcome.UNSUPPORTED and "no text" in empty.detail
    scanned = read(paper(draw_picture))
    assert scanned.outcome is Outcome.UNSUPPORTED and "OCR" in scanned.detail


def test_pages_that_are_pictures_are_counted() -> None:
    reading = read(paper(text(PROSE), draw_picture, draw_picture))
    assert reading.outcome is Outcome.OK and reading.detail.startswith("2 of 3 pages are pictures")


def draw_picture(document: FPDF) -> None:
    from PIL import Image

    held = io.BytesIO()
    Image.new("L", (40, 40)).save(held, "PNG")
    document.image(held, w=100)


@pytest.mark.parametrize(("password", "outcome"), [("secret", Outcome.UNSUPPORTED), ("", Outcome.OK)])
def test_a_lock_holds_unless_it_needs_no_key(password: str, outcome: Outcome) -> None:
    document = paper(text("The dairy."))
    document.set_encryption(
        owner_password="owner",
        user_password=password or None,
        encryption_method=EncryptionMethod.AES_256,
        permissions=AccessPermission.none(),
    )
    reading = read(document)
    assert reading.outcome is outcome
    assert ("password" in reading.detail) is (outcome is Outcome.UNSUPPORTED)


def test_what_could_not_be_read_in_time_is_told() -> None:
    reading = extract_pdf(bytes(paper(*[text(PROSE)] * 3).output()), seconds=0.0)
    assert reading.detail == "Only the first 1 of 3 pages were read (PARSER_TIMEOUT raises the limit)."


def test_cells_between_rules_are_a_table() -> None:
    def draw(document: FPDF) -> None:
        text(PROSE)(document)
        cells = (
            ("pier", "boats"),
            ("north", "over twelve metres, and those that come back in the night"),
            ("south", "all others"),
        )
        with document.table(width=120, col_widths=(40, 80)) as table:
            for cells_of_row in cells:
                row = table.row()
                for cell in cells_of_row:
                    row.cell(cell)
        document.ln(5)
        text(PROSE)(document)

    reading = read(paper(draw))
    assert [table.rows for table in reading.tables] == [
        [
            ["pier", "boats"],
            ["north", "over twelve metres, and those that come back in the night"],
            ["south", "all others"],
        ]
    ]
    table = reading.tables[0]
    assert reading.text[table.start : table.end].startswith("pier | boats\nnorth | over twelve")
    assert blocks(reading) == [("paragraph", PROSE), ("paragraph", PROSE)]


def test_a_framed_text_and_a_drawing_are_no_tables() -> None:
    def draw(document: FPDF) -> None:
        document.set_font("Helvetica", size=11)
        document.multi_cell(0, 5, PROSE, border=1, new_x="LMARGIN", new_y="NEXT")
        for n in range(12):
            document.line(20 + 8 * n, 120, 20 + 8 * n, 200)
            document.line(20, 120 + 7 * n, 110, 120 + 7 * n)

    reading = read(paper(draw))
    assert not reading.tables and reading.text.endswith(PROSE)
