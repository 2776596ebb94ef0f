"""PDFs with text, without, locked, broken."""

from __future__ import annotations

import io

import pytest
from fpdf import FPDF
from pypdf import PdfReader, PdfWriter

from agent.types import Outcome
from agent.web.extract import dispatch
from agent.web.extract.pdf import join_wrapped_lines

URL = "https://a.example.com/report.pdf"


def made(*pages: str) -> bytes:
    document = FPDF()
    document.set_title("Annual report")
    document.set_author("Ada Lehm")
    for text in pages:
        document.add_page()
        if text:
            document.set_font("Helvetica", size=12)
            document.multi_cell(0, 8, text)
    return bytes(document.output())


def test_pages_become_headings() -> None:
    page = dispatch.extract_content(
        made("The dairy sold 1,200 litres.", "", "In 1922 it sold more."), "application/pdf", URL
    )
    assert (page.outcome, page.title, page.author) == (Outcome.OK, "Annual report", "Ada Lehm")
    assert [heading.text for heading in page.headings] == ["Page 1", "Page 3"]
    assert all(page.text[h.start :].startswith(h.text) for h in page.headings)
    assert "The dairy sold 1,200 litres." in page.text and "In 1922 it sold more." in page.text
    assert len(page.published_at) == 10


def test_a_pdf_without_text_is_unsupported() -> None:
    page = dispatch.extract_content(made("", ""), "application/pdf", URL)
    assert page.outcome is Outcome.UNSUPPORTED and "pictures" in page.detail


@pytest.mark.parametrize(("password", "outcome"), [("secret", Outcome.UNSUPPORTED), ("", Outcome.OK)])
def test_a_lock_holds_unless_it_needs_no_key(password: str, outcome: Outcome) -> None:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(made("The dairy."))))
    writer.encrypt(user_password=password, owner_password="owner", algorithm="AES-256")
    held = io.BytesIO()
    writer.write(held)
    page = dispatch.extract_content(held.getvalue(), "application/pdf", URL)
    assert page.outcome is outcome
    assert ("password" in page.detail) is (outcome is Outcome.UNSUPPORTED)


@pytest.mark.parametrize("cut", [20, 200, 600, 0.5, 0.9])
def test_a_damaged_pdf_fails_politely(cut: float) -> None:
    whole = made("The dairy sold 1,200 litres. " * 20)
    page = dispatch.extract_content(
        whole[: int(cut if cut > 1 else cut * len(whole))], "application/pdf", URL
    )
    assert page.outcome in (Outcome.UNSUPPORTED, Outcome.OK)
    assert bool(page.detail) is (page.outcome is Outcome.UNSUPPORTED)


def test_sentences_that_the_width_of_the_page_broke_are_whole_again() -> None:
    lines = [
        "Rules of the harbour",
        "Boats longer than twelve metres moor at the north pier. The master is Tove",
        "Lindqvist and answers on channel twelve, which is kept by night as well; who en-",
        "ters tells her the name of the boat.",
        "Washing machines stand in the red hut.",
        "north pier 180",
        "south pier 140",
    ]
    assert join_wrapped_lines(lines).split("\n") == [
        "Rules of the harbour",
        "Boats longer than twelve metres moor at the north pier. The master is Tove Lindqvist and answers on channel twelve, which is kept by night "
        "as well; who enters tells her the name of the boat.",
        "Washing machines stand in the red hut.",
        "north pier 180",
        "south pier 140",
    ]
    assert (
        join_wrapped_lines([]) == ""
        and join_wrapped_lines(["東京都庁は新宿にあります、そして" * 3, "展望室は無料です"]).count("\n") == 1
    )
