"""What every model looks like from above, be it a real server (`client`) or a double (`scripted`). It asks
nobody itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from pydantic import BaseModel

Message = dict[str, Any]
"""A chat message: "role" (system | user | assistant) and "content", a text; on its way to a server also a
list of parts."""
Tier = Literal["strong", "fast"]
Checkpoint = Callable[[], None]
"""Called often while waiting; raises a Signal when the run must rest."""

MAX_TOKENS = 4096
"""Tokens one reply may have: a report of two dozen cited sentences takes about 1,500; the rest is room for
reasoning models."""


@dataclass(frozen=True)
class Completion:
    """One reply. `text` is as it came, thoughts and fences included; `seconds` counts all tries and waits.

    When the server tells no usage, tokens are taken as characters / 4 and `estimated` is True.
    `finish_reason` is the server's ("stop", "length", "content_filter"), or "refusal" when `text` is the
    model's refusal."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    model: str
    finish_reason: str = "stop"
    estimated: bool = False


class Model(Protocol):
    """Two tiers of one server. `local` means it runs on this machine and costs nothing."""

    strong: str
    fast: str
    local: bool

    def complete(
        self,
        messages: Sequence[Message],
        *,
        tier: Tier,
        schema: type[BaseModel],
        checkpoint: Checkpoint,
        max_tokens: int = MAX_TOKENS,
    ) -> Completion:
        """One reply of at most `max_tokens` tokens, asked for in the shape of `schema`. Raises
        ModelUnavailable."""
        ...


def estimate_tokens(text: str) -> int:
    """About how many tokens a text has: a quarter of its characters, at least one (the usual rule of thumb
    for English)."""
    return max(1, len(text) // 4)


def messages_to_text(messages: Sequence[Message]) -> str:
    """The messages as one text, to estimate their tokens by; pictures in them are left out."""
    parts = [
        {**message, "content": _join_text_parts(message["content"])}
        if isinstance(message.get("content"), list)
        else message
        for message in messages
    ]
    return json.dumps(parts, ensure_ascii=False)


def _join_text_parts(parts: list[dict[str, Any]]) -> str:
    return "".join(str(part.get("text", "")) for part in parts)
