"""Names that neither quotes nor context give."""

import pytest

from agent.evidence.claims.names import find_other_names
from agent.evidence.claims.words import align, read_text


def _find(claim: str, quote: str, context: str = "") -> list[tuple[str, str]]:
    statement, quotes = read_text(claim), [read_text(quote)]
    found = find_other_names(statement, quotes, read_text(context), align(statement, quotes))
    return [(doubt.claimed, doubt.quoted) for doubt in found]


@pytest.mark.parametrize(
    ("claim", "quote", "found"),
    [
        (
            "Signe Wahlmark founded the dairy.",
            "Petra Vasshaug founded the dairy.",
            [("Signe Wahlmark", "Petra Vasshaug")],
        ),
        ("The dairy lies in Dale.", "The dairy lies in Berg.", [("Dale", "Berg")]),
        ("It was built by Anna Berg.", "It was built by Nils Berg.", [("Anna Berg", "Nils Berg")]),
        ("It joined the OECD.", "It joined the North Sea Dairy Union.", [("OECD", "North Sea Dairy Union")]),
    ],
)
def test_another_name_is_a_doubt(claim: str, quote: str, found: list[tuple[str, str]]) -> None:
    assert _find(claim, quote) == found


@pytest.mark.parametrize(
    ("claim", "quote", "context"),
    [
        ("It was built by Anna Berg.", "Berg built it.", ""),
        ("Anna Berg built it.", "She built it.", "Anna Berg – a life"),
        ("It joined the NSDU.", "It joined the North Sea Dairy Union.", ""),
        ("It joined the North Sea Dairy Union.", "It joined the NSDU.", ""),
        ("A Belgian club won.", "A club from Belgium won.", ""),
        ("Tim Lund won.", "Timothy Lund won.", ""),
        ("Cows graze there.", "The animals graze there.", ""),
        ("It fell in Q3 2020.", "It fell in the third quarter of 2020.", ""),
        ("Brindle Gear repairs it.", "We repair it.", "Repairs, brindlegear.example"),
        ("Die Molkerei hat eine Mühle.", "Zum Hof gehört auch ein Mahlwerk.", ""),
    ],
)
def test_a_name_in_another_form_is_none(claim: str, quote: str, context: str) -> None:
    assert _find(claim, quote, context) == []
