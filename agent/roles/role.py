"""A role: one judgement with the shape of its reply, asked of a model, and a fallback for when there is no
model or it fails. Knows no server and no run.

The prompt of a role is `prompts/<name>.md`; its blanks are the parameters of `fallback`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from agent.errors import ModelError
from agent.roles.prompt_templates import render
from agent.types import Record

AskModel = Callable[[str, list[dict[str, str]], type[BaseModel], str], BaseModel]
"""(role, messages, shape, tier) -> a reply of that shape; raises ModelError when the model fails for good."""
Share = Annotated[float, Field(ge=0.0, le=1.0)]
"""A number from 0 to 1."""


class RoleReply(BaseModel):
    """Base of every reply: fields that nobody asked for are dropped."""

    model_config = ConfigDict(extra="ignore")


class RoleResult(Record):
    """A reply and who made it. `fallback_reason` says why the model that was asked did not answer, "" when it
    did or was not asked."""

    value: Any
    by: Literal["model", "keyless"]
    fallback_reason: str = ""


@dataclass(frozen=True)
class Role:
    """`fallback(**blanks)` returns a `reply`; `narrow_reply(**blanks)`, when given, returns a reply type that
    allows only what is possible now."""

    name: str
    reply: type[RoleReply]
    fallback: Callable[..., RoleReply]
    tier: Literal["strong", "fast"] = "strong"
    narrow_reply: Callable[..., type[RoleReply]] | None = None

    def judge(self, model: AskModel | None, **blanks: Any) -> RoleResult:
        """The model's reply, or the fallback's when there is no model or it failed. Signals and PromptError
        pass through."""
        if model is None:
            return RoleResult(value=self.fallback(**blanks), by="keyless")
        shape = self.narrow_reply(**blanks) if self.narrow_reply else self.reply
        try:
            reply = model(self.name, render(self.name, **blanks), shape, self.tier)
        except ModelError as failure:
            return RoleResult(value=self.fallback(**blanks), by="keyless", fallback_reason=str(failure))
        return RoleResult(value=self.reply.model_validate(reply.model_dump()), by="model")
