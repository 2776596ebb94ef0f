"""A role: one judgement with a shape, asked of a model when there is one and made by rule when not. Knows no
server and no run.

The prompt of a role is `prompts/<name>.md`; its blanks are the parameters of `keyless`. Whoever judged is
told with the value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel

from agent.errors import ModelError
from agent.roles.prompt_templates import render
from agent.types import Record

AskModel = Callable[[str, list[dict[str, str]], type[BaseModel], str], BaseModel]
"""(role, messages, shape, tier) -> a reply of that shape; raises ModelError when the model fails for good."""


class RoleResult(Record):
    """A reply and who made it. `trouble` says why the model did not speak although it was asked, "" when it
    did or was not."""

    value: Any
    by: Literal["model", "keyless"]
    fallback_reason: str = ""


@dataclass(frozen=True)
class Role:
    """`keyless(**blanks)` returns a `reply`; `shape(**blanks)`, when given, narrows the reply to what is
    possible now."""

    name: str
    reply: type[BaseModel]
    fallback: Callable[..., BaseModel]
    tier: Literal["strong", "fast"] = "strong"
    narrow_reply: Callable[..., type[BaseModel]] | None = None

    def judge(self, model: AskModel | None, **blanks: Any) -> RoleResult:
        """The model's reply; the keyless one when there is no model or it failed. Signals and PromptError
        pass through."""
        if model is None:
            return RoleResult(value=self.fallback(**blanks), by="keyless")
        shape = self.narrow_reply(**blanks) if self.narrow_reply else self.reply
        try:
            reply = model(self.name, render(self.name, **blanks), shape, self.tier)
        except ModelError as failure:
            return RoleResult(value=self.fallback(**blanks), by="keyless", fallback_reason=str(failure))
        return RoleResult(value=self.reply.model_validate(reply.model_dump()), by="model")
