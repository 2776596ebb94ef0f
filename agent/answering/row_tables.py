"""Tables that code lays out without a model: the rows of one table of a page, where several were found."""

from __future__ import annotations

from collections.abc import Mapping

from agent.evidence.citation_check import check_support, is_written_by_rule
from agent.evidence.contradiction.forms import read_cells
from agent.types import Answer, AnswerBlock, Fact, Sentence

MIN_ROWS, MAX_COLUMNS = 3, 8
"""Rows from which on they are shown as a table, and columns that fit on a page (our own judgement)."""


def tabulate_rows(answer: Answer, facts: Mapping[str, Fact]) -> tuple[list[AnswerBlock], list[Sentence]]:
    """The blocks and sentences of an answer of quotes in which a row of a page's table gives way to all its
    rows that are known, as a table with a cited cell for each value."""
    blocks, sentences = list(answer.blocks), list(answer.sentences)
    for k, rows in enumerate(_group_rows(facts), start=1):
        ids = {fact.id for fact in rows}
        shown = [said for said in sentences if said.block and said.fact_ids and ids >= set(said.fact_ids)]
        at = next((n for n, b in enumerate(blocks) if shown and b.id == shown[0].block), None)
        if at is None:
            continue
        pairs = [read_cells(fact.statement) for fact in rows]
        heads, labels = [name for name, _ in pairs[0]], [cells[0][1] for cells in pairs]
        part = blocks[at].part
        table = AnswerBlock(id=f"t{k}", kind="table", heads=heads, row_labels=labels, part=part)
        cells = [
            Sentence(
                text=value,
                fact_ids=[fact.id],
                part=part,
                block=table.id,
                row=n,
                column=column,
                context=table.describe_cell(n, column),
            )
            for n, (fact, line) in enumerate(zip(rows, pairs, strict=True))
            for column, (_, value) in enumerate(line[1:], start=1)
        ]
        place = sentences.index(shown[0])
        blocks.insert(at, table.replace(text=rows[0].title))
        sentences[place:place] = check_support(cells, facts)
        sentences = [said for said in sentences if said not in shown]
    return blocks, sentences


def _group_rows(facts: Mapping[str, Fact]) -> list[list[Fact]]:
    """The rows of each table in the order of its page, each thing once; only tables worth showing."""
    groups: dict[tuple[str, tuple[str, ...]], dict[str, Fact]] = {}
    for fact in sorted(facts.values(), key=lambda fact: (fact.page_id, fact.start)):
        cells = read_cells(fact.statement)
        if cells and fact.verified and fact.can_support and is_written_by_rule(fact):
            names = tuple(name for name, _ in cells)
            groups.setdefault((fact.page_id, names), {}).setdefault(cells[0][1], fact)
    return [
        list(rows.values())
        for (_, names), rows in groups.items()
        if len(rows) >= MIN_ROWS and len(names) <= MAX_COLUMNS
    ]
