"""Names that a claim brings together and its quotes do not."""

import pytest

from agent.evidence.claims.names import find_borrowed_names, find_joined_names
from agent.evidence.claims.words import read_text

BERG = "It was built by Lund Works to a plan of Nils Berg."
DALE = "It was planned by Kari Dale and built by Lund Works."
TITLES = ("North Mill, mills.example", "South Mill, mills.example")


def _find(
    claim: str, quotes: tuple[str, ...], sources: tuple[str, ...], nearby: tuple[str, ...] = ()
) -> list[str]:
    return [doubt.claimed for doubt in find_joined_names(read_text(claim), quotes, sources, nearby)]


@pytest.mark.parametrize(
    ("claim", "found"),
    [
        (
            "Nils Berg planned South Mill, and Kari Dale planned North Mill.",
            ["Nils Berg … South Mill", "Kari Dale … North Mill"],
        ),
        ("South Mill, a mill of brick, was planned by Nils Berg.", ["South Mill … Nils Berg"]),
        ("Nils Berg, the planner of South Mill, died young.", ["Nils Berg … South Mill"]),
        ("Nils Berg planned North Mill, and Kari Dale planned South Mill.", []),
        ("North Mill is older than South Mill.", []),
        ("Nils Berg, Kari Dale and others planned mills.", []),
    ],
)
def test_names_of_two_pages_in_one_clause_are_a_doubt(claim: str, found: list[str]) -> None:
    assert _find(claim, (BERG, DALE), TITLES) == found


def test_a_page_that_leads_to_the_other_joins_their_names() -> None:
    quotes = "The ferry is run by Lake Lines.", "Kari Dale founded it."
    claim = "Kari Dale founded the firm behind the Berg Ferry."
    assert _find(claim, quotes, ("The Berg Ferry, ferry.example", "About Lake Lines, lines.example")) == []
    assert _find(claim, quotes, ("The Berg Ferry, ferry.example", "About us, lines.example")) != []


def test_the_text_around_a_quote_joins_names() -> None:
    claim = "Nils Berg planned South Mill."
    assert _find(claim, (BERG, DALE), TITLES, ("", "South Mill follows a sketch of Nils Berg.")) == []


def test_a_name_of_the_same_kind_that_only_the_question_has_is_a_doubt() -> None:
    claim = read_text("South Mill was built by Lund Works.")
    asked = read_text("Who built South Mill?")
    found = find_borrowed_names(claim, asked, read_text("North Mill\n" + BERG))
    assert [(doubt.kind, doubt.claimed, doubt.quoted) for doubt in found] == [
        ("name", "South Mill", "North Mill")
    ]
    assert find_borrowed_names(claim, asked, read_text("South Mill\nNorth Mill\n" + BERG)) == []
    assert find_borrowed_names(claim, asked, read_text(BERG)) == []
