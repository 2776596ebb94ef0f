"""Arithmetic on the quotes' figures, and whether the quote carries the rest of the claim."""

import pytest

from agent.evidence.claims.computed import find_computations, is_carried
from agent.evidence.claims.words import read_text
from tests.tables import by_table

BRIDGE = "The bridge was opened in 1961 and was closed in 1986."


def _compute(claim: str, *quotes: str) -> list[tuple[str, bool]]:
    statement = read_text(claim)
    found = find_computations(statement, [read_text(quote) for quote in quotes])
    return [(one.text, is_carried(statement, one)) for one in found]


@by_table
def test_a_figure_is_computed(claim: str, quotes: list[str], text: str, carried: bool) -> None:
    assert _compute(claim, *quotes) == [(text, carried)]


@pytest.mark.parametrize(
    "claim", ["The bridge was closed in 1986.", "It closed 35 years later.", "It was closed."]
)
def test_what_no_arithmetic_gives_has_no_computation(claim: str) -> None:
    assert _compute(claim, BRIDGE) == []


def test_of_many_figures_some_pair_gives_any_number_so_none_is_computed_unannounced() -> None:
    village = "Selm has 3 mills, 8 inns, 5 churches, 21 farms, 2 schools and 34 houses."
    assert _compute("Selm has 13 mills.", village) == _compute("Selm has 37 houses.", village) == []
    assert _compute("Selm has 55 farms and houses together.", village) == [
        ("34 houses + 21 farms = 55 farms", True)
    ]
