"""Word documents that are hostile, damaged or unusual."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace

import pytest

from agent.types import Outcome
from agent.web.extract.extraction import Extraction
from agent.web.extract.formats import docx
from tests.agent.web.extract.sample_documents import RELATIONS, WORDS, make_docx, zip_parts

pytestmark = pytest.mark.slow

HOSTILE, LARGE = "no program writes one", "more text than"


def refusal(data: bytes) -> str:
    reading = docx.extract_docx(data)
    assert reading.outcome is not Outcome.OK and not reading.text
    return reading.detail


def read(data: bytes) -> Extraction:
    reading = docx.extract_docx(data)
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


def test_a_word_document_that_explodes_is_not_opened(monkeypatch):
    assert HOSTILE in refusal(with_main_part(b"<a>" + b" " * 3_000_000 + b"</a>"))
    monkeypatch.setattr(docx, "KIND", replace(docx.KIND, max_xml=1_000))
    assert LARGE in refusal(make_docx())
