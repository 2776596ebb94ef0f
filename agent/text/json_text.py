"""JSON that a stranger wrote."""

from __future__ import annotations

import json
from typing import Any

MAX_CONTAINERS = 200_000
"""Objects and lists in one text: three bytes of it become a hundred in memory."""


def parse_json(text: str | bytes) -> Any:
    """What it says, half surrogate pairs replaced: they cannot be stored or sent on. Raises ValueError for
    what is no JSON, or nested or divided too much to be read."""
    raw = text.encode("utf-8", "replace") if isinstance(text, str) else text
    if raw.count(b"{") + raw.count(b"[") > MAX_CONTAINERS:
        raise ValueError("the JSON has too many parts")
    try:
        value = json.loads(raw.decode("utf-8-sig", "replace"))
        if b"\\ud" in raw.lower():
            value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
        return value
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
