"""Passages: windows of a page whose offsets are the page's own; table rows with their header."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.retrieval.passages import PASSAGE_CHARS, PASSAGE_ROWS, split_passages
from agent.types import Heading, Outcome, Page, Passage, Table


def page(text: str, **more) -> Page:
    return Page(
        url="https://a.example/x", final_url="https://a.example/y", outcome=Outcome.OK, text=text, **more
    )


@st.composite
def pages(draw) -> Page:
    text = draw(
        st.text(alphabet=st.sampled_from("aB c. \n|;。あД\u00a0"), max_size=3000) | st.text(max_size=300)
    )
    place = st.integers(0, len(text) + 5)
    headings = [
        Heading(start=at, level=draw(st.integers(1, 6)), text=f"H{at}")
        for at in sorted(draw(st.lists(place, max_size=5)))
    ]
    tables = [
        Table(start=draw(place), end=draw(place), rows=[["a", "b"]] * draw(st.integers(0, 1)))
        for _ in range(draw(st.integers(0, 3)))
    ]
    return page(text, headings=headings, tables=tables)


@given(pages())
@settings(max_examples=150)
def test_offsets_are_the_pages_own_and_nothing_but_blanks_is_left_out(page: Page) -> None:
    found = split_passages(page, "p1")
    at = 0
    for passage in found:
        assert page.text[passage.start : passage.end] == passage.text and passage.text.strip()
        assert passage.start >= at and not page.text[at : passage.start].strip()
        at = passage.end
    assert not page.text[at:].strip()
    assert len({passage.id for passage in found}) == len(found)
    assert found == split_passages(page, "p1")


def test_a_passage_says_where_it_stands() -> None:
    text = (
        "Heron House\n\nHistory\n\nIt was built in 1907.\n\nEarly years\n\nIt stood empty.\n\nVisit\n\nOpen "
        "daily."
    )
    marks = [(1, "Heron House"), (2, "History"), (3, "Early years"), (2, "Visit")]
    headings = [Heading(start=text.index(name), level=level, text=name) for level, name in marks]
    found = split_passages(page(text, title="Heron House", headings=headings), "p1")
    assert [passage.heading for passage in found] == ["", "History", "History › Early years", "Visit"]
    first = found[0]
    assert (first.id, first.page_id, first.url, first.title, first.rows) == (
        "p1:0",
        "p1",
        "https://a.example/y",
        "Heron House",
        False,
    )


def test_windows_close_at_the_end_of_a_sentence() -> None:
    found = split_passages(page("The heron stands in the water and waits for a fish. " * 100), "p")
    assert len(found) > 4 and all(
        len(passage.text) <= PASSAGE_CHARS and passage.text.endswith(".") for passage in found
    )


def test_table_rows_come_in_groups_under_their_header_row() -> None:
    rows = [["Lake", "Depth"], *([f"Lake {n}", f"{n} m"] for n in range(20))]
    lines = "\n".join(" | ".join(row) for row in rows)
    text = f"Lakes of the north.\n{lines}\nAfter the table."
    start = text.index("Lake | Depth")
    found = split_passages(page(text, tables=[Table(start=start, end=start + len(lines), rows=rows)]), "p")
    assert [passage.rows for passage in found] == [False, True, True, True, False]
    assert all(
        passage.label == "Lake | Depth" and passage.text.count("\n") < PASSAGE_ROWS
        for passage in found
        if passage.rows
    )
    assert found[-1].text == "After the table."


def test_rows_of_a_table_without_header_row_stand_under_the_heading_above() -> None:
    text = "Heron\n\nTechnical data\n\nWeight | 310 g\nPrice | 90 kr"
    table = Table(
        start=text.index("Weight"),
        end=len(text),
        rows=[["Weight", "310 g"], ["Price", "90 kr"]],
        headed=False,
    )
    marks = [Heading(start=text.index("Technical"), level=2, text="Technical data")]
    found = split_passages(page(text, tables=[table], headings=marks), "p")
    assert [(passage.heading, passage.rows) for passage in found][-1] == ("Technical data", True)
    unmarked = table.model_copy(update={"headed": True})
    assert (
        split_passages(page(text, tables=[unmarked], headings=marks), "p")[-1].heading == "Technical data"
    ), "a figure is no column's name"
    years = table.model_copy(update={"headed": True, "rows": [["Lake", "2025"], ["Gran", "40 m"]]})
    assert split_passages(page(text, tables=[years], headings=marks), "p")[-1].label == "Lake | 2025"


def test_a_table_without_rows_takes_its_first_line_for_header_and_a_false_one_is_prose() -> None:
    text = "Lake | Depth\nGran | 40 m"
    assert [
        passage.label for passage in split_passages(page(text, tables=[Table(start=0, end=len(text))]), "p")
    ] == ["Lake | Depth"]
    assert [
        passage.rows for passage in split_passages(page(text, tables=[Table(start=3, end=999)]), "p")
    ] == [False]


def test_of_an_endless_page_the_beginning_is_looked_at() -> None:
    found: list[Passage] = split_passages(page("word " * 100), "p", longest=50)
    assert found and found[-1].end <= 50
