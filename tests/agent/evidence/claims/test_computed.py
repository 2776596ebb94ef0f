"""Arithmetic on the quotes' figures, and whether the quote carries the rest of the claim."""

import pytest

from agent.evidence.claims.computed import find_computation, is_carried, read_calculations
from agent.evidence.claims.words import read_text

BRIDGE = "The bridge was opened in 1961 and was closed in 1986."


def _compute(claim: str, quote: str) -> tuple[str, bool]:
    statement = read_text(claim)
    found = find_computation(statement, [read_text(quote)])
    return (found.text, is_carried(statement, found)) if found else ("", False)


@pytest.mark.parametrize(
    ("claim", "quote", "text"),
    [
        ("The bridge was closed 25 years after it was opened.", BRIDGE, "1986 − 1961 = 25"),
        ("The bridge was opened 25 years before it was closed.", BRIDGE, "1986 − 1961 = 25"),
        (
            "It was closed about 30 years after it was opened.",
            BRIDGE.replace("1986", "1989"),
            "1989 − 1961 = 28",
        ),
        ("The mill worked for 25 years.", "The mill worked from 1961 to 1986.", "1986 − 1961 = 25"),
        (
            "Kari Lund was elected aged 24.",
            "Kari Lund, born on 3 May 1961, was elected on 2 February 1986.",
            "2 February 1986 − 3 May 1961 = 24",
        ),
        ("25 % of the members voted.", "Of 120 members, 30 voted.", "30 ÷ 120 = 25 %"),
        (
            "Sales rose by 25 % from 2023 to 2024.",
            "Sales were 80 million in 2023 and 100 million in 2024.",
            "(100 million − 80 million) ÷ 80 million = 25 %",
        ),
        (
            "Oil exports and gas exports total 50 tonnes.",
            "Oil exports are 30 tonnes, gas exports 20 tonnes.",
            "30 tonnes + 20 tonnes = 50 tonnes",
        ),
    ],
)
def test_a_claim_is_computed(claim: str, quote: str, text: str) -> None:
    assert _compute(claim, quote) == (text, True)


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        ("The bridge was opened 25 years after it was closed.", BRIDGE),
        ("The tunnel was closed 25 years after it was opened.", BRIDGE),
        ("The bridge was sold after 25 years.", BRIDGE),
        ("The bridge burnt for 25 years.", BRIDGE),
    ],
)
def test_arithmetic_alone_does_not_carry_a_claim(claim: str, quote: str) -> None:
    assert _compute(claim, quote) == ("1986 − 1961 = 25", False)


@pytest.mark.parametrize(
    "claim",
    ["The bridge was closed in 1986.", "It was closed 35 years after it was opened.", "It was closed."],
)
def test_what_no_arithmetic_gives_has_no_computation(claim: str) -> None:
    assert _compute(claim, BRIDGE) == ("", False)


@pytest.mark.parametrize(
    "quote",
    [
        "Sales were 80 million in 2024 and 100 million in 2023.",
        "Sales were 80 million in 2023 and costs were 100 million in 2024.",
        "Sales were 80 million, later 100 million.",
    ],
)
def test_a_rise_needs_figures_of_one_thing_with_their_years(quote: str) -> None:
    assert _compute("Sales rose by 25 %.", quote) == ("", False)


@pytest.mark.parametrize(
    ("statement", "read"),
    [
        ("It worked for 25 years (1986 − 1961 = 25).", "It worked for 25 years."),
        ("The 1986 − 1961 = 25 years were good.", "The a difference of 25 years were good."),
        ("1986 + 1961 = 3947 stones.", "a total of 3947 stones."),
        ("It worked for 35 years (1986 − 1961 = 35).", "It worked for 35 years (1986 − 1961 = 35)."),
        ("It worked for 25 years (1987 − 1962 = 25).", "It worked for 25 years (1987 − 1962 = 25)."),
    ],
)
def test_a_right_calculation_with_the_quotes_figures_is_read_in_words(statement: str, read: str) -> None:
    assert read_calculations(statement, [read_text(BRIDGE)]) == read
