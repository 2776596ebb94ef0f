"""Plain text: wrapped lines joined, titles found."""

from __future__ import annotations

from textwrap import fill
from time import process_time

from agent.web.extract.extraction import Extraction
from agent.web.extract.plain_text import extract_plain_text

PROSE = "The kiln is fired slowly at first, because clay that is still wet cracks when water boils inside it."


def read(text: str) -> Extraction:
    return extract_plain_text(text)


def test_wrapped_lines_are_joined_and_divided_words_whole() -> None:
    page = read(
        "The eﬃcient kiln is fired slowly at first, because wet clay will cr-\r\nack when it boils.\r\n\r\nEnd"
    )
    assert page.text == (
        "The efficient kiln is fired slowly at first, because wet clay will crack when it boils.\n\nEnd"
    )
    assert page.title == ""


def test_underlined_titles_are_headings_and_their_lines_go() -> None:
    page = read(f"Kilns\n=====\n\n{fill(PROSE, 60)}\n\n  Clay\n  ----\n{PROSE}\nname | heat\n-----------\n")
    assert [(h.level, h.text) for h in page.headings] == [(1, "Kilns"), (2, "Clay")]
    assert all(page.text.startswith(h.text, h.start) for h in page.headings)
    assert "=" not in page.text and page.title == "Kilns" and "name | heat\n-----------" in page.text


def test_addresses_are_links_even_where_lines_are_joined() -> None:
    assert [link.url for link in read("See https://kiln.example/a.").links] == ["https://kiln.example/a"]


def test_json_keeps_its_lines() -> None:
    source = '{"name": "a kiln that is fired with wood from the hills",\n"heat": 1300}'
    assert read(source).text == source


def test_a_long_line_of_dots_is_read_at_once() -> None:
    """The pattern for lines of contents took half a minute for it."""
    started = process_time()
    assert extract_plain_text(f"Before\n\n{'.' * 20_000}\n\nAfter").text.startswith("Before")
    assert process_time() - started < 2
