"""Documents become pages: their structure kept, their names never paths, hostile and broken ones refused in
words."""

from __future__ import annotations

import contextlib
import io
import zipfile

import docx as word
import pytest
from fpdf import FPDF

from agent.errors import UsageError
from agent.types import Outcome, Page
from agent.web.extract import documents
from agent.web.extract import docx as reader

WORDS = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"


def read(name: str, data: bytes | str, **more) -> Page:
    return documents.read_document(name, data.encode() if isinstance(data, str) else data, **more)


def headings(page: Page) -> list[tuple[int, str]]:
    assert all(page.text[heading.start :].startswith(heading.text) for heading in page.headings)
    return [(heading.level, heading.text) for heading in page.headings]


def rows(page: Page) -> list[list[str]]:
    table = page.tables[0]
    assert page.text[table.start : table.end] == "\n".join(" | ".join(row) for row in table.rows)
    return table.rows


def manual() -> bytes:
    made = word.Document()
    made.core_properties.title, made.core_properties.author = "Vat & cellar", "A. Wren"
    made.add_heading("Cheese cellar", 1)
    made.add_paragraph("The vat holds 400 litres of milk.")
    made.add_heading("Cleaning", 2)
    made.add_paragraph("Rinse with hot water.", style="List Bullet")
    table = made.add_table(2, 2)
    for n, text in enumerate(("name", "litres", "vat", "400")):
        table.cell(n // 2, n % 2).text = text
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def packed(**parts: bytes) -> bytes:
    out = io.BytesIO()
    with (
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target,
        zipfile.ZipFile(io.BytesIO(manual())) as source,
    ):
        for part in source.infolist():
            target.writestr(
                part.filename,
                parts.get("document", b"")
                if part.filename == "word/document.xml" and parts
                else source.read(part),
            )
    return out.getvalue()


# --- kinds
# -----------------------------------------------------------------------------------------------------------------


def test_a_word_document_keeps_headings_tables_and_what_is_told_about_it():
    page = read("manual.docx", manual())
    assert (page.title, page.author, page.url, page.outcome) == (
        "Vat & cellar",
        "A. Wren",
        "file:manual.docx",
        Outcome.OK,
    )
    assert headings(page) == [(1, "Cheese cellar"), (2, "Cleaning")]
    assert rows(page) == [["name", "litres"], ["vat", "400"]]
    assert "Rinse with hot water." in page.text and page.raw[:2] == b"PK" and len(page.sha256) == 64


def test_a_word_document_is_known_by_its_bytes():
    assert read("manual.bin", manual()).title == "Vat & cellar"


def test_html_is_read_with_the_reader_of_pages():
    page = read(
        "a.html",
        "<html><title>Herons</title><body><h1>Herons</h1><p>They eat fish and frogs in shallow water.</p></body></html>",
    )
    assert page.title == "Herons" and headings(page) == [(1, "Herons")] and "frogs" in page.text


def test_a_pdf_has_a_heading_for_each_page():
    paper = FPDF()
    paper.set_font("Helvetica")
    for text in ("The vat holds 400 litres.", "The cellar is cold."):
        paper.add_page()
        paper.cell(text=text)
    page = read("report.PDF", bytes(paper.output()))
    assert headings(page) == [(2, "Page 1"), (2, "Page 2")] and page.title == "report"


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


def test_a_rule_or_a_list_is_no_heading():
    assert headings(read("a.md", "- one\n---\ntext\n\n---\n\nlast | first\nplain\n")) == []


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Привет, мир. Это текст на русском языке о погоде в Москве.", "cp1251"),
        ("北京是中华人民共和国的首都，长城位于北京的北部，是著名的旅游景点。", "gb18030"),
        ("東京は日本の首都であり、世界でも有数の大都市である。", "shift_jis"),
        ("Die Größe des Käses wächst täglich über Nacht.", "utf-16"),
    ],
)
def test_plain_text_in_the_encodings_people_have(text, encoding):
    assert read("a.txt", text.encode(encoding)).text == text


@pytest.mark.parametrize(
    "data",
    [
        'name,price\nKorpblå,"1,20"\n',
        "name;price\nKorpblå;1,20\n",
        "name\tprice\nKorpblå\t1,20\n",
        "name|price\nKorpblå|1,20",
        "sep=;\nname;price\r\nKorpblå;1,20\r\n",
        "\ufeffname;price\n\n  ;\nKorpblå;1,20\n",
    ],
)
def test_a_csv_is_a_table_whatever_parts_its_cells(data):
    assert rows(read("prices.csv", data)) == [["name", "price"], ["Korpblå", "1,20"]]


def test_a_csv_with_ragged_rows_and_lines_in_cells():
    page = read("a.csv", 'name,note\n"A","first\nsecond"\nB\nC,x,extra\n'.encode("cp1252"))
    assert rows(page) == [["name", "note", ""], ["A", "first second", ""], ["B", "", ""], ["C", "x", "extra"]]


def test_a_csv_whose_cell_never_ends_is_refused_in_words():
    with pytest.raises(UsageError, match="no end"):
        read("big.csv", 'name,x\n"' + "a" * 11_000_000 + '",2\n')


def test_a_csv_that_names_an_odd_delimiter_is_read_or_refused_but_breaks_nothing():
    for odd in "\" \0\udcff'\x0b":
        with contextlib.suppress(UsageError):
            read("odd.csv", f"sep={odd}\nname,price\nA,1\n".encode("utf-8", "surrogatepass"))


def test_a_document_from_the_web_keeps_its_address():
    assert read("a.txt", "Herons eat fish.", url="https://a.example/a.txt").url == "https://a.example/a.txt"
    assert read("a.txt", "Herons eat fish.", url="javascript:alert(1)").url == "file:a.txt"


# --- names
# -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("../../etc/passwd", "etc/passwd"),
        ("C:\\Users\\me\\a.txt", "Users/me/a.txt"),
        ("/a//b/./c.md", "a/b/c.md"),
        ("", "unnamed"),
        ("in\u202evoice.txt", "invoice.txt"),
        ("a\0b\n.txt", "a b .txt"),
        ("  ..  ", "unnamed"),
    ],
)
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
        ("a.rtf", b"{\\rtf1 x}", "old"),
        ("a.xlsx", b"PK\x03\x04aaaa", "CSV"),
        ("a.txt", b" \n\t", "empty"),
        ("a.pdf", b"%PDF-1.4 broken", "damaged"),
        ("a.csv", ";\n;;", "no rows"),
        ("a.html", b"<html><body></body></html>", "no readable text"),
        ("a.png", b"\x89PNG\r\n", "nothing that can be read"),
        ("a.md", "# \n", "no text"),
        ("cut.docx", manual()[:900], "damaged"),
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


def test_a_word_document_with_entities_is_not_opened():
    bomb = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "' + "x" * 100 + '">]><a>&b;&b;</a>'
    for encoding in ("utf-8", "utf-16"):
        with pytest.raises(UsageError, match="no word processor"):
            read("bomb.docx", packed(document=bomb.encode(encoding)))


def renamed(target: str, document: bytes) -> bytes:
    """A document whose main part has another name than Word's."""
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
    own = f'<Relationships xmlns="{RELATIONS}"><Relationship Id="r1" Type="{kind}" Target="{target}"/></Relationships>'
    return parts({"_rels/.rels": own.encode(), "word/document.xml": b"<w/>", target: document})


def parts(named: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        for name, data in named.items():
            target.writestr(name, data)
    return out.getvalue()


@pytest.mark.parametrize("target", ["word/evil.bin", "word/media/evil.png", "evil", "word/media/evil.svg"])
def test_a_part_is_judged_whatever_its_name_and_place(target):
    said = f'<w:document xmlns:w="{WORDS}"><w:body><w:p><w:r><w:t>%s</w:t></w:r></w:p></w:body></w:document>'
    assert "Herons" in read("a.docx", renamed(target, (said % "Herons").encode())).text, (
        "a reader does look there"
    )
    for begin in ("", "\n" * 2_000):
        with pytest.raises(UsageError, match="no word processor"):
            read(
                "a.docx",
                renamed(target, (begin + '<!DOCTYPE a [<!ENTITY b "Herons">]>' + said % "&b;").encode()),
            )
    with pytest.raises(UsageError, match="no word processor"):
        read("a.docx", renamed(target, (said % ("Herons" + " " * 3_000_000)).encode()))


def test_a_word_document_of_tags_alone_is_not_opened(monkeypatch):
    monkeypatch.setattr(reader, "MAX_TAGS", 1_000)
    with pytest.raises(UsageError, match="more text than"):
        read("a.docx", renamed("word/other", b"<w>" + b"<a/>" * 1_000 + b"</w>"))


def test_a_document_with_pictures_and_embedded_files_is_read():
    drawing = b'<?xml version="1.0"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd"><svg/>'
    held = {
        "word/media/a.svg": drawing,
        "word/media/b.bmp": b"BM" + b"\0" * 3_000_000,
        "word/embeddings/c.bin": b"\xd0\xcf" + b"<!ENTITY" * 200_000,
    }
    with zipfile.ZipFile(io.BytesIO(manual())) as source:
        held |= {name: source.read(name) for name in source.namelist()}
    assert read("manual.docx", parts(held)).text == read("manual.docx", manual()).text


def test_a_word_document_that_explodes_is_not_opened(monkeypatch):
    with pytest.raises(UsageError, match="no word processor"):
        read("bomb.docx", packed(document=b"<a>" + b" " * 3_000_000 + b"</a>"))
    monkeypatch.setattr(reader, "MAX_XML", 1_000)
    with pytest.raises(UsageError, match="more text than"):
        read("large.docx", manual())


def test_a_word_document_that_nests_without_end_is_told_to_be_damaged():
    deep = b"<a>" * 5_000 + b"</a>" * 5_000
    with pytest.raises(UsageError):
        read("deep.docx", packed(document=deep))


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
