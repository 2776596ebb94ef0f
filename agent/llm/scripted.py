"""A model that says what it is told to: the double that ships with the product, for tests, demonstrations and rehearsals.

It has the same surface as `Client` and asks nobody. Replies come from a list, one a completion, or from a function of the
messages and the shape. It does not judge them: a bad reply goes through the same parsing and repair as a real one.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from agent.errors import ModelUnavailable
from agent.llm.model import MAX_TOKENS, Checkpoint, Completion, Message, Tier, estimate, written

Reply = str | dict[str, Any] | BaseModel | Completion | Exception
"""Raw text, a value to be sent as JSON, a whole completion (a cut-off one, a refusal), or an error to raise."""
Teller = Callable[[list[Message], type[BaseModel]], Reply]


@dataclass(frozen=True)
class Asked:
    """What one completion was asked for."""

    messages: list[Message]
    tier: Tier
    schema: type[BaseModel]
    max_tokens: int


class Scripted:
    """Thread-safe. `asked` holds every completion asked for, in order; `calls` is their number."""

    local = True
    server = "a script"

    def __init__(self, replies: Iterable[Reply] | Teller, *, strong: str = "scripted", fast: str = "") -> None:
        self.strong = strong
        self.fast = fast or strong
        self.asked: list[Asked] = []
        self._teller = replies if callable(replies) else None
        self._replies = [] if callable(replies) else list(replies)
        self._lock = threading.Lock()

    @property
    def calls(self) -> int:
        """How many completions were asked for."""
        return len(self.asked)

    def complete(
        self,
        messages: Sequence[Message],
        *,
        tier: Tier,
        schema: type[BaseModel],
        checkpoint: Checkpoint,
        max_tokens: int = MAX_TOKENS,
    ) -> Completion:
        """The next reply. Raises ModelUnavailable when the list is used up, and whatever error stands in it."""
        checkpoint()
        reply = self._next(Asked(list(messages), tier, schema, max_tokens))
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, Completion):
            return reply
        text = _spelt(reply)
        return Completion(text, estimate(written(messages)), estimate(text), 0.0, self.strong if tier == "strong" else self.fast)

    def _next(self, asked: Asked) -> Reply:
        with self._lock:
            self.asked.append(asked)
            if self._teller is None:
                return self._replies.pop(0) if self._replies else ModelUnavailable("The script has no reply left.")
        return self._teller(asked.messages, asked.schema)


def _spelt(reply: str | dict[str, Any] | BaseModel) -> str:
    if isinstance(reply, BaseModel):
        return reply.model_dump_json()
    return reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
