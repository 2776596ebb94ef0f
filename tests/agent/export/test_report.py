"""What a copy to be read drops of an answer of which texts were withheld."""

from __future__ import annotations

from agent.export.document import build_paper
from agent.export.hiding import REDACTED
from agent.export.report import drop_withheld
from agent.types import Answer, AnswerBlock, Run, Sentence, Source
from tests.records import fill
from tests.web.reports import make_report

SOURCES = [fill(Source, n=n, url=f"https://{n}.example/", fact_ids=[f"f{n}"], quotes=["q"]) for n in (1, 2)]


def said(text: str, block: str, fact: str = "f1", **place: int) -> Sentence:
    return Sentence(text=text, block=block, fact_ids=[fact], check="judged_supported", backed=True, **place)


def test_a_withheld_sentence_goes_with_its_number_item_cell_and_heading() -> None:
    table = {"heads": ["Bridge", "Opened", "Length"], "row_labels": ["Varn", "Selm"]}
    blocks = [
        fill(AnswerBlock, id="b1", kind="heading", text=REDACTED),
        fill(AnswerBlock, id="b2", kind="list"),
        fill(AnswerBlock, id="b3", kind="table", **table),
    ]
    sentences = [
        said("Varn crosses the sound.", "b2"),
        said(REDACTED, "b2", "f2"),
        said("1931", "b3", row=0, column=1),
        said(REDACTED, "b3", "f2", row=0, column=2),
        said("80 metres", "b3", row=1, column=2),
    ]
    told = {"title": REDACTED, "certainty": REDACTED, "sources": SOURCES}
    answer = fill(Answer, n=1, verdict="answered", blocks=blocks, sentences=sentences, **told)
    left = drop_withheld(answer)
    assert left and [one.text for one in left.sentences] == ["Varn crosses the sound.", "1931", "80 metres"]
    assert [block.kind for block in left.blocks] == ["list", "table"] and not (left.title or left.certainty)
    report = make_report(run=fill(Run, id="r", question="Which?", status="review"), answer=answer)
    paper = str(build_paper(report.to_read))
    assert "80 metres" in paper and REDACTED not in paper and "2.example" not in paper


def test_an_answer_without_a_sentence_left_is_none() -> None:
    answer = Answer(n=1, verdict="answered", sentences=[said(REDACTED, "")])
    assert drop_withheld(answer) is None
    assert drop_withheld(Answer(n=1, verdict="no_evidence", certainty="None.")) is not None
