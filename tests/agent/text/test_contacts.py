"""Which addresses, mailboxes and phone numbers a text keeps that a model worded."""

from __future__ import annotations

from agent.text.contacts import remove_unfounded_contacts
from tests.tables import by_table

KNOWN = ["https://mill.example/visit"]
QUOTE = "Write to desk@mill.example or call +44 20 7946 0958, see http://mill.example/map."


@by_table
def test_what_was_found_or_given_stays(text: str) -> None:
    assert remove_unfounded_contacts(text, KNOWN, QUOTE, "Is bakery.com open?") == text


@by_table
def test_what_nobody_gave_is_removed(text: str, left: str) -> None:
    assert remove_unfounded_contacts(text, KNOWN, QUOTE, "Is bakery.com open?") == left
