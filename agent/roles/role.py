"""A role: one judgement with a shape, asked of a model when there is one and made by rule when not. Knows no server and no run.

The prompt of a role is `prompts/<name>.md`; its blanks are the parameters of `keyless`. Whoever judged is told with the value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel

from agent.errors import ModelError
from agent.prompts import render
from agent.types import Noun

Ask = Callable[[str, list[dict[str, str]], type[BaseModel], str], BaseModel]
"""(role, messages, shape, tier) -> a reply of that shape; raises ModelError when the model fails for good."""


class Judgement(Noun):
    """A reply and who made it. `trouble` says why the model did not speak although it was asked, "" when it did or was not."""

    value: Any
    by: Literal["model", "keyless"]
    trouble: str = ""


@dataclass(frozen=True)
class Role:
    """`keyless(**blanks)` returns a `reply`; `shape(**blanks)`, when given, narrows the reply to what is possible now."""

    name: str
    reply: type[BaseModel]
    keyless: Callable[..., BaseModel]
    tier: Literal["strong", "fast"] = "strong"
    shape: Callable[..., type[BaseModel]] | None = None

    def judge(self, model: Ask | None, **blanks: Any) -> Judgement:
        """The model's reply; the keyless one when there is no model or it failed. Signals and PromptError pass through."""
        if model is None:
            return Judgement(value=self.keyless(**blanks), by="keyless")
        shape = self.shape(**blanks) if self.shape else self.reply
        try:
            reply = model(self.name, render(self.name, **blanks), shape, self.tier)
        except ModelError as failure:
            return Judgement(value=self.keyless(**blanks), by="keyless", trouble=str(failure))
        return Judgement(value=self.reply.model_validate(reply.model_dump()), by="model")
