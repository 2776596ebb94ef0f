"""Messages of mail archives by the form of their header."""

from __future__ import annotations

from agent.types import Link
from agent.web.extract.dated_sections import LinkedText
from agent.web.extract.forum_posts import find_message
from tests.tables import by_table

TODAY = "2026-11-21"
BODY = "The ferry leaves late again.\n\nCould somebody tell the harbour office?"
LINKS = [
    Link(url=f"https://a.example/{n}", text=text)
    for n, text in enumerate(["Next message", "Re: Ferry", "Index"])
]


def read(text: str) -> tuple[str, str, str] | None:
    found = find_message(text, LinkedText(LINKS), TODAY)
    if found is None:
        return None
    assert text[found.start : found.end] == found.text
    return found.user, found.date, found.text


@by_table
def test_sender_date_and_text_by_the_header(header: str, wanted: tuple[str, str]) -> None:
    assert read(f"[Index]\n\nFerry\n\n{header}\n\n{BODY}") == (*wanted, BODY)


def test_navigation_around_the_text_and_the_signature_are_no_part_of_it() -> None:
    head = "From: Ada Quill\nDate: 17 Nov 2009"
    tail = "References:\nRe: Ferry\nFrom: Bo\n\nPrev by Date: Re: Ferry\nIndex"
    assert read(f"{head}\n\nNext message\n\n{BODY}\n\n-- \nAda\n\n{tail}") == (
        "Ada Quill",
        "2009-11-17",
        BODY,
    )


def test_labels_above_and_between_links_are_navigation_in_an_archive_without_marks() -> None:
    head = "Ada Quill ada at a.example\nTue Nov 17 16:20:30 PST 2009"
    bar = "Previous message:\nRe: Ferry\nNext message: none\nMessages sorted by: [ Index ] [ Re: Ferry ]"
    assert read(f"{head}\n\n{bar}\n\n{BODY}\n\n{bar}") == ("Ada Quill", "2009-11-17T16:20", BODY)


@by_table
def test_what_is_no_message(text: str) -> None:
    assert read(text) is None
