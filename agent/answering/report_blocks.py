"""A writer's blocks as blocks of an answer and flat sentences, each of which is checked."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from agent.roles.report import ReportBlock, ReportSentence
from agent.types import AnswerBlock, Sentence

MAX_HEADING_WORDS = 14
"""Words of a heading, caption or label; what is longer states something, and is checked as a sentence (our
own judgement: headings of articles have about half of that)."""
NO_VALUE = frozenset({"", "-", "–", "—", "n/a", "na", "none", "null", "unknown", "not found", "?"})
"""Texts of a cell without facts that mean that nothing was found."""
_MARKUP = re.compile(r"^[#*_\s>|-]+|[*_\s|:]+$")


def lay_out_reply(
    blocks: Sequence[ReportBlock], clean: Callable[[str], str], *, prefix: str = "b"
) -> tuple[list[AnswerBlock], list[Sentence]]:
    """A writer's blocks, numbered behind `prefix`, and their sentences and cells in order. `clean` is applied
    to every text."""
    laid, sentences = list[AnswerBlock](), list[Sentence]()
    for n, block in enumerate(blocks, start=1):
        frame = AnswerBlock(id=f"{prefix}{n}", kind=block.kind, part=block.part)
        words, drafts = _MARKUP.sub("", clean(block.text)), list(block.sentences)
        is_label = len(words.split()) <= MAX_HEADING_WORDS
        if words and not (is_label and (drafts or block.kind in ("heading", "table"))):
            drafts.insert(0, ReportSentence(text=words))
        if block.kind == "table":
            is_repeated = bool(laid) and laid[-1].kind == "heading" and laid[-1].text == words
            title = words if is_label and not is_repeated else ""
            table, cells = _lay_out_table(block, frame.replace(text=title), clean)
            laid, sentences = [*laid, table], [*sentences, *cells]
        elif block.kind == "heading" and words and is_label:
            laid.append(frame.replace(text=words, level=min(max(block.level, 2), 3)))
        frame = frame.replace(id=f"{frame.id}p", kind="list" if block.kind == "list" else "paragraph")
        if lines := [line for line in (_place(draft, frame, clean) for draft in drafts) if line.text]:
            laid, sentences = [*laid, frame], [*sentences, *lines]
    return laid, sentences


def _place(draft: ReportSentence, block: AnswerBlock, clean: Callable[[str], str]) -> Sentence:
    return Sentence(text=clean(draft.text), fact_ids=draft.fact_ids, block=block.id, part=block.part)


def _lay_out_table(
    block: ReportBlock, table: AnswerBlock, clean: Callable[[str], str]
) -> tuple[AnswerBlock, list[Sentence]]:
    """The table with a head for every column, and its cells; one that says nothing is left empty."""
    wide = max((len(row.cells) for row in block.rows), default=0)
    heads = [clean_label(head, clean) for head in block.heads]
    heads = ["", *heads] if len(heads) <= wide else heads
    labels = [clean_label(row.label, clean) for row in block.rows]
    table = table.replace(heads=heads[: wide + 1], row_labels=labels)
    cells = [
        _place(cell, table, clean).replace(row=n, column=column, context=table.describe_cell(n, column))
        for n, row in enumerate(block.rows)
        for column, cell in enumerate(row.cells, start=1)
        if cell.fact_ids or cell.text.strip().casefold() not in NO_VALUE
    ]
    return table, [cell for cell in cells if cell.text]


def clean_label(text: str, clean: Callable[[str], str]) -> str:
    """A heading, or a label of a table, on one line without markup; of a longer one the beginning."""
    words = _MARKUP.sub("", clean(text)).split()
    return " ".join(words[:MAX_HEADING_WORDS])
