"""Dated entries of a page, and the date that a page states of itself."""

from __future__ import annotations

from agent.types import Heading, Link
from agent.web.extract.dated_sections import LinkedText, find_own_date, find_sections
from tests.tables import by_table

TODAY = "2026-11-21"
NOTES = "- The lamp no longer flickers.\n- Ropes are counted twice."
MORE = "- Ferries know the tide now.\n- Faster start of the engine."


def read(text: str, *anchors: str, headings: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    links = [Link(url=f"https://a.example/{n}", text=anchor) for n, anchor in enumerate(anchors)]
    placed = [Heading(start=text.index(heading), level=2, text=heading) for heading in headings]
    found = find_sections(text, placed, LinkedText(links), TODAY)
    for entry in found:
        assert text[entry.start : entry.end].strip() == text[entry.start : entry.end]
    return [(entry.title, entry.date) for entry in found]


@by_table
def test_entries_with_their_dates(text: str, headings: tuple[str, ...], titles: list[str]) -> None:
    found = read(text, headings=headings)
    assert [title for title, _ in found] == titles
    assert [date[:10] for _, date in found] == ["2024-05-03", "2024-02-01"]


def test_a_list_of_links_has_no_entries_of_its_own() -> None:
    text = f"The ferry is late\n2024-05-03\n{NOTES}\n\nThe lamp is lit\n2024-02-01\n{MORE}"
    assert read(text) and not read(text, "The ferry is late", "The lamp is lit")


def test_dates_in_examples_divide_no_page() -> None:
    prose = "The clock of the tower is read by its keeper, who writes the day into a book. " * 20
    assert (
        read(
            f"{prose}\n\n>>> 2024-05-03\nok\n\n2024-02-01\nA line of an example that is long enough.\n2024-02-02\nB"
        )
        == []
    )


@by_table
def test_the_date_a_page_states_of_itself(text: str, wanted: str) -> None:
    assert find_own_date(text, TODAY) == wanted
