"""A text as sentences: what each cites, in every way of citing that is understood, and what is no claim."""

from __future__ import annotations

import io

import pytest
from docx import Document
from fpdf import FPDF

from agent.flows.check_text.split_text import split_text
from agent.types import TextSentence
from agent.web.extract import documents

A, B, C = "https://a.example/one", "https://b.example/two", "https://c.example/three"


def split(text: str | bytes, name: str = "text.md") -> list[TextSentence]:
    page = documents.read_document(name, text.encode() if isinstance(text, str) else text)
    return split_text(page, documents.find_anchors(page))


def cited(text: str | bytes, name: str = "text.md") -> dict[str, list[str]]:
    """The claims with the addresses each cites itself."""
    found = split(text, name)
    return {one.text: [c.url or c.trouble for c in one.citations] for one in found if one.kind == "claim"}


@pytest.mark.parametrize(
    ("written", "claim"),
    [
        (f"The mill [opened in 1902]({A}).", "The mill opened in 1902."),
        (f"The mill opened in 1902 ([its history]({A})).", "The mill opened in 1902."),
        (f"The mill opened in 1902 ({A}).", "The mill opened in 1902."),
        (f"The mill opened in 1902, see <{A}>.", "The mill opened in 1902, see."),
        (f"The mill opened in 1902.[^1]\n\n[^1]: {A}", "The mill opened in 1902."),
        (f"The mill opened in 1902.[^m]\n\n[^m]: Its history, {A}", "The mill opened in 1902."),
        (f"The mill opened in 1902 [1].\n\n[1] Its history. {A}", "The mill opened in 1902."),
        (f"The mill opened in 1902. [1]\n\n1. Its history. {A}\n2. Another. {B}", "The mill opened in 1902."),
        (f"The mill opened in 1902.¹\n\n1. Its history. {A}", "The mill opened in 1902."),
        (f"The mill opened in 1902 (Berg 1990).\n\nBerg, K. (1990). Mills. {A}", "The mill opened in 1902."),
        (
            f"Berg (1990) dates the mill to 1902.\n\nBerg, K. (1990). Mills. {A}",
            "Berg dates the mill to 1902.",
        ),
    ],
)
def test_every_way_of_citing_leads_to_its_address(written: str, claim: str) -> None:
    assert cited(written) == {claim: [A]}


@pytest.mark.parametrize("text", [f"It creates 64 jobs ({A}).", f"Prices rose ({A})."])
def test_a_short_sentence_is_no_label(text: str) -> None:
    assert list(cited(text).values()) == [[A]]


def test_a_doi_is_an_address() -> None:
    found = cited("Mills rot [1].\n\n[1] Berg, doi:10.1234/mills.5.")
    assert found == {"Mills rot.": ["https://doi.org/10.1234/mills.5"]}


def test_numbers_may_be_lists_and_ranges() -> None:
    text = f"It is old [1, 3]. It is red [2-3]. It is tall [1–2].\n\n[1] {A}\n[2] {B}\n[3] {C}"
    assert list(cited(text).values()) == [[A, C], [B, C], [A, B]]


def test_several_authors_in_one_bracket() -> None:
    text = (
        "Mills rot (Berg 1990; Lind & Ek, 2003).\n\n"
        f"Berg, K. (1990). Mills. {A}\nLind, O. and Ek, P. 2003. Rot. {B}"
    )
    assert list(cited(text).values()) == [[A, B]]


def test_a_number_without_an_entry_and_an_entry_without_an_address_say_so() -> None:
    found = cited(f"It is old [1]. It is red [2]. It is tall [7].\n\n[1] {A}\n[2] Berg, Mills, 1990")
    old, red, tall = found.values()
    assert old == [A]
    assert "names no address" in red[0] and "Berg, Mills, 1990" in red[0]
    assert "no reference 7" in tall[0]


def test_figures_in_a_text_are_no_citations() -> None:
    text = "The field has 10² plants on 5 m². The town (founded 1979) has 3 mills."
    assert set(map(tuple, cited(text).values())) == {()}


def test_a_citation_at_the_end_of_a_paragraph_covers_it() -> None:
    found = [one for one in split(f"It is old. It is red. It is tall [1].\n\n[1] {A}") if one.kind == "claim"]
    assert [(one.covered, [c.url for c in one.citations]) for one in found] == [
        (True, [A]),
        (True, [A]),
        (False, [A]),
    ]


def test_it_covers_nothing_where_another_sentence_cites() -> None:
    assert list(cited(f"It is old [1]. It is red. It is tall [2].\n\n[1] {A}\n[2] {B}").values()) == [
        [A],
        [],
        [B],
    ]


def test_an_address_on_a_line_of_its_own_covers_the_paragraph_above() -> None:
    found = split(f"It is old. It is red.\n\nSource: {A}\n\nIt is tall.")
    assert [(one.kind, one.covered, len(one.citations)) for one in found] == [
        ("claim", True, 1),
        ("claim", True, 1),
        ("reference", False, 0),
        ("claim", False, 0),
    ]


def test_a_list_of_further_reading_covers_nothing() -> None:
    found = split(f"It is old. It is red.\n\n{A}\n\n{B}")
    assert [one.kind for one in found] == ["claim", "claim", "reference", "reference"]
    assert not any(one.citations for one in found)


def test_structure_tells_what_is_no_claim() -> None:
    text = f"# The mill\n\nIs it old? It is.\n\nBy Karin Berg\n\n```\nx = 1\n```\n\nIt is red [1].\n\n## Sources\n\n[1] {A}"
    kinds = [(one.kind, one.text) for one in split(text)]
    assert kinds == [
        ("heading", "The mill"),
        ("question", "Is it old?"),
        ("claim", "It is."),
        ("label", "By Karin Berg"),
        ("code", "x = 1"),
        ("claim", "It is red."),
        ("heading", "Sources"),
        ("reference", f"[1] {A}"),
    ]


def test_a_row_of_a_table_is_a_claim_with_the_names_of_its_columns() -> None:
    found = split("| Year | Staff |\n|---|---|\n| 1962 | 31 |")
    assert [(one.kind, one.text) for one in found] == [
        ("heading", "Year | Staff"),
        ("claim", "Year: 1962; Staff: 31"),
    ]


@pytest.mark.parametrize(
    ("row", "claim", "sources"),
    [
        (f"Fors | [1902]({A}) | red [2]({B})", "Mill: Fors; Opened: 1902; Colour: red", [A, B]),
        (f"[Fors]({A}) | [1902]({B}) | [red]({C})", "Mill: Fors; Opened: 1902; Colour: red", [A, B, C]),
        (f"1902 | [1902]({A}) | red", "Mill: 1902; Opened: 1902; Colour: red", [A]),
        (f"Fors | 1902 | [red]({A}) or so", "Mill: Fors; Opened: 1902; Colour: red or so", [A]),
    ],
)
def test_a_link_in_a_cell_is_a_citation_of_its_row(row: str, claim: str, sources: list[str]) -> None:
    table = f"| Mill | Opened | Colour |\n|---|---|---|\n| {row} |\n| Lund | 1850 | blue |"
    assert cited(table) == {claim: sources, "Mill: Lund; Opened: 1850; Colour: blue": []}


def test_a_raised_number_in_a_cell_leads_to_its_note() -> None:
    html = (
        "<html><body><main><h1>Mills</h1><p>The mills of the valley, with the year in which each opened.</p>"
        "<table><tr><th>Mill</th><th>Opened</th></tr>"
        '<tr><td>Fors</td><td>1902<sup><a href="#n1">1</a></sup></td></tr></table>'
        f'<h2>Notes</h2><ol><li id="n1">Berg, <a href="{A}">Mills</a></li></ol></main></body></html>'
    )
    assert [A] in cited(html.encode(), "mills.html").values()


def test_a_numbered_list_in_the_text_is_no_list_of_references() -> None:
    text = f"Two reasons count [1].\n\n1. The mill is old.\n2. The mill is red.\n\n## Sources\n\n[1] {A}"
    assert cited(text) == {"Two reasons count.": [A], "The mill is old.": [], "The mill is red.": []}


def test_the_places_are_those_of_the_stored_text() -> None:
    data = f"It is old [1]. It is [red]({B}), too.\n\n[1] {A}".encode()
    text = documents.read_document("text.md", data).text
    first, second, _ = split(data)
    assert text[first.start : first.end] == "It is old [1]."
    assert text[second.start : second.end] == "It is red, too."


def test_links_and_notes_of_a_web_page() -> None:
    html = (
        "<html><head><title>The mill</title></head><body><main><h1>The mill</h1>"
        '<p>The mill by the river opened in 1902 and was rebuilt after a fire.<sup><a href="#n1">[1]</a></sup> '
        f'It is <a href="{B}">painted red</a> since the war, as everybody in the valley knows.<sup>'
        '<a href="#n2">2</a></sup> See the <a href="#end">end</a> of this page for more about it.</p>'
        f'<h2 id="end">Notes</h2><ol><li id="n1">Berg, <a href="{A}">Mills</a></li>'
        f'<li id="n2">Lind, {C}</li></ol></main></body></html>'
    )
    found = [one for one in split(html.encode(), "mill.html") if one.kind == "claim"][:3]
    assert [[c.url for c in one.citations] for one in found] == [[A], [B, C], []]


def test_numbers_of_a_list_that_has_none_in_its_text_are_counted() -> None:
    html = (
        "<html><head><title>The mill</title></head><body><main><h1>The mill</h1><p>The mill by the river opened in "
        "1902 [1] and burned down in the second winter of the war [3], as the chronicle of the town has it.</p>"
        f"<ul><li>Old houses</li><li>Old roads</li></ul><h2>Sources</h2><ol><li>Berg, {A}</li><li>Lind, 1990</li>"
        f"<li>Ek, {C}</li></ol><h2>More</h2><p>This page is part of a series on the houses of the town.</p></main></body></html>"
    )
    found = split(html.encode(), "mill.html")
    (first, *_) = (one for one in found if one.kind == "claim")
    assert [c.url for c in first.citations] == [A, C]
    assert [one.text for one in found if one.kind == "reference"] == [f"Berg, {A}", "Lind, 1990", f"Ek, {C}"]


def test_raised_numbers_of_a_pdf_lead_to_their_entries() -> None:
    text = f"The roof is red.6 It is new. Version.7 is out.\n\n6. Roofs, {A}"
    assert cited(text) == {"The roof is red.": [A], "It is new.": [], "Version.7 is out.": []}


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
    page = documents.read_document("mill.html", html.encode(), url="https://wiki.example/mill")
    first, second = (one for one in split_text(page, documents.find_anchors(page)) if one.kind == "claim")
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


def test_links_of_a_word_document() -> None:
    document = Document()
    paragraph = document.add_paragraph("The mill opened in 1902 ")
    part = document.part.relate_to(
        A, "http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink", is_external=True
    )
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    link = OxmlElement("w:hyperlink")
    link.set(qn("r:id"), part)
    run = paragraph.add_run("(its history)")
    link.append(run._r)
    paragraph._p.append(link)
    paragraph.add_run(".")
    document.add_paragraph("It is red.")
    out = io.BytesIO()
    document.save(out)
    assert list(cited(out.getvalue(), "mill.docx").values()) == [[A], []]


def test_a_full_stop_beside_a_mark_ends_a_sentence_whatever_follows() -> None:
    text = f"It was measured twice [1]. npm needs 40 MB [2]. --prune removes old ones.[1] `push` waits. e2 ends.\n\n[1] {A}\n[2] {B}"
    assert list(cited(text).items())[:3] == [
        ("It was measured twice.", [A]),
        ("npm needs 40 MB.", [B]),
        ("--prune removes old ones.", [A]),
    ]
    assert list(cited(f"Berg et al. [1] found a mill.\n\n[1] {A}")) == ["Berg et al. found a mill."]


def test_a_group_is_an_author_too() -> None:
    text = f"Mills rot (World Mill Office 2022).\n\nWorld Mill Office (2022). Mills of the world. {A}"
    assert cited(text) == {"Mills rot.": [A]}


def test_headings_with_numbers_are_references_as_in_the_programs_own_word_files() -> None:
    document = Document()
    document.add_paragraph("The mill opened in 1902. [1]")
    document.add_heading("References", 1)
    document.add_heading("[1] Its history", 2)
    for line in ("Berg, mills.example, 1990.", A, "The mill was opened in 1902."):
        document.add_paragraph(line)
    out = io.BytesIO()
    document.save(out)
    assert cited(out.getvalue(), "own.docx") == {"The mill opened in 1902.": [A]}


def test_a_source_below_a_table_covers_all_its_rows() -> None:
    text = f"| Year | Staff |\n| --- | --- |\n| 1962 | 12 |\n| 1963 | 14 |\n\nSource: {A}"
    assert [c.url for one in split(text) if one.kind == "claim" for c in one.citations] == [A, A]
