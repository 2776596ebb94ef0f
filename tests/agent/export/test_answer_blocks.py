"""An answer without a model in every format: a lead that stands out, passages as a list, gaps in their
place."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from bs4 import BeautifulSoup
from docx import Document

from agent.export.answer_blocks import ENGLISH_WORDS
from agent.export.markdown import render_evidence_markdown, render_markdown
from agent.export.plain import render_plain_text
from agent.export.record import build_run_record
from agent.export.report import Report
from agent.export.webpage import render_html
from agent.export.word import render_docx
from agent.types import Answer, PlanPart, Run, Sentence, Settings, Source
from tests.web import block_answers

NOT_FOUND, UNJUDGED_NOTE = map(ENGLISH_WORDS.get, ("part_not_found", "unjudged"))

ASKED = ["When was the kiln built?", "Who fires it?"]
LEAD, PASSAGE = "The kiln was built in 1921.", "Its chimney came two years later."


def placed(text: str, place: str, name: str, part: str = "1", heading: str = "") -> Sentence:
    return Sentence(
        text=text, block=place, part=part, heading=heading, fact_ids=[name], backed=True, check="quoted"
    )


def answer(*sentences: Sentence, parts: list[PlanPart] = (), **more) -> Answer:
    told = sentences or (
        placed(LEAD, "lead", "f1"),
        placed(PASSAGE, "passage", "f2", heading="History › Chimney"),
    )
    source = Source(
        n=1,
        url="https://kiln.example/",
        title="The kiln",
        quotes=[s.text for s in told],
        fact_ids=[s.fact_ids[0] for s in told],
    )
    return block_answers.passages(*told, parts=parts, sources=[source], **more)


def compound() -> Answer:
    parts = [
        PlanPart(id=str(n), question=asked, status=status)
        for n, (asked, status) in enumerate(zip(ASKED, ("found", "not_found"), strict=True), 1)
    ]
    return answer(parts=parts)


def report(given: Answer, *former: Answer) -> Report:
    run = Run(id="r1", question="When was the kiln built?", status="review", settings=Settings())
    return Report(run=run, answer=given, former_answers=former)


def test_the_web_page_lists_the_passages():
    soup = BeautifulSoup(render_html(report(answer())), "html.parser")
    assert soup.select_one("p.lead").text.startswith(LEAD)
    assert "History › Chimney Its chimney" in soup.select_one("p.lead + ul li").text
    assert UNJUDGED_NOTE in soup.text


def test_word_has_the_lead_in_its_own_paragraph():
    paragraphs = Document(io.BytesIO(render_docx(report(answer())))).paragraphs
    styles = {paragraph.text: paragraph.style.name for paragraph in paragraphs}
    lead = next(paragraph for paragraph in paragraphs if paragraph.text.startswith(LEAD))
    assert lead.runs[0].bold
    assert styles[f"History › Chimney: {PASSAGE} [1]"] == "List Bullet"


@pytest.mark.parametrize(
    "render", [render_evidence_markdown, render_html, lambda given: render_plain_text(given.answer)]
)
def test_a_part_that_was_not_found_says_so_below_its_question(render):
    text = render(report(compound()))
    places = [text.index(part) for part in (ASKED[0], LEAD, PASSAGE, ASKED[1], NOT_FOUND)]
    assert places == sorted(places)


def test_the_plain_document_says_that_no_model_judged_its_passages():
    assert UNJUDGED_NOTE in render_markdown(report(answer()))


def test_the_json_record_has_the_passages():
    record = build_run_record(report(answer()))
    assert record["answer"] == f"{LEAD} [1] {PASSAGE} [1]" and record["verdict"] == "passages_found"
    assert [block["role"] for block in record["blocks"]] == ["lead", "passage"]


def test_an_earlier_answer_has_the_same_shape_and_no_links():
    newest = answer(placed("Another.", "lead", "f9"))
    text = render_evidence_markdown(report(newest, answer())).split("## Earlier answers")[1]
    assert f"**{LEAD}** [1]" in text and "- **History › Chimney:**" in text


def test_an_empty_cell_says_so_in_the_language_of_the_question():
    run = Run(id="r1", question="Wie alt sind die Öfen?", status="review", settings=Settings())
    given = replace(report(block_answers.answer()), run=run)
    for render in (render_markdown, render_evidence_markdown, render_html):
        assert "nicht gefunden" in render(given) and "not found" not in render(given)
