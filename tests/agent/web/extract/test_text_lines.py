"""What of a text its writer wrote, and which lines are navigation."""

from __future__ import annotations

from time import process_time

from agent.types import Link
from agent.web.extract.dated_sections import LinkedText, read_lines
from tests.tables import by_table

LINKED = LinkedText(
    [
        Link(url=f"https://a.example/{n}", text=text)
        for n, text in enumerate(["Date Index", "Re: Ferry", "the harbour"])
    ]
)


def keep(text: str) -> str:
    return "|".join(text[start:end] for start, end in LINKED.find_own_words(text))


def test_lists_and_rules_stay() -> None:
    text = "Two things:\n- the lamp\n- the rope\n\n-- and one more"
    assert keep(text) == text


@by_table
def test_navigation_is_a_line_of_links(line: str, is_navigation: bool) -> None:
    assert LINKED.is_navigation(line) is is_navigation


def test_lines_are_read_in_the_time_of_their_length() -> None:
    """A pattern took 5 s for 20,000 blanks."""
    text = f"  one  \n{' ' * 300_000}\n\ttwo{' ' * 300_000}\n"
    started = process_time()
    lines = list(read_lines(text))
    assert [text[line.start : line.end] for line in lines] == ["one", "two"] == [line.text for line in lines]
    assert process_time() - started < 1
