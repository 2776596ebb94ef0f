"""What a scripted model says in the roles that check a write-up: the judge of its claims, and their repair."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

Judging = Callable[[str, list[str]], bool]
"""(statement, quotes) -> whether they support it."""
CHECKING_SHAPES = ("CheckClaimsReply", "RepairReply")
ALWAYS: Judging = lambda statement, quotes: True  # noqa: E731
NEVER: Judging = lambda statement, quotes: False  # noqa: E731


def unfence(text: str, kind: str) -> list[str]:
    """The texts fenced as `kind`."""
    return [body.strip() for _, body in re.findall(rf"<{kind}-(\w+)>\n(.*?)\n</{kind}-\1>", text, re.DOTALL)]


def check_reply(
    prompt: str, shape: str, judge: Judging = ALWAYS, repairs: Mapping[int, str] | None = None
) -> dict[str, Any]:
    """The reply of the judge, or of the repair (new text by sentence number), to its prompt."""
    if shape == "RepairReply":
        return {"sentences": [{"n": n, "text": new, "quotes": ["q1"]} for n, new in (repairs or {}).items()]}
    parts = re.split(r"^Statement (\d+):", prompt, flags=re.MULTILINE)
    return {
        "claims": [
            {
                "n": int(n),
                "quote": "q1",
                "reason": "so it reads",
                "supported": judge(unfence(part, "statement")[0], unfence(part, "quote")),
            }
            for n, part in zip(parts[1::2], parts[2::2], strict=True)
        ]
    }
