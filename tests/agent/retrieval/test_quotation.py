"""What a quotation is about, and how a table's row is told."""

from __future__ import annotations

import pytest

from agent.retrieval.answer import describe_row


@pytest.mark.parametrize(
    ("header", "row", "told"),
    [
        ("Ferry | Built | Yard", "Blue Heron | 1907 | Quill", "Ferry: Blue Heron; Built: 1907; Yard: Quill"),
        ("A | B", "1 | 2 | 3", "1 | 2 | 3"),
        ("A | B", "A | B", "A | B"),
        ("A", "1", "1"),
        ("A | ", "1 | 2", "A: 1; 2"),
        ("A | B", "1 | ", "A: 1"),
        ("Data", "Weight | 310 g", "Weight: 310 g"),
    ],
)
def test_a_row_is_told_with_its_header_where_that_fits(header: str, row: str, told: str) -> None:
    assert describe_row(header, row) == told
