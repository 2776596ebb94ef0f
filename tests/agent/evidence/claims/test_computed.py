"""Arithmetic on the quotes' figures, and whether the quote carries the rest of the claim."""

import pytest

from agent.evidence.claim_check import Claim, check_by_code
from agent.evidence.claims.computed import find_computations, is_carried, read_calculations
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


@by_table
def test_a_right_calculation_with_the_quotes_figures_is_read_in_words(statement: str, read: str) -> None:
    assert read_calculations(statement, [read_text(BRIDGE)]) == read


def test_the_sum_of_a_column_of_many_rows_is_computed_and_another_is_not() -> None:
    rows = tuple(f"{n} | Team {n} | {figure:,}" for n, figure in enumerate(range(1_003, 1_020), start=5))
    total = sum(range(1_003, 1_020))
    right = check_by_code(Claim("a", f"The attendance of all games comes to {total:,}.", rows))
    assert right.verdict == "not_checked" and right.reason.endswith(f"= {total:,}")
    wrong = check_by_code(Claim("b", f"The attendance of all games comes to {total + 1:,}.", rows))
    assert any(finding.is_absent for finding in wrong.findings)
