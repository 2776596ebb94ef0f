"""What every model looks like to its callers, be it a real server (`client`) or a double."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from pydantic import BaseModel

Message = dict[str, Any]
"""A chat message: "role" (system | user | assistant) and "content", a text (for a server also parts)."""
Tier = Literal["strong", "fast", "judge"]
"""`judge`: the model that checks what the strong one wrote; the strong one itself where none is set."""
Checkpoint = Callable[[], None]
"""Called often while waiting; raises a Signal when the run must pause."""

ASSUMED_TOKENS = 32_768
"""What a model takes where nobody tells: hosted ones have that at least; no prompt of ours needs more."""
MAX_TOKENS = 4096
"""Tokens of one reply: a report of two dozen cited sentences takes 1,500; the rest is for reasoning."""
MIN_REPLY_TOKENS = 512
"""Room for the shortest reply that can be of use."""
REPLY_SHARE = 0.25
"""The part of a small model's context that is kept for its reply."""
BYTES_PER_TOKEN = 3.5
"""UTF-8 bytes of a token, carefully: English has 4.3, German 3.5, Chinese some 4."""


@dataclass(frozen=True)
class CompletionRequest:
    """One completion to ask for: a reply of at most `max_tokens` tokens in the shape of `schema`."""

    messages: Sequence[Message]
    schema: type[BaseModel]
    tier: Tier = "strong"
    max_tokens: int = MAX_TOKENS
    checkpoint: Checkpoint = lambda: None
    role: str = ""
    filling: Callable[[], str] = lambda: ""
    """What fills the prompt of the role: see `render_filling` in agent/roles/prompt_templates.py."""


@dataclass(frozen=True)
class Completion:
    """One reply. `text` is as it came, thoughts and fences included; `seconds` counts all tries and waits.

    Without usage from the server tokens are estimated by the length of the texts and `estimated` is True.
    `finish_reason` is the server's ("stop", "length", "content_filter", "tool_calls", else "other"), or
    "refusal" when `text` is the model's refusal."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    model: str
    finish_reason: str = "stop"
    estimated: bool = False


class Model(Protocol):
    """The tiers of one server; one with another judge has its name as `judge`. `local`: here, at no cost."""

    strong: str
    fast: str
    local: bool

    def complete(self, request: CompletionRequest) -> Completion:
        """One reply. Raises ModelUnavailable, and what the request's `checkpoint` raises."""
        ...

    def context_length(self, tier: Tier) -> int:
        """Tokens that a prompt and its reply may have together."""
        ...


def choose_model(client: Model, tier: Tier) -> str:
    """The name of the model of a tier."""
    return {"fast": client.fast, "judge": getattr(client, "judge", "")}.get(tier, "") or client.strong


def estimate_tokens(text: str) -> int:
    """The tokens of a text by the rule of thumb for English: a quarter of its characters, at least one."""
    return max(1, len(text) // 4)


def measure_prompt(messages: Sequence[Message]) -> int:
    """The tokens of a prompt, rather too many than too few: for what must not be too long."""
    tokens = 0
    for message in messages:
        content = message.get("content") or ""
        if isinstance(content, list):  # pictures are left out
            content = "".join(str(part.get("text", "")) for part in content)
        tokens += int(len(content.encode()) / BYTES_PER_TOKEN) + 8
    return tokens


def find_reply_room(context: int) -> int:
    """Tokens that are kept for a reply in a context of so many."""
    return min(MAX_TOKENS, int(context * REPLY_SHARE))
