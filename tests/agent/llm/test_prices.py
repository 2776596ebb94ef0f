"""Prices: known names, dated names, and that a name that only looks alike has no price."""

from __future__ import annotations

import pytest

from agent.llm.prices import PRICES, compute_cost


def test_tokens_are_paid_by_the_million():
    assert compute_cost("gpt-4o-mini", 1_000_000, 0) == pytest.approx(0.15)
    assert compute_cost("gpt-4o-mini", 2_000, 500) == pytest.approx(0.0006)
    assert compute_cost("gpt-4o-mini", 0, 0) == 0


@pytest.mark.parametrize(
    "name", ["openai/gpt-4o", "gpt-4o-2024-08-06", "GPT-4o", "gpt-4o-latest", " gpt-4o "]
)
def test_a_maker_and_a_date_do_not_matter(name: str):
    assert compute_cost(name, 10, 10) == compute_cost("gpt-4o", 10, 10)


@pytest.mark.parametrize(
    "name", ["gpt-5-pro", "gpt-4o-audio", "llama3.1", "someone/gpt-4o", "gpt-4o:free", ""]
)
def test_what_is_not_in_the_table_has_no_price(name: str):
    assert compute_cost(name, 10, 10) is None


def test_a_reply_never_costs_less_than_a_prompt():
    assert all(0 < prompt <= reply for prompt, reply in PRICES.values())
