"""Documents of word processors: structure kept, what is deleted left out; hostile, damaged and locked ones."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace

import pytest

from agent.types import Outcome
from agent.web.extract.extraction import Extraction
from agent.web.extract.formats import text_documents
from agent.web.extract.formats.text_documents import extract_docx, extract_odt, extract_rtf
from tests.agent.web.extract.sample_documents import RELATIONS, RTF, WORDS, make_docx, make_odt, zip_parts

HOSTILE, LARGE = "no program writes one", "more text than"


def refusal(data: bytes) -> str:
    reading = extract_docx(data)
    assert reading.outcome is not Outcome.OK and not reading.text
    return reading.detail


def read(data: bytes) -> Extraction:
    reading = extract_docx(data)
    assert reading.outcome is Outcome.OK
    return reading


def with_main_part(document: bytes) -> bytes:
    """The sample with another main part."""
    with zipfile.ZipFile(io.BytesIO(make_docx())) as source:
        held = {name: source.read(name) for name in source.namelist()}
    return zip_parts(held | {"word/document.xml": document})


def renamed(target: str, document: bytes) -> bytes:
    """A document whose main part has another name than Word's."""
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
    own = f'<Relationships xmlns="{RELATIONS}"><Relationship Id="r1" Type="{kind}" Target="{target}"/></Relationships>'
    return zip_parts({"_rels/.rels": own.encode(), "word/document.xml": b"<w/>", target: document})


def test_a_word_document_with_entities_is_not_opened():
    bomb = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "' + "x" * 100 + '">]><a>&b;&b;</a>'
    for encoding in ("utf-8", "utf-16"):
        assert HOSTILE in refusal(with_main_part(bomb.encode(encoding)))


@pytest.mark.parametrize("target", ["word/evil.bin", "word/media/evil.png", "evil", "word/media/evil.svg"])
def test_a_part_is_judged_whatever_its_name_and_place(target):
    said = f'<w:document xmlns:w="{WORDS}"><w:body><w:p><w:r><w:t>%s</w:t></w:r></w:p></w:body></w:document>'
    assert "Herons" in read(renamed(target, (said % "Herons").encode())).text, "a reader does look there"
    for begin in ("", "\n" * 2_000):
        entity = begin + '<!DOCTYPE a [<!ENTITY b "Herons">]>' + said % "&b;"
        assert HOSTILE in refusal(renamed(target, entity.encode()))
    assert HOSTILE in refusal(renamed(target, (said % ("Herons" + " " * 3_000_000)).encode()))


def test_a_word_document_that_explodes_is_not_opened():
    assert HOSTILE in refusal(with_main_part(b"<a>" + b" " * 3_000_000 + b"</a>"))
    read = replace(text_documents.WORD, max_xml=1_000).reader(extract_docx.__wrapped__)
    assert (reading := read(make_docx())).outcome is Outcome.TOO_LARGE
    assert LARGE in reading.detail and not reading.text


BODY = (
    "<text:tracked-changes><text:deletion><text:p>Struck out.</text:p></text:deletion></text:tracked-changes>"
    "<text:table-of-content><text:index-body><text:p>Moorings 3</text:p></text:index-body></text:table-of-content>"
    '<text:h text:outline-level="1">Harbour</text:h>'
    "<text:p>Boats<text:s/>over <text:span>twelve</text:span> metres<text:note><text:note-citation>1</text:note-citation>"
    "<text:note-body><text:p>Measured at the water.</text:p></text:note-body></text:note> pay "
    '<text:a xlink:href="https://fees.example/list">a fee</text:a>.<text:line-break/>Others do not.</text:p>'
    '<text:h text:outline-level="2">Moorings</text:h>'
    "<text:list><text:list-item><text:p>North pier</text:p><text:list><text:list-item><text:p>Berth 4</text:p>"
    "</text:list-item></text:list></text:list-item></text:list>"
    "<table:table><table:table-header-rows><table:table-row><table:table-cell><text:p>pier</text:p></table:table-cell>"
    "<table:table-cell><text:p>depth</text:p></table:table-cell></table:table-row></table:table-header-rows>"
    '<table:table-row table:number-rows-repeated="2"><table:table-cell table:number-columns-repeated="2"><text:p>4 m</text:p>'
    '</table:table-cell></table:table-row><table:table-row table:number-rows-repeated="1048576"><table:table-cell '
    'table:number-columns-repeated="16384"/></table:table-row></table:table>'
)


def test_structure_notes_and_links_are_kept() -> None:
    reading = extract_odt(make_odt(BODY))
    assert (reading.title, reading.author, reading.published_at) == (
        "Harbour rules",
        "Ada Lehm",
        "2021-05-06",
    )
    assert reading.text == (
        "Harbour\n\nBoats over twelve metres[1] pay a fee.\nOthers do not.\n\nMoorings\n\nNorth pier\n\nBerth 4\n\n"
        "pier | depth\n4 m | 4 m\n4 m | 4 m\n\n[1] Measured at the water."
    )
    assert [(h.level, h.text) for h in reading.headings] == [(1, "Harbour"), (2, "Moorings")]
    assert [block.kind for block in reading.blocks] == ["paragraph", "item", "item", "item"]
    assert reading.tables[0].rows == [["pier", "depth"], ["4 m", "4 m"], ["4 m", "4 m"]]
    assert [(link.url, link.text) for link in reading.links] == [("https://fees.example/list", "a fee")]


def test_a_locked_an_empty_and_a_damaged_text_are_told_apart() -> None:
    manifest = "<manifest><file-entry><encryption-data/></file-entry></manifest>"
    assert "password" in extract_odt(make_odt(BODY, **{"META-INF/manifest.xml": manifest})).detail
    assert "no text" in extract_odt(make_odt("<text:p/>")).detail
    assert "damaged" in extract_odt(make_odt("<text:p>")).detail
    assert extract_odt(make_odt("<text:p>" * 2_000 + "</text:p>" * 2_000)).outcome is Outcome.UNSUPPORTED


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
