"""A statement is compared as a whole, clause by clause, and a table row cell by cell."""

from __future__ import annotations

from agent.evidence.contradiction import comparable_forms, read_cells


def test_prose_is_compared_whole_and_by_the_clauses_that_add_a_value():
    text = "The old dairy was founded in 1974, in a barn, and employs 40 people, who like it."
    assert comparable_forms(text) == (
        text,
        "The old dairy was founded in 1974",
        "The old dairy was founded in 1974, in a barn, and employs 40 people",
    )
    assert comparable_forms("It rains.") == ("It rains.",)


def test_each_cell_of_a_row_is_a_sentence_about_its_first_cell():
    row = "Dairy: Nordvik; Founded: 1923; Known for: brown cheese"
    assert comparable_forms(row) == ("Nordvik, founded: 1923", "Nordvik, known for: brown cheese")
    assert not read_cells("He said: it rains; she did not.")
