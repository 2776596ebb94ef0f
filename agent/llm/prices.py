"""The cost of a model call, from a small table of list prices; an unknown model has no price.

Prices are US dollars per million tokens (prompt, completion), without cached-prompt and batch discounts, as
the makers listed them in March 2026. A model is found by its exact name; a maker's prefix ("openai/") and a
date at the end are ignored, nothing else is: "gpt-5-pro" costs twelve times "gpt-5". Models on this machine
cost nothing; the client says whether it is one."""

from __future__ import annotations

import re
from pathlib import Path

_ROWS = (Path(__file__).parent / "data" / "prices.txt").read_text(encoding="utf-8").splitlines()
PRICES = {name: (float(prompt), float(reply)) for name, prompt, reply in map(str.split, _ROWS[1:])}


def compute_cost(model: str, prompt_tokens: int, completion_tokens: int) -> float | None:
    """US dollars for one call; None when the model's price is unknown."""
    name = re.sub(r"^(?:openai|anthropic|google|models)/", "", model.strip().lower())
    price = PRICES.get(re.sub(r"-(?:\d{4}-\d{2}-\d{2}|\d{8}|latest)$", "", name))
    if price is None:
        return None
    return (prompt_tokens * price[0] + completion_tokens * price[1]) / 1_000_000
