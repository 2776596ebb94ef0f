"""Counts of what this process did since it started, by name and labels, for `GET /metrics`; no library."""

from __future__ import annotations

import threading
from collections import Counter
from types import MappingProxyType

LABELS = MappingProxyType(
    {
        "runs": ("Runs that came to rest.", ("flow", "status")),
        "steps": ("Steps recorded.", ("flow", "step")),
        "pages": ("Pages asked for on the live web.", ("outcome",)),
        "searches": ("Searches of the live web.", ("engine", "outcome")),
        "model_calls": ("Model calls that were stored.", ("role",)),
        "model_tokens": ("Tokens of these calls.", ("kind",)),
    }
)
"""Each count: what it counts, and the names of its labels."""
_counts: Counter[tuple[str, tuple[str, ...]]] = Counter()
_lock = threading.Lock()


def count(name: str, *labels: str, amount: int = 1) -> None:
    """Count something; `labels` are the values of those that LABELS names, in order."""
    with _lock:
        _counts[name, labels] += amount


def read_counts() -> dict[tuple[str, tuple[str, ...]], int]:
    """All counts by name and label values."""
    with _lock:
        return dict(_counts)
