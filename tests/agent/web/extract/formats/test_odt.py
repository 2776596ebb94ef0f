"""OpenDocument texts: structure kept, what is deleted or commented left out."""

from __future__ import annotations

from agent.types import Outcome
from agent.web.extract.formats.odt import extract_odt
from tests.agent.web.extract.sample_documents import make_odt

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
