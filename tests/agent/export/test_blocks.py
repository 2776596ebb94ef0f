"""The blocks of an answer in every format: headings, lists, tables and charts survive, and nothing that
strangers wrote becomes markup."""

from __future__ import annotations

import io

import html5lib
import pytest
from docx import Document
from markdown_it import MarkdownIt

from agent.export.markdown import render_evidence_markdown, render_markdown
from agent.export.plain import render_plain_text
from agent.export.report import Report
from agent.export.webpage import render_html
from agent.export.word import render_docx
from agent.types import Answer, Run, Settings
from tests.web import block_answers
from tests.web.block_answers import HEADING, HEADS, ITEM, LABELS, LEAD, METHOD, SECOND
from tests.web.reports import EVIL

SPACE = "{http://www.w3.org/1999/xhtml}"


def report(given: Answer) -> Report:
    run = Run(id="r1", question="Which kiln burns most?", status="review", settings=Settings())
    return Report(run=run, answer=given)


def table_rows(text: str) -> list[list[str]]:
    """The rows of the first table of a Markdown text, as plain text."""
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    rows, inside = list[list[str]](), False
    for n, token in enumerate(tokens):
        inside = inside or token.type == "table_open"
        if token.type == "table_close":
            return rows
        if inside and token.type == "tr_open":
            rows.append([])
        if inside and token.type in ("th_open", "td_open"):
            rows[-1].append("".join(c.content for c in tokens[n + 1].children or []))
    return rows


def test_markdown_holds_headings_list_table_and_numbered_references():
    text = render_markdown(report(block_answers.answer()))
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    heads = [tokens[n + 1].content for n, token in enumerate(tokens) if token.type == "heading_open"]
    assert heads == ["Three kilns", HEADING, "Method", "References"]
    assert f"{LEAD} [1] {SECOND} [1]" in text and f"- {ITEM} [1]" in text and METHOD in text
    assert table_rows(text)[0] == HEADS and table_rows(text)[2] == [
        "Lunde",
        "1934 [2]",
        "not found",
        "55 [2]",
    ]
    assert "1. *The kilns*. kiln.example." in text and "2. *Burning*" in text
    assert not [
        word for word in ("quoted", "judged", "verdict", "f1", "b1", "confidence") if word in text.lower()
    ]


def test_markdown_marks_what_its_sources_do_not_support():
    given = block_answers.answer()
    given.sentences[1] = given.sentences[1].replace(check="not_supported", backed=False)
    text = render_markdown(report(given))
    assert f"{SECOND} [1] *(not supported)*" in text and text.count("(not supported)") == 1


def test_the_web_page_holds_them_and_draws_the_chart():
    page = html5lib.parse(render_html(report(block_answers.answer(charts=True))))
    texts = lambda tag: ["".join(e.itertext()) for e in page.iter(f"{SPACE}{tag}")]  # noqa: E731
    assert texts("h1") == ["Three kilns"] and {HEADING, "Method", "References"} <= set(texts("h2"))
    assert f"{ITEM} [1]" in texts("li")
    assert texts("th")[:4] == HEADS and "not found" in texts("td") and "1934 [2]" in texts("td")
    assert texts("caption")[0] == "The three kilns" and texts("figcaption") == [
        "The three kilns · Output (t)"
    ]
    picture = next(page.iter("{http://www.w3.org/2000/svg}svg"))
    assert picture.get("aria-label") == "Østby: 40, Lunde: 55, Myra: 70"


def test_word_holds_them_and_the_picture_of_the_chart():
    document = Document(io.BytesIO(render_docx(report(block_answers.answer(charts=True)))))
    styles = {p.text: p.style.name for p in document.paragraphs}
    assert (
        styles[HEADING] == "Heading 1"
        and styles["Three kilns"] == "Title"
        and styles[f"{ITEM} [1]"] == "List Bullet"
    )
    rows = [[cell.text for cell in row.cells] for row in document.tables[0].rows]
    assert rows[0] == HEADS and rows[2] == ["Lunde", "1934 [2]", "not found", "55 [2]"]
    assert len(document.inline_shapes) == 1 and "The three kilns" in styles


def test_the_terminal_shows_them():
    text = render_plain_text(block_answers.answer())
    assert f"## {HEADING}" in text and f"- {ITEM} [1]" in text and " | ".join(HEADS) in text
    assert "Lunde | 1934 [2] | not found | 55 [2]" in text and METHOD in text


@pytest.mark.parametrize(
    "evil", [EVIL, "# Big | ![x](http://evil.example/p) <img src=x>\n\n[1]: http://evil.example"]
)
def test_hostile_headings_labels_and_cells_stay_text(evil: str):
    given = block_answers.answer(title=evil)
    blocks = [
        block.replace(text=evil, heads=[evil] * len(block.heads), row_labels=[evil] * len(block.row_labels))
        for block in given.blocks
    ]
    given = given.replace(blocks=blocks, sentences=[s.replace(text=evil) for s in given.sentences])
    page = html5lib.parse(render_html(report(given)))
    assert not list(page.iter(f"{SPACE}script")) and not list(page.iter(f"{SPACE}img"))
    for render in (render_markdown, render_evidence_markdown):
        text = render(report(given))
        tokens = MarkdownIt("commonmark").enable("table").parse(text)
        inner = [child for token in tokens for child in token.children or []]
        assert not [t for t in (*tokens, *inner) if t.type in ("image", "html_block", "html_inline")]
        links = [child.attrs["href"] for child in inner if child.type == "link_open"]
        assert not [link for link in links if "evil.example" in str(link)]
        assert len(table_rows(text)) == len(LABELS) + 1
    assert "Heading" in {
        p.style.name.split()[0] for p in Document(io.BytesIO(render_docx(report(given)))).paragraphs
    }
