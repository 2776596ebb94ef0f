"""Documents become pages: their structure kept, their names never paths, hostile and broken ones refused in
words."""

from __future__ import annotations

import contextlib

import pytest

from agent.errors import UsageError
from agent.types import Outcome, Page
from agent.web.extract import documents
from tests.agent.web.extract import sample_documents as samples
from tests.agent.web.extract.sample_documents import make_docx
from tests.tables import by_table


def read(name: str, data: bytes | str, **more) -> Page:
    return documents.read_document(name, data.encode() if isinstance(data, str) else data, **more)


def headings(page: Page) -> list[tuple[int, str]]:
    assert all(page.text[heading.start :].startswith(heading.text) for heading in page.headings)
    return [(heading.level, heading.text) for heading in page.headings]


def rows(page: Page) -> list[list[str]]:
    table = page.tables[0]
    lines = page.text[table.start : table.end].split("\n")
    assert [line.rstrip() for line in lines] == [" | ".join(row).rstrip() for row in table.rows]
    return table.rows


# --- kinds
# -----------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_word_document_keeps_headings_tables_and_what_is_told_about_it():
    page = read("manual.docx", make_docx())
    assert (page.title, page.author, page.url, page.outcome) == (
        "Vat & cellar",
        "A. Wren",
        "file:manual.docx",
        Outcome.OK,
    )
    assert headings(page) == [(1, "Cheese cellar"), (2, "Cleaning")]
    assert rows(page) == [["name", "litres"], ["vat", "400"]]
    assert "Rinse with hot water." in page.text and page.raw[:2] == b"PK" and len(page.sha256) == 64


def test_markdown_loses_its_marks_and_keeps_its_structure():
    page = read(
        "a.md",
        "---\ntitle: 'The vat'\n---\n# Vat **400** #\n\nSee [the page](https://a.example/x_(y)) and ![a picture](x.png).\n\nUnder\n-----\n"
        "```sh\n# no heading\na | b\n```\n\n| name | price |\n|:---|--:|\n| Korp \\| blå | 12 |\n| A |\n\nend of_the_text\n",
    )
    assert page.title == "The vat" and headings(page) == [(1, "Vat 400"), (2, "Under")]
    assert rows(page) == [["name", "price"], ["Korp | blå", "12"], ["A", ""]]
    assert (
        "See the page and a picture." in page.text
        and "# no heading\na | b\n" in page.text
        and page.text.endswith("end of_the_text")
    )
    assert [(link.url, link.text) for link in page.links] == [("https://a.example/x_(y)", "the page")]


def test_markdown_lists_keep_their_numbers_and_tags_stay_text():
    page = read("a.md", "Steps:\n\n3. Set <host>\n4. Wait\n\n   a while\n   - or not\n")
    assert page.text == "Steps:\n\n3. Set <host>\n\n4. Wait\n\na while\n\nor not"
    assert [page.text[b.start : b.end] for b in page.blocks if b.kind == "item"][::2] == [
        "3. Set <host>",
        "or not",
    ]


@by_table
def test_plain_text_in_the_encodings_people_have(text, encoding):
    assert read("a.txt", text.encode(encoding)).text == text


@pytest.mark.parametrize(
    ("name", "data", "said", "kind"),
    [
        (
            "tides.odt",
            samples.make_odt("<text:p>High water at noon.</text:p>"),
            "High water",
            "opendocument.text",
        ),
        ("tides.ods", samples.make_ods({"A": [["High", "noon"]]}), "High | noon", "spreadsheet"),
        ("tides.xlsx", samples.make_xlsx({"A": [["High", 12]]}), "High | 12", "spreadsheet"),
        ("tides.pptx", samples.make_pptx(), "South pier", "presentation"),
        ("tides.epub", samples.make_epub({"a.xhtml": "<p>High water at noon.</p>"}), "High water", "epub"),
        ("tides.rtf", samples.RTF, "It cools for two days.", "rtf"),
        ("tides.jsonl", '{"water": "high", "at": 12}\n', "high | 12", "ndjson"),
        ("tides.tsv", "water\tat\nhigh, spring\t12\n", "high, spring | 12", "tab-separated"),
        ("tides.bin", samples.make_pptx(), "South pier", "presentation"),
        ("Who tells the tides?.csv", "water,at\nhigh,12\n", "high | 12", "csv"),
    ],
)
def test_each_format_is_read_by_its_bytes(name, data, said, kind):
    page = read(name, data)
    assert said in page.text and kind in page.content_type and page.outcome is Outcome.OK


@pytest.mark.parametrize("cut", [40, 0.5, 0.95])
@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.odt", samples.make_odt("<text:p>High water at noon.</text:p>" * 20)),
        ("a.ods", samples.make_ods({"A": [["High", "noon"]] * 20})),
        ("a.xlsx", samples.make_xlsx({"A": [["High", 12]] * 20})),
        ("a.pptx", samples.make_pptx()),
        ("a.epub", samples.make_epub({"a.xhtml": "<p>High water at noon.</p>"})),
        ("a.docx", make_docx()),
    ],
)
def test_a_truncated_document_is_told_to_be_damaged(name, data, cut):
    with pytest.raises(UsageError, match="damaged"):
        read(name, data[: int(cut if cut > 1 else cut * len(data))])


@by_table
def test_a_csv_is_a_table_whatever_parts_its_cells(data):
    assert rows(read("prices.csv", data)) == [["name", "price"], ["Korpblå", "1,20"]]


def test_a_csv_that_names_an_odd_delimiter_is_read_or_refused_but_breaks_nothing():
    for odd in "\" \0\udcff'\x0b":
        with contextlib.suppress(UsageError):
            read("odd.csv", f"sep={odd}\nname,price\nA,1\n".encode("utf-8", "surrogatepass"))


def test_a_document_from_the_web_keeps_its_address():
    assert read("a.txt", "Herons eat fish.", url="https://a.example/a.txt").url == "https://a.example/a.txt"
    assert read("a.txt", "Herons eat fish.", url="javascript:alert(1)").url == "file:a.txt"


# --- names
# -----------------------------------------------------------------------------------------------------------------


@by_table
def test_a_name_is_a_label_and_never_a_path(name, label):
    assert documents.clean_name(name) == label


def test_a_long_name_keeps_its_ending():
    assert len(documents.clean_name("x" * 500 + ".pdf")) <= 200 and documents.clean_name(
        "x" * 500 + ".pdf"
    ).endswith(".pdf")


# --- refusals
# --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.exe", b"MZ\0\0", "nothing that can be read"),
        ("a.doc", b"\xd0\xcf\x11\xe0", "old Word file"),
        ("a.rtf", b"{\\rtf1 }", "holds no text"),
        ("a.xlsx", b"PK\x03\x04aaaa", "no spreadsheet"),
        ("a.zip", b"PK\x03\x04aaaa", "unpack it first"),
        ("a.epub", b"not a zip at all", "no book"),
        ("a.jsonl", b'{"a": 1}\n{"a": ', "Line 2 is not JSON"),
        ("a.docx", b"\xd0\xcf\x11\xe0" + "EncryptedPackage".encode("utf-16-le"), "password"),
        ("a.txt", b" \n\t", "empty"),
        ("a.pdf", b"%PDF-1.4 broken", "damaged"),
        ("a.csv", ";\n;;", "no rows"),
        ("a.html", b"<html><body></body></html>", "no readable text"),
        ("a.png", b"\x89PNG\r\n", "nothing that can be read"),
        ("a.md", "# \n", "no text"),
        ("cut.docx", make_docx()[:900], "damaged"),
        ("a.docx", b"not a zip at all", "no Word document"),
    ],
)
def test_what_cannot_be_read_is_refused_in_words(name, data, said):
    with pytest.raises(UsageError, match=said) as told:
        read(name, data)
    assert name in str(told.value)


def test_too_large_is_told_before_it_is_read(monkeypatch):
    monkeypatch.setattr(documents, "MAX_BYTES", 10)
    with pytest.raises(UsageError, match="MB"):
        read("a.txt", b"x" * 11)


# --- folders
# ---------------------------------------------------------------------------------------------------------------


def test_a_folder_gives_its_readable_files_and_nothing_outside_it(tmp_path):
    (tmp_path / "secret.txt").write_text("secret")
    folder = tmp_path / "kb"
    (folder / "deep").mkdir(parents=True)
    (folder / ".git").mkdir()
    for name in ("a.md", "deep/b.txt", ".hidden.txt", ".git/c.txt", "program.exe"):
        (folder / name).write_text("text")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    assert [name for name, _ in documents.list_files(folder)] == ["a.md", "deep/b.txt"]
    with pytest.raises(UsageError, match="no folder"):
        documents.list_files(tmp_path / "nowhere")
