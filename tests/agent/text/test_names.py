"""Names, by their capitals and quotation marks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent.text.names import find_names
from tests.tables import by_table


@by_table
def test_names_each_once_in_order(text: str, found: list[str]) -> None:
    assert find_names(text) == found


def test_no_more_names_than_asked_for() -> None:
    text = ". ".join(f"It was Person{chr(65 + n)} Quill" for n in range(20)) + ' "one" "two" "three"'
    assert len(find_names(text, 2)) == 2 and len(find_names(text)) == 23


@given(st.text())
def test_any_text_gives_distinct_names_that_say_something(text: str) -> None:
    found = find_names(text)
    assert len(set(found)) == len(found) <= 40 and all(name.strip() for name in found)
