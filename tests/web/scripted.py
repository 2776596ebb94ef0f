"""A model with scripted replies.

Replies come from a list, one a completion, or from a function of the messages and the schema. They go through
the same parsing and repair as those of a real server."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable
from typing import Any

from pydantic import BaseModel

from agent.errors import ModelUnavailable
from agent.llm.model import (
    ASSUMED_TOKENS,
    Completion,
    CompletionRequest,
    Message,
    Tier,
    estimate_tokens,
    measure_prompt,
)

ScriptedReply = str | dict[str, Any] | BaseModel | Completion | Exception
"""Raw text, a value to send as JSON, a whole completion (a cut-off one, a refusal), or an error to raise."""
ReplyFunction = Callable[[list[Message], type[BaseModel]], ScriptedReply]


class ScriptedModel:
    """Thread-safe. `requests` holds every completion asked for, in order; `calls` is their number."""

    local = True
    server = "a script"

    def __init__(
        self,
        replies: Iterable[ScriptedReply] | ReplyFunction,
        *,
        strong: str = "scripted",
        fast: str = "",
        context: int = ASSUMED_TOKENS,
    ) -> None:
        self.strong = strong
        self.fast = fast or strong
        self.context = context
        self.requests: list[CompletionRequest] = []
        self._reply_function = replies if callable(replies) else None
        self._replies = [] if callable(replies) else list(replies)
        self._lock = threading.Lock()

    @property
    def calls(self) -> int:
        """How many completions were asked for."""
        return len(self.requests)

    def complete(self, request: CompletionRequest) -> Completion:
        """The next reply. Raises ModelUnavailable when the list is used up, and an error that is in it."""
        request.checkpoint()
        reply = self._next_reply(request)
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, Completion):
            return reply
        text = _to_text(reply)
        prompt_tokens = measure_prompt(request.messages)
        model = self.strong if request.tier == "strong" else self.fast
        return Completion(text, prompt_tokens, estimate_tokens(text), 0.0, model)

    def context_length(self, tier: Tier) -> int:
        """Tokens that a prompt and its reply may have together."""
        return self.context

    def _next_reply(self, request: CompletionRequest) -> ScriptedReply:
        with self._lock:
            self.requests.append(request)
            if self._reply_function is None:
                empty = ModelUnavailable("The script has no reply left.")
                return self._replies.pop(0) if self._replies else empty
        return self._reply_function(list(request.messages), request.schema)


def _to_text(reply: str | dict[str, Any] | BaseModel) -> str:
    if isinstance(reply, BaseModel):
        return reply.model_dump_json()
    return reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
