"""Numbers with units come out in one form, and rounded ones agree with full ones."""

import pytest

from agent.text.quantities import Quantity, find_quantities, is_same_quantity
from tests.tables import by_table


def one(text: str) -> Quantity:
    found = find_quantities(text)
    assert len(found) == 1, found
    return found[0]


@by_table
def test_a_number_is_read_with_its_unit(text: str, value: float, unit: str) -> None:
    quantity = one(text)
    assert (quantity.value, quantity.unit) == (pytest.approx(value), unit)
    assert quantity.text in text


def test_a_lone_one_is_a_pronoun() -> None:
    assert find_quantities("one of the dairies") == []
    assert one("one million litres").number == 1_000_000


@by_table
def test_the_same_amount_agrees(a: str, b: str) -> None:
    assert is_same_quantity(find_quantities(a)[-1], find_quantities(b)[-1])


@by_table
def test_another_amount_does_not(a: str, b: str) -> None:
    assert not is_same_quantity(one(a), one(b))
