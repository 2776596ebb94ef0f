"""Tables as rows: spans, groups, captions, and what is no table at all."""

from __future__ import annotations

import pytest
from selectolax.lexbor import LexborHTMLParser

from agent.web.extract.text_blocks import TableGrid, parse_table
from tests.tables import by_table


def grid(html: str) -> TableGrid | None:
    return parse_table(LexborHTMLParser(html).css_first("table"))


def test_groups_are_read_in_order() -> None:
    found = grid(
        "<table><thead><tr><th>A<th>B</thead><tbody><tr><td>1<td>2</tbody><tfoot><tr><td>3<td>4</tfoot></table>"
    )
    assert found and found.rows == [["A", "B"], ["1", "2"], ["3", "4"]]


def test_what_spans_rows_stands_in_each_of_them() -> None:
    found = grid(
        "<table><tr><td>a<td rowspan=3>b<td>c<tr><td>d<td>e<tr><td>f<td>g<tr><td>h<td>i<td>j</table>"
    )
    assert found and found.rows == [["a", "b", "c"], ["d", "b", "e"], ["f", "b", "g"], ["h", "i", "j"]]


@pytest.mark.parametrize(
    "html",
    [
        "<table role=presentation><tr><td>a<td>b</table>",
        "<table><tr><td>one column</table>",
        "<table><tr><td>a<td><table><tr><td>x</table></table>",
        f"<table><tr><td>menu<td>{'prose ' * 300}</table>",
        "<table></table>",
    ],
)
def test_what_is_no_table(html: str) -> None:
    assert grid(html) is None


@by_table
def test_a_first_row_that_begins_with_its_own_name_names_no_columns(html: str, headed: bool) -> None:
    found = grid(f"<table>{html}</table>")
    assert found and found.headed is headed


def test_a_table_that_holds_the_title_of_its_page_is_layout() -> None:
    html = (
        "<table><tr><td colspan=2>The open roll</td></tr>"
        "<tr><td><a href='/'>Most viewed</a></td><td><h1>Search</h1><p>It lists 1,911 companies.</p></td></tr>"
        "<tr><td>Footer</td><td>Extracts for 75 kr.</td></tr></table>"
    )
    node = LexborHTMLParser(html).css_first("table")
    assert parse_table(node) is None
    plain = LexborHTMLParser(html.replace("h1>", "b>")).css_first("table")
    assert parse_table(plain) is not None
    named = "<table><caption><h1>Masses</h1></caption><tr><th>Part<th>kg<tr><td>Rod<td>2</table>"
    assert parse_table(LexborHTMLParser(named).css_first("table")) is not None
