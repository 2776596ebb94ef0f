"""Codes, addresses, mailboxes and mentions in a text."""

from __future__ import annotations

import pytest

from agent.text.identifiers import (
    find_codes,
    find_contacts,
    find_doi,
    find_unmistakable_codes,
    is_external_contact,
    is_same_code,
    remove_mass_mentions,
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("What is E31?", ["e31"]),
        ("e-31 and ERR_404, then E31", ["e31", "err404"]),
        ("error 58", ["58"]),
        ("Fehler Nr. 12!", ["12"]),
        ("code E 70", ["70"]),
        ("rfc2119", ["rfc2119"]),
        ("in 2019 on port 7410, 30 days, 256 MB", []),
        ("", []),
        ("E31错误是什么意思", ["e31"]),
        ("x_e31 1e5", []),
    ],
)
def test_codes_are_spelled_one_way(text: str, found: list[str]) -> None:
    assert find_codes(text) == found


def test_what_might_be_a_word_is_not_marked() -> None:
    assert find_unmistakable_codes("mp3 ww2 h2o covid19 see you at 4pm") == [] and find_unmistakable_codes(
        "E31, err-404, error 58"
    ) == ["e31", "err404", "58"]


def test_a_bare_number_is_the_code_that_ends_in_it() -> None:
    assert (
        is_same_code("58", "e58")
        and is_same_code("e58", "e58")
        and not is_same_code("58", "e158")
        and not is_same_code("e58", "f58")
        and not is_same_code("e31", "e311")
    )


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


@pytest.mark.parametrize(
    ("text", "doi"),
    [
        ("https://doi.org/10.5555/Heron.12", "10.5555/heron.12"),
        ("https://publisher.example/doi/full/10.5555/heron.12?download=1#page", "10.5555/heron.12"),
        ("see doi:10.5555/12345678.", "10.5555/12345678"),
        ("(10.1002/(sici)1097)", "10.1002/(sici)1097"),
        ("version 10.5 / 12", ""),
        ("", ""),
    ],
)
def test_a_doi_is_found_in_a_text_and_in_an_address(text: str, doi: str) -> None:
    assert find_doi(text) == doi
