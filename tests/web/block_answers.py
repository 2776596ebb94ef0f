"""An answer in blocks, for the tests of what shows it."""

from __future__ import annotations

from collections.abc import Sequence

from agent.evidence.block_layout import add_charts, prune_blocks
from agent.evidence.report_words import words_for
from agent.text.question_analysis import format_question
from agent.types import Answer, AnswerBlock, PlanPart, Sentence, Source
from tests.records import fill

HEADS, LABELS = ["Kiln", "Built", "Chimneys", "Output (t)"], ["Østby", "Lunde", "Myra"]
TABLE = AnswerBlock(id="b4", kind="table", text="The three kilns", heads=HEADS, row_labels=LABELS)
CELLS = [["1921", "two", "40"], ["1934", "", "55"], ["1950", "one", "70"]]
LEAD, SECOND, ITEM = "Lunde burns most.", "It is the youngest but one.", "Coal came by boat."
HEADING, METHOD = "How they differ", "Two searches were made."
BLOCKS = [
    AnswerBlock(id="b1", kind="paragraph"),
    AnswerBlock(id="b2", kind="heading", text=HEADING),
    AnswerBlock(id="b3", kind="list"),
    TABLE,
    AnswerBlock(id="m1", kind="heading", text="Method", by_code=True),
    AnswerBlock(id="m2", kind="paragraph", by_code=True, lines=[METHOD]),
]


def said(text: str, block: str, name: str = "f1", **more: object) -> Sentence:
    """A supported sentence of a block."""
    return Sentence(text=text, block=block, fact_ids=[name], backed=True, check="quoted", **more)  # type: ignore[arg-type]


def cells(table: AnswerBlock = TABLE, texts: list[list[str]] = CELLS) -> list[Sentence]:
    """The cells of the table that hold something."""
    return [
        said(text, table.id, "f2", row=row, column=column, context=table.describe_cell(row, column))
        for row, line in enumerate(texts)
        for column, text in enumerate(line, start=1)
        if text
    ]


def answer(*, charts: bool = False, **more: object) -> Answer:
    """An answer with a paragraph, a heading, a list, a table, and what code wrote."""
    sentences = [said(LEAD, "b1"), said(SECOND, "b1"), said(ITEM, "b3"), *cells()]
    sources = [
        fill(Source, n=1, url="https://kiln.example/", title="The kilns", quotes=[LEAD], fact_ids=["f1"]),
        fill(
            Source,
            n=2,
            url="https://two.example/",
            title="Burning",
            quotes=["Østby has two."],
            fact_ids=["f2"],
        ),
    ]
    given = Answer(n=1, verdict="answered", sentences=sentences, sources=sources, blocks=BLOCKS, by="model")
    blocks = add_charts(BLOCKS, sentences) if charts else BLOCKS
    return given.replace(**{"blocks": blocks, "title": "Three kilns", "length": "full", **more})


def passages(
    *drafted: Sentence, parts: Sequence[PlanPart] = (), by: str = "keyless", **more: object
) -> Answer:
    """An answer of drafted quotes, each with its role in `block`, as the flows make it."""
    blocks, told = list[AnswerBlock](), list[Sentence]()
    for part in parts or [PlanPart(id="1", question="When was it built?")]:
        block = AnswerBlock(id=f"p{part.id}", part=part.id)
        found = [one for one in drafted if one.part == part.id]
        if parts:
            blocks.append(
                block.replace(
                    id=f"{block.id}h", kind="heading", role="lead", text=format_question(part.question)
                )
            )
        blocks += [
            block.replace(id=f"{block.id}lead", role="lead"),
            block.replace(kind="list", role="passage"),
        ]
        if not found:
            lines = [words_for("")["part_not_found"]]
            blocks.append(block.replace(id=f"{block.id}gap", role="gap", by_code=True, lines=lines))
        told += [one.replace(block=f"{block.id}lead" if one.block == "lead" else block.id) for one in found]
    blocks, told = prune_blocks(blocks, told)
    given = Answer(n=1, verdict="passages_found", blocks=blocks, sentences=told, parts=list(parts), by=by)  # type: ignore[arg-type]
    return given.replace(**more)
