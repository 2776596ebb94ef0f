"""Which addresses, mailboxes and phone numbers a text keeps that a model worded."""

from __future__ import annotations

import pytest

from agent.text.contacts import remove_unfounded_contacts

KNOWN = ["https://mill.example/visit"]
QUOTE = "Write to desk@mill.example or call +44 20 7946 0958, see http://mill.example/map."


@pytest.mark.parametrize(
    "text",
    [
        "See https://mill.example/visit or mill.example/visit.",
        "Write to desk@mill.example or call +44 (20) 79460958, see http://mill.example/map.",
        "Run setup.cfg with Node.js, e.g. on debian-12.iso, from 05/06/2024, for +12 000 000 people.",
        "The mill at bakery.com or Bakery.Com is meant; mill.example too.",
    ],
)
def test_what_was_found_or_given_stays(text: str) -> None:
    assert remove_unfounded_contacts(text, KNOWN, QUOTE, "Is bakery.com open?") == text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Log in at https://evil.example/login now.", "Log in at [address removed] now."),
        ("Log in at evil.example/login.", "Log in at [address removed]."),
        ("Ask www.evil.example or evil.com!", "Ask [address removed] or [address removed]!"),
        ("Write to mailto:pay@evil.example.", "Write to [contact removed]."),
        ("Call 0900 123 456 or 555-010-4477.", "Call [contact removed] or [contact removed]."),
        ("Ask EVIL.EXAMPLE/x or Evil.Com.", "Ask [address removed] or [address removed]."),
        ("Ask ery.com or k@mill.example.", "Ask [address removed] or [contact removed]."),
        ("Call (555) 123-4567 or 1-800-555-1234.", "Call [contact removed] or [contact removed]."),
        ("Open [the form](https://evil.example/x).", "Open [the form]."),
    ],
)
def test_what_nobody_gave_is_removed(text: str, left: str) -> None:
    assert remove_unfounded_contacts(text, KNOWN, QUOTE, "Is bakery.com open?") == left
