"""The DOI of a work, as texts and addresses have it."""

from __future__ import annotations

from agent.text.identifiers import find_doi
from tests.tables import by_table


@by_table
def test_a_doi_is_found_in_a_text_and_in_an_address(text: str, doi: str) -> None:
    assert find_doi(text) == doi
