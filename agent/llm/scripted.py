"""A model that says what it is told to: the double that ships with the product, for tests, demonstrations and
rehearsals.

It has the same surface as `Client` and asks nobody. Replies come from a list, one a completion, or from a
function of the messages and the shape. It does not judge them: a bad reply goes through the same parsing and
repair as a real one."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from agent.errors import ModelUnavailable
from agent.llm.model import (
    MAX_TOKENS,
    Checkpoint,
    Completion,
    Message,
    Tier,
    estimate_tokens,
    messages_to_text,
)

ScriptedReply = str | dict[str, Any] | BaseModel | Completion | Exception
"""Raw text, a value to be sent as JSON, a whole completion (a cut-off one, a refusal), or an error to
raise."""
ReplyFunction = Callable[[list[Message], type[BaseModel]], ScriptedReply]


@dataclass(frozen=True)
class ScriptedRequest:
    """What one completion was asked for."""

    messages: list[Message]
    tier: Tier
    schema: type[BaseModel]
    max_tokens: int


class ScriptedModel:
    """Thread-safe. `asked` holds every completion asked for, in order; `calls` is their number."""

    local = True
    server = "a script"

    def __init__(
        self, replies: Iterable[ScriptedReply] | ReplyFunction, *, strong: str = "scripted", fast: str = ""
    ) -> None:
        self.strong = strong
        self.fast = fast or strong
        self.requests: list[ScriptedRequest] = []
        self._reply_function = replies if callable(replies) else None
        self._replies = [] if callable(replies) else list(replies)
        self._lock = threading.Lock()

    @property
    def calls(self) -> int:
        """How many completions were asked for."""
        return len(self.requests)

    def complete(
        self,
        messages: Sequence[Message],
        *,
        tier: Tier,
        schema: type[BaseModel],
        checkpoint: Checkpoint,
        max_tokens: int = MAX_TOKENS,
    ) -> Completion:
        """The next reply. Raises ModelUnavailable when the list is used up, and whatever error stands in
        it."""
        checkpoint()
        reply = self._next_reply(ScriptedRequest(list(messages), tier, schema, max_tokens))
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, Completion):
            return reply
        text = _to_text(reply)
        return Completion(
            text,
            estimate_tokens(messages_to_text(messages)),
            estimate_tokens(text),
            0.0,
            self.strong if tier == "strong" else self.fast,
        )

    def _next_reply(self, asked: ScriptedRequest) -> ScriptedReply:
        with self._lock:
            self.requests.append(asked)
            if self._reply_function is None:
                return (
                    self._replies.pop(0)
                    if self._replies
                    else ModelUnavailable("The script has no reply left.")
                )
        return self._reply_function(asked.messages, asked.schema)


def _to_text(reply: str | dict[str, Any] | BaseModel) -> str:
    if isinstance(reply, BaseModel):
        return reply.model_dump_json()
    return reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
