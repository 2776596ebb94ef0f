"""The cost of a model call, from a small table of list prices; an unknown model has no price.

Prices are US dollars per million tokens (prompt, completion), without cached-prompt and batch discounts, as
the makers listed them in March 2026. A model is found by its exact name; a maker's prefix ("openai/") and a
date at the end are ignored, nothing else is: "gpt-5-pro" costs twelve times "gpt-5". Models on this machine
cost nothing; the client says whether it is one."""

from __future__ import annotations

import re

AS_OF = "2026-03"
PRICES: dict[str, tuple[float, float]] = {
    "gpt-5.4": (2.50, 15.00),
    "gpt-5.1": (1.25, 10.00),
    "gpt-5": (1.25, 10.00),
    "gpt-5-mini": (0.25, 2.00),
    "gpt-5-nano": (0.05, 0.40),
    "gpt-4.1": (2.00, 8.00),
    "gpt-4.1-mini": (0.40, 1.60),
    "gpt-4.1-nano": (0.10, 0.40),
    "gpt-4o": (2.50, 10.00),
    "gpt-4o-mini": (0.15, 0.60),
    "o3": (2.00, 8.00),
    "o3-mini": (1.10, 4.40),
    "o4-mini": (1.10, 4.40),
    "claude-sonnet-4": (3.00, 15.00),
    "claude-sonnet-4-5": (3.00, 15.00),
    "claude-haiku-4-5": (1.00, 5.00),
    "claude-opus-4-5": (5.00, 25.00),
    "gemini-2.5-pro": (1.25, 10.00),
    "gemini-2.5-flash": (0.30, 2.50),
    "gemini-2.5-flash-lite": (0.10, 0.40),
}
_MAKER_PREFIX = re.compile(r"^(?:openai|anthropic|google|models)/")
_DATE_SUFFIX = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8}|latest)$")


def compute_cost(model: str, prompt_tokens: int, completion_tokens: int) -> float | None:
    """US dollars for one call; None when the model's price is unknown."""
    price = PRICES.get(_DATE_SUFFIX.sub("", _MAKER_PREFIX.sub("", model.strip().lower())))
    if price is None:
        return None
    return (prompt_tokens * price[0] + completion_tokens * price[1]) / 1_000_000
