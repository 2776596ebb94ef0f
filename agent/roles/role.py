"""A role: one judgement with the shape of its reply, asked of a model. Knows no server and no run.

The prompt of a role is `prompts/<name>.md`, which must be given each of its blanks and no other."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, model_validator

from agent.errors import ModelDown, ModelError, ModelReplyError, OutOfBudget, PromptTooLong
from agent.roles.prompt_templates import Bindings, make_mark, render, render_refusal
from agent.types import Record

AskModel = Callable[[str, list[dict[str, str]], type[BaseModel], str], BaseModel]
"""(role, messages, shape, tier) -> a reply of that shape; raises ModelError when the model fails for good."""
Messages = Sequence[dict[str, str]]
Share = Annotated[float, Field(ge=0.0, le=1.0)]
"""A number from 0 to 1."""
Check = Callable[[Any], Sequence[str]]
"""What code refuses in a reply, a sentence each, for the model; nothing when all is well."""
SHARES = (1.0, 0.7, 0.5, 0.35, 0.25, 0.15, 0.1, 0.05)
"""The parts of its lists that a prompt shows, the first that fits and that the server takes."""
MARK_IN_REPLY = "It holds the mark of the run, which only tags of the prompt may hold."
INSTRUCTIONS_IN_REPLY = "It repeats a line of these instructions. Reply with what was asked for only."
_MIN_LINE = 80
"""Characters of a line of the instructions that no honest reply repeats word by word."""


def optional_text(description: str) -> Any:
    """A field of a reply that is "" where nothing is said."""
    return Field(default="", description=description)


def optional_list(description: str) -> Any:
    """A field of a reply that is empty where nothing is said."""
    return Field(default_factory=list, description=description)


class RoleReply(BaseModel):
    """Base of every reply: fields that nobody asked for are dropped, and the plain slips of small models are
    read as what they mean."""

    model_config = ConfigDict(extra="ignore")

    @model_validator(mode="before")
    @classmethod
    def read_loosely(cls, data: Any) -> Any:
        """The data with null for a default, one value for a list of one, and options in any spelling."""
        if not isinstance(data, dict):
            return data
        read = {}
        for name, field in cls.model_fields.items():
            value, kind = data.get(name), get_origin(field.annotation)
            text = value.strip().lower() if isinstance(value, str) else None
            if name in data and kind is list and not isinstance(value, list):
                value = [] if value is None or text in ("", "none", "null", "n/a", "-") else [value]
            elif text is not None and kind is Literal:
                spelled = re.sub(r"[^a-z0-9]+", "_", text).strip("_")
                options = get_args(field.annotation)
                value = next((option for option in options if option.lower() == spelled), value)
            elif text and field.annotation is float and re.fullmatch(r"\d{1,3}(?:\.\d+)?\s*%", text):
                value = float(text[:-1]) / 100
            if value is not None or (name in data and field.is_required()):
                read[name] = value
        return read


class RoleResult(Record):
    """A reply and who made it.

    `failure` says why the model that was asked did not answer, "" when it did or was not asked."""

    value: Any
    by: Literal["model", "keyless"]
    failure: str = ""
    earlier: Any = None
    """The reply that code refused, where `value` is the one after it: the model was asked once more."""
    problems: list[str] = Field(default_factory=list)
    """What code still refuses in `value`."""
    withheld: int = 0
    """Texts that the prompt did not show, because they hold the mark of the run's fences."""


@dataclass(frozen=True)
class _Attempt:
    """One reply: as it came, with long ids (None when it may not be used), and what code refuses in it."""

    wire: BaseModel
    value: Any
    problems: list[str]


@dataclass(frozen=True)
class Role:
    """What is asked for. `cut` names the blanks (lists and texts, best first) that may be shown in part to a
    model that does not take them all."""

    name: str
    reply: type[RoleReply]
    tier: Literal["strong", "fast", "judge"] = "strong"
    cut: tuple[str, ...] = ()
    on_failure: Literal["skip", "rest"] = "skip"
    """What follows when the model failed for good: its reply without values is used, or the run rests."""
    keeps: str = ""
    """The list of a refused reply whose good items the flow keeps: only its corrected ones are asked for."""

    def judge(
        self,
        model: AskModel | None,
        *,
        mark: str = "",
        check: Check | None = None,
        fits: Callable[[Messages, type[BaseModel], str], bool] = lambda messages, shape, tier: True,
        **blanks: Any,
    ) -> RoleResult:
        """The model's reply, or one without values when there is no model or it failed. Raises ModelDown
        where the run is to rest then; Signals and PromptError pass through.

        `check` says what code refuses in a reply: then the model is asked once more, with the reasons. What
        is refused in the better of the two is told as `problems`. `mark` is the run's. The prompt
        is shortened until it `fits`, and again when the server refuses it as too long."""

        def give_up(reason: str, may_rest: bool = True, asked: Messages = ()) -> RoleResult:
            """The reply without values; raises ModelDown where the run is to rest, with what was `asked`."""
            if reason and may_rest and self.on_failure == "rest":
                failed = f"The model's call “{self.name.replace('_', ' ')}” failed: {reason}"
                raise ModelDown(failed, role=self.name, messages=asked)
            return RoleResult(value=self.reply(), by="keyless", failure=reason)

        if model is None:
            return give_up("")

        def ask(messages: list[dict[str, str]], bindings: Bindings) -> _Attempt:
            wire = model(self.name, messages, self.reply, self.tier)
            said = wire.model_dump_json()
            if bindings.mark in said:
                return _Attempt(wire, None, [MARK_IN_REPLY])
            lines = (line.strip() for line in str(messages[0]["content"]).splitlines())
            if any(len(x) >= _MIN_LINE and json.dumps(x, ensure_ascii=False)[1:-1] in said for x in lines):
                return _Attempt(wire, None, [INSTRUCTIONS_IN_REPLY])
            value = self.reply.model_validate(bindings.restore(wire.model_dump()))
            return _Attempt(wire, value, list(check(value)) if check else [])

        messages: list[dict[str, str]] = []
        try:
            for share in SHARES if self.cut else SHARES[:1]:  # the shortest where none fits
                bindings = Bindings(mark or make_mark(repr(blanks)))
                shown = {name: _cut(name, blanks[name], share) for name in self.cut} if share < 1 else {}
                messages = render(self.name, bindings=bindings, **{**blanks, **shown})
                is_last = not self.cut or share == SHARES[-1]
                if not is_last and not fits(messages, self.reply, self.tier):
                    continue
                try:
                    first = last = ask(messages, bindings)
                    break
                except PromptTooLong:
                    if is_last:
                        raise
            if first.problems:
                said = first.wire.model_dump_json().replace(bindings.mark, "MARK")
                keeps = self.keeps if first.value is not None else ""
                sent_back = render_refusal(first.problems, bindings, keeps)
                with suppress(ModelError):  # the better of the two replies
                    last = ask([*messages, {"role": "assistant", "content": said}, sent_back], bindings)
                is_worse = first.value is not None and len(last.problems) > len(first.problems)
                last = first if last.value is None or is_worse else last
        except OutOfBudget as over:
            return give_up(str(over), may_rest=False)
        except ModelError as failure:
            return give_up(str(failure), asked=messages if isinstance(failure, ModelReplyError) else ())
        if last.value is None:
            why = f"The model's reply was refused twice: {'; '.join(last.problems)}"
            return give_up(why, asked=messages)
        return RoleResult(
            value=last.value,
            by="model",
            earlier=first.value if last is not first else None,
            problems=last.problems,
            withheld=bindings.withheld,
        )


def _cut(name: str, value: Any, share: float) -> Any:
    """A part of a list or text, one item at least: the end of those lists whose oldest item comes first."""
    if not isinstance(value, str | list | tuple):
        return value
    kept = max(1, int(len(value) * share))
    return value[-kept:] if name in ("history", "refused") else value[:kept]


class WriterReply(RoleReply):
    """Base of every reply with an answer in it: what the sources leave open, and what the answer assumes."""

    open: str = optional_text(
        "one sentence: what of the question the sources leave open; empty when they answer all"
    )
    assumed: str = optional_text(
        "one sentence: the reading or condition that the answer rests on; empty for none"
    )
