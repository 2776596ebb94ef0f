"""Where a text sends people is found in every form that chats turn into a link, and plain writing is left
alone."""

from __future__ import annotations

import pytest

from agent.text.contact_info import find_contacts, is_external_contact, remove_mass_mentions


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see https://evil.example/x?q=1, for it.", ["https://evil.example/x?q=1"]),
        ("mail a.b@c.example.org!", ["a.b@c.example.org"]),
        ("ask @bob and <@12> in <#33>", ["@bob", "<@12>", "<#33>"]),
        ("[x](javascript:alert) ![y](ftp://e.example/z)", ["javascript:alert", "ftp://e.example/z"]),
        ("www.e.example", ["www.e.example"]),
        ("mailto:x@y.example tel:12345", ["mailto:x@y.example", "tel:12345"]),
    ],
)
def test_contacts_are_found_and_lead_away(text: str, found: list[str]) -> None:
    assert find_contacts(text) == found and all(is_external_contact(contact) for contact in found)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "at 12:30, ratio 3:4, version 3.11",
        "Note: this. And that.",
        "e.g. so, i.e. thus",
        "C: and D:",
        "a @ b",
    ],
)
def test_plain_writing_holds_none(text: str) -> None:
    assert find_contacts(text) == []


def test_a_name_with_a_dot_is_found_but_leads_nowhere() -> None:
    assert find_contacts("open config.yaml or example.org/x") == ["config.yaml", "example.org/x"]
    assert not is_external_contact("config.yaml") and not is_external_contact("example.org/x")


def test_a_whole_channel_is_never_called() -> None:
    assert (
        remove_mass_mentions("@everyone and @Here, ask @hereford or a@all.example")
        == "everyone and Here, ask @hereford or a@all.example"
    )


def test_a_long_run_of_one_sign_is_walked_once() -> None:
    for sign in "a1.-+":
        assert find_contacts(f"anna@example.org {sign * 300_000}") == ["anna@example.org"]
