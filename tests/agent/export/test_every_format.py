"""Every format, read by a parser that is not ours: the same sources come back whatever strangers wrote, nothing of
it becomes markup, and the blocks of an answer keep their shape."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import re
import zipfile
from collections.abc import Callable
from urllib.parse import unquote

import bibtexparser
import html5lib
import networkx as nx
import pandas as pd
import pytest
import rispy
from docx import Document
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree
from markdown_it import MarkdownIt
from markdown_it.token import Token

from agent.evidence.report_words import words_for
from agent.export.graph import render_graphml
from agent.export.markdown import render_evidence_markdown, render_markdown
from agent.export.plain import render_plain_text
from agent.export.record import build_run_record
from agent.export.references import collect_references, render_bibtex, render_csl, render_ris
from agent.export.report import Report
from agent.export.sheets import FACT_COLUMNS, PAGE_COLUMNS, render_facts_csv, render_pages_csv
from agent.export.webpage import render_html
from agent.export.word import render_docx
from agent.types import Answer, PageRef, PlanPart, Run, Settings
from tests.agent.export.tex import read_tex, straight
from tests.records import fill
from tests.web import block_answers
from tests.web.block_answers import HEADING, HEADS, ITEM, LEAD, METHOD, SECOND
from tests.web.reports import EVIL, TITLES, make_report, report

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
NOT_FOUND, UNJUDGED = (words_for("")[name] for name in ("part_not_found", "unjudged"))
FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")
HTML_TAGS = set(
    "html head meta title style body main h1 h2 h3 p code ul ol li div span sup a b em blockquote mark table caption "
    "tbody tr th td footer".split()
)
MARKUP = {"image", "html_inline", "html_block", "code_block", "fence", "hr", "s_open"}
hostile = st.text(
    st.sampled_from("{}[]()\\%&$#_~^|<>\"'`,=@!+-:/.* abÄ東\n\r\t\x00\x0b\u202e\ufffe")
    | st.characters(codec="utf-8"),
    max_size=30,
)


def tokens(text: str) -> list[Token]:
    return [t for block in PARSER.parse(text) for t in (block, *(block.children or ()))]


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def read_html(text: str) -> etree._Element:
    parser = html5lib.HTMLParser(strict=False, namespaceHTMLElements=False)
    document = parser.parse(text)
    assert not parser.errors, parser.errors[:3]
    return document


def read_word(given: Report) -> list[str]:
    with zipfile.ZipFile(io.BytesIO(render_docx(given))) as archive:
        rels = etree.fromstring(archive.read("word/_rels/document.xml.rels"))
    outside = [rel for rel in rels if rel.get("TargetMode") == "External"]
    assert all(rel.get("Type").endswith("/hyperlink") for rel in outside), "nothing is loaded"
    return [rel.get("Target") for rel in outside]


def list_links(text: str) -> list[str]:
    return [str(t.attrs["href"]) for t in tokens(text) if t.type == "link_open"]


def read_web_links(given: Report) -> list[str]:
    links = [a.get("href") for a in read_html(render_html(given)).iter("a")]
    return [link for link in links if not link.startswith("#source-")]


CITED: dict[str, Callable[[Report], list[str]]] = {
    "md": lambda given: list_links(render_markdown(given)),
    "html": read_web_links,
    "docx": read_word,
}
"""The addresses of the sources that are cited, as a format's reader finds them."""
ALL: dict[str, Callable[[Report], list[tuple[str, str]]]] = {
    "bib": lambda given: [
        (read_tex(entry["title"]), entry["url"])
        for entry in bibtexparser.parse_string(render_bibtex(collect_references(given))).entries
        if "url" in entry.fields_dict
    ],
    "ris": lambda given: [
        (entry["title"], entry["urls"][0])
        for entry in rispy.loads(render_ris(collect_references(given)))
        if "urls" in entry
    ],
    "csl": lambda given: [
        (item["title"], item["URL"])
        for item in json.loads(render_csl(collect_references(given)))
        if "URL" in item
    ],
    "json": lambda given: [(one["title"], one["url"]) for one in build_run_record(given)["sources"][:-1]],
    "graphml": lambda given: [
        (node["label"], node["url"])
        for _, node in nx.read_graphml(io.BytesIO(render_graphml(given))).nodes(data=True)
        if node["kind"] == "page" and node["cited"]
    ],
    "pages.csv": lambda given: [
        (row["title"], row["url"]) for row in rows(render_pages_csv(given)) if row["cited as"]
    ],
}
"""Title and address of every source with an address, as a format's reader finds them."""


def letters(text: str) -> str:
    """A title without what a format may not hold or lays out anew: blanks, controls, quotes that TeX curls."""
    return re.sub(
        r"[\s\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffe\uffff']",
        "",
        straight(text),
    )


@pytest.mark.parametrize("name", ALL)
def test_every_source_comes_back_with_its_title_and_address(name: str) -> None:
    found = ALL[name](report())
    assert [unquote(url) for _, url in found] == [unquote(page.url) for page in report().pages[:-1]]
    for (shown, url), title in zip(found, TITLES, strict=True):
        assert letters(shown) in (letters(title), letters(url) if not title else ""), (
            "the address without a title"
        )


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.lists(hostile, min_size=1, max_size=3), hostile)
def test_no_text_of_a_stranger_breaks_a_format_or_becomes_markup(titles: list[str], evil: str) -> None:
    made = report(titles, evil)
    addresses = [unquote(page.url) for page in made.pages[:-1]]
    for name, read in ALL.items():
        assert [unquote(url) for _, url in read(made)] == addresses, name
    for name, read_cited in CITED.items():
        assert [unquote(url) for url in read_cited(made)] == addresses[:2], name
    for render in (render_markdown, render_evidence_markdown):
        assert not {t.type for t in tokens(render(made))} & MARKUP
        assert all(
            link.startswith(("https://site", "https://gone.example", "#"))
            for link in list_links(render(made))
        )
    elements = [one for one in read_html(render_html(made)).iter() if isinstance(one.tag, str)]
    assert {one.tag for one in elements} <= HTML_TAGS
    assert {key for one in elements for key in one.attrib} <= set(
        "lang charset http-equiv content name id class href rel aria-label scope tabindex value".split()
    )
    for table in (render_facts_csv, render_pages_csv):
        cells = [cell for row in rows(table(made)) for cell in row.values()]
        cells += [
            cell for row in csv.reader(io.StringIO(table(made), newline=""), delimiter=";") for cell in row
        ]
        assert not [cell for cell in cells if cell.startswith(FORMULAS)]
    assert b"<!DOCTYPE" not in render_graphml(made) and render_graphml(made) == render_graphml(made)


def test_tables_have_a_row_for_each_fact_and_page() -> None:
    facts, pages = rows(render_facts_csv(report())), rows(render_pages_csv(report()))
    assert (tuple(facts[0]), tuple(pages[0])) == (FACT_COLUMNS, PAGE_COLUMNS)
    assert (len(facts), len(pages)) == (len(TITLES), len(TITLES) + 1)
    assert (facts[2]["quote"], facts[2]["cited as"], facts[2]["site"]) == (
        "The answer 3 is 21 cows.",
        "3",
        "site3.example",
    )
    assert (facts[0]["subject"], facts[0]["verified"], pages[0]["author"]) == (
        "'@cows",
        "yes",
        "Åsa Öberg, B. Lee",
    )
    assert (pages[-1]["outcome"], pages[-1]["characters"]) == ("not_found", "")
    assert len(pd.read_csv(io.StringIO(render_facts_csv(report())), dtype=str)) == len(TITLES)


def test_the_graph_tells_what_led_to_what() -> None:
    linked = [
        fill(
            PageRef,
            url="https://a.example/",
            links=["https://b.example/", "https://unknown.example/"],
            step=2,
        ),
        fill(PageRef, url="https://b.example/"),
    ]
    graph = nx.read_graphml(io.BytesIO(render_graphml(dataclasses.replace(report(["x"]), pages=linked))))
    assert graph.edges["https://a.example/", "https://b.example/"]["found"] is False
    assert "https://unknown.example/" not in graph and graph.nodes["search: cows"]["step"] == 1
    assert graph.nodes["https://a.example/"]["step"] == 2, "as a person counts"
    full = nx.read_graphml(io.BytesIO(render_graphml(report())))
    assert all(node == "question" or full.in_degree(node) for node in full), "each was found somewhere"
    assert full.nodes["https://gone.example/"]["read"] is False


# --- blocks of an answer


def written(answer: Answer, *former: Answer, question: str = "Which kiln burns most?") -> Report:
    run = fill(Run, id="r1", question=question, status="review", settings=Settings())
    return make_report(run=run, answer=answer, former_answers=former)


def test_markdown_keeps_headings_list_table_and_numbered_references() -> None:
    text = render_markdown(written(block_answers.answer()))
    parsed = PARSER.parse(text)
    heads = [parsed[n + 1].content for n, t in enumerate(parsed) if t.type == "heading_open"]
    assert heads == ["Three kilns", HEADING, "Method", "References"]
    assert f"{LEAD} [1] {SECOND} [1]" in text and f"- {ITEM} [1]" in text and METHOD in text
    assert "| **Lunde** | 1934 | *not found* | 55 [2] |" in text and f"| {' | '.join(HEADS)} |" in text
    assert "- [1] *The kilns*. kiln.example." in text and "- [2] *Burning*" in text
    assert not [word for word in ("quoted", "judged", "verdict", "f1", "confidence") if word in text.lower()]


def test_the_web_page_keeps_them_and_draws_the_chart() -> None:
    page = read_html(render_html(written(block_answers.answer(charts=True))))
    texts = lambda tag: ["".join(e.itertext()) for e in page.iter(tag)]  # noqa: E731
    assert texts("h1") == ["Three kilns"] and {HEADING, "Method", "References"} <= set(texts("h2"))
    assert f"{ITEM} [1]" in texts("li") and texts("th")[:4] == HEADS
    assert {"not found", "1934"} <= set(texts("td")) and texts("figcaption") == [
        "The three kilns · Output (t)"
    ]
    picture = next(e for e in page.iter() if e.get("role") == "img")
    assert picture.get("aria-label") == "Østby: 40, Lunde: 55, Myra: 70"


def test_word_keeps_them_and_has_the_picture_of_the_chart() -> None:
    document = Document(io.BytesIO(render_docx(written(block_answers.answer(charts=True)))))
    styles = {p.text: p.style.name for p in document.paragraphs}
    assert (styles["Three kilns"], styles[HEADING], styles[f"{ITEM} [1]"]) == (
        "Title",
        "Heading 1",
        "List Bullet",
    )
    cells = [[cell.text for cell in row.cells] for row in document.tables[0].rows]
    assert cells[0] == HEADS and cells[2] == ["Lunde", "1934", "not found", "55 [2]"]
    assert len(document.inline_shapes) == 1
    assert document.core_properties.author == "Touchstone" and not document.core_properties.comments


def test_the_terminal_keeps_them() -> None:
    text = render_plain_text(block_answers.answer())
    assert f"## {HEADING}" in text and f"- {ITEM} [1]" in text and " | ".join(HEADS) in text
    assert "Lunde | 1934 [2] | not found | 55 [2]" in text and METHOD in text


def test_a_sentence_without_support_is_marked_and_an_empty_cell_is_told_in_the_questions_language() -> None:
    given = block_answers.answer()
    given.sentences[1] = given.sentences[1].replace(check="not_supported", backed=False)
    text = render_markdown(written(given))
    assert f"{SECOND} [1] *(not supported)*" in text and text.count("(not supported)") == 1
    for render in (render_markdown, render_evidence_markdown, render_html):
        told = render(written(block_answers.answer(), question="Wie alt sind die Öfen?"))
        assert "nicht gefunden" in told and "not found" not in told


def test_blocks_of_hostile_words_keep_their_shape() -> None:
    given = block_answers.answer(title=EVIL)
    blocks = [
        b.replace(text=EVIL, heads=[EVIL] * len(b.heads), row_labels=[EVIL] * len(b.row_labels))
        for b in given.blocks
    ]
    made = written(given.replace(blocks=blocks, sentences=[s.replace(text=EVIL) for s in given.sentences]))
    assert {one.tag for one in read_html(render_html(made)).iter() if isinstance(one.tag, str)} <= HTML_TAGS
    for render in (render_markdown, render_evidence_markdown):
        kinds = [t.type for t in tokens(render(made))]
        assert not set(kinds) & MARKUP and kinds.count("tr_open") >= 4
        assert not [link for link in list_links(render(made)) if "evil.example" in link]
    assert Document(io.BytesIO(render_docx(made))).tables


def passages(**more: object) -> Answer:
    """An answer without a model: a lead and a passage under its headings."""
    lead = block_answers.said("The kiln was built in 1921.", "lead", "f1", part="1")
    passage = block_answers.said(
        "Its chimney came later.", "passage", "f2", part="1", heading="History › Chimney"
    )
    return block_answers.passages(lead, passage, **more)


def test_passages_that_no_model_judged_say_so_and_stand_under_their_headings() -> None:
    made = written(passages())
    for render in (render_markdown, render_html):
        assert UNJUDGED in render(made) and "The kiln was built in 1921." in render(made)
    assert '<span class="path">History › Chimney</span> Its chimney came later.' in render_html(made)
    paragraphs = Document(io.BytesIO(render_docx(made))).paragraphs
    assert next(p for p in paragraphs if p.text.startswith("The kiln")).runs[0].bold
    assert [block["role"] for block in build_run_record(made)["blocks"]] == ["lead", "passage"]
    earlier = render_evidence_markdown(written(passages(), passages())).split("## Earlier answers")[1]
    assert "**The kiln was built in 1921.**" in earlier and "](#" not in earlier, (
        "the sources are the newest's"
    )


@pytest.mark.parametrize(
    "render", [render_evidence_markdown, render_html, lambda made: render_plain_text(made.answer)]
)
def test_a_part_that_was_not_found_says_so_below_its_question(render: Callable[[Report], str]) -> None:
    parts = [
        PlanPart(id="1", question="When was it built?", status="found"),
        PlanPart(id="2", question="Who fires it?", status="not_found"),
    ]
    text = render(written(passages(parts=parts)))
    told = ("When was it built?", "The kiln was built", "Its chimney", "Who fires it?", NOT_FOUND)
    places = [text.index(part) for part in told]
    assert places == sorted(places)
