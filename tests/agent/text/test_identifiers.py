"""The DOI of a work, as texts and addresses have it."""

from __future__ import annotations

import pytest

from agent.text.identifiers import find_doi


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
