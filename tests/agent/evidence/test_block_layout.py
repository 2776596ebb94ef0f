"""What is left of the blocks of an answer when sentences fall, and the numbers that a chart draws."""

from __future__ import annotations

from agent.evidence.block_layout import (
    add_charts,
    label_passage,
    lay_out_blocks,
    prune_blocks,
    read_number,
    write_block_lines,
)
from agent.types import Answer, AnswerBlock, Sentence, Source
from tests.records import fill
from tests.tables import by_table
from tests.web import block_answers
from tests.web.block_answers import BLOCKS, LEAD, cells, said


def kept(*sentences: Sentence) -> tuple[list[AnswerBlock], list[Sentence]]:
    return prune_blocks(BLOCKS, sentences)


def test_a_heading_goes_with_all_that_stood_under_it():
    blocks, _ = kept(said(LEAD, "b1"))
    assert [block.id for block in blocks] == ["b1", "m1", "m2"]


def test_a_row_and_a_column_without_a_cell_go_and_the_others_move_up():
    left = [cell for cell in cells() if cell.row != 1 and cell.column != 2]
    blocks, sentences = kept(said(LEAD, "b1"), *left)
    table = next(block for block in blocks if block.kind == "table")
    assert (table.heads, table.row_labels) == (["Kiln", "Built", "Output (t)"], ["Østby", "Myra"])
    moved = {(cell.row, cell.column): cell.text for cell in sentences if cell.block == table.id}
    assert moved == {(0, 1): "1921", (0, 2): "40", (1, 1): "1950", (1, 2): "70"}
    assert all(cell.context == table.describe_cell(cell.row, cell.column) for cell in sentences[1:])


def test_the_chart_shows_the_first_column_of_supported_numbers():
    given = block_answers.answer(charts=True)
    chart = next(layout for layout in lay_out_blocks(given) if layout.block.kind == "chart")
    assert chart.block.heads == ["Kiln", "Output (t)"], "years of building are no series"
    assert chart.series == {"Output (t)": [("Østby", 40.0), ("Lunde", 55.0), ("Myra", 70.0)]}


def test_a_number_that_nothing_supports_is_not_drawn():
    doubtful = [cell.replace(backed=cell.text != "1934" and cell.text != "55") for cell in cells()]
    assert not any(block.kind == "chart" for block in add_charts(BLOCKS, doubtful))


@by_table
def test_the_number_of_a_cell(text: str, number: float | None):
    assert read_number(text) == number


def test_a_passage_is_labelled_by_its_headings_else_by_its_page():
    source = fill(Source, n=1, url="https://a.example/", title="Manual", fact_ids=["f1"])
    given = Answer(n=1, verdict="passages_found", sources=[source])
    assert label_passage(given, Sentence(text="More.", heading="Options › Output")) == "Options › Output"
    assert label_passage(given, Sentence(text="More.", fact_ids=["f1"])) == "Manual"
    assert label_passage(given, Sentence(text="More.", fact_ids=["f9"])) == ""


def test_an_empty_cell_says_that_nothing_was_found():
    lines = list(write_block_lines(block_answers.answer(), lambda s: s.text))
    assert "Lunde | 1934 | not found | 55" in lines
