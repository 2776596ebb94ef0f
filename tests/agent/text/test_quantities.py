"""Numbers with units come out in one form, and rounded ones agree with full ones."""

import pytest

from agent.text.quantities import Quantity, find_quantities, is_same_quantity


def one(text: str) -> Quantity:
    found = find_quantities(text)
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("12 %", 12, "%"),
        ("twelve percent", 12, "%"),
        ("12 per cent", 12, "%"),
        ("$5 million", 5_000_000, "$"),
        ("5 dollars", 5, "$"),
        ("1,240 people", 1240, "people"),
        ("-5 °C", 268.15, "K"),
        ("three hundred and five rooms", 305, "room"),
        ("two million litres", 2000, "m ** 3"),
        ("5 km", 5000, "m"),
        ("2½ hours", 9000, "s"),
        ("five years", 60, "month"),
        ("3 square miles", 7_769_964.331008, "m ** 2"),
        ("the 21st", 21, "th"),
        ("third", 3, "th"),
    ],
)
def test_a_number_is_read_with_its_unit(text: str, value: float, unit: str) -> None:
    quantity = one(text)
    assert (quantity.value, quantity.unit) == (pytest.approx(value), unit)
    assert quantity.text in text


def test_a_lone_one_is_a_pronoun() -> None:
    assert find_quantities("one of the dairies") == []
    assert one("one million litres").number == 1_000_000


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("12 %", "0.12"),
        ("12 %", "twelve percent"),
        ("8,849 m", "8848.86 metres"),
        ("12 million people", "12.3 million people"),
        ("5 km", "5,000 metres"),
        ("about 1,200 people", "1,240 people"),
        ("an hour and 60 minutes", "1 hour"),
        ("an hour and a half", "90 minutes"),
        ("256 megabytes", "256 MB"),
        ("4 KiB", "4096 bytes"),
        ("a dozen people", "12 people"),
    ],
)
def test_the_same_amount_agrees(a: str, b: str) -> None:
    assert is_same_quantity(find_quantities(a)[-1], find_quantities(b)[-1])


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("12 %", "13 %"),
        ("12 %", "0.13"),
        ("10,000 people", "13,000 people"),
        ("5 km", "5 kg"),
        ("20 rooms", "22 rooms"),
        ("-5 °C", "5 °C"),
    ],
)
def test_another_amount_does_not(a: str, b: str) -> None:
    assert not is_same_quantity(one(a), one(b))
