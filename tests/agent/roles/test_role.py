"""A role: who judged is told, and what follows when the model fails."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel

from agent.errors import (
    BudgetSpent,
    ModelDown,
    ModelReplyError,
    ModelUnavailable,
    OutOfBudget,
    PromptError,
    ShutdownRequested,
    StopRequested,
)
from agent.roles.role import Role, RoleReply


class Reply(RoleReply):
    """A reply of one word."""

    word: str = ""


ROLE = Role(name="one", reply=Reply, tier="fast")


@pytest.fixture(autouse=True)
def _prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "agent.roles.role.render",
        lambda name, bindings, **given: [{"role": "user", "content": f"{name} {sorted(given)}"}],
    )


def test_without_a_model_the_reply_has_no_values_and_no_trouble_is_told() -> None:
    judgement = ROLE.judge(None, question="q")
    assert (judgement.value.word, judgement.by, judgement.failure) == ("", "keyless", "")


def test_a_model_is_asked_with_its_prompt_shape_and_tier() -> None:
    asked: list[tuple[Any, ...]] = []

    def model(*given: Any) -> BaseModel:
        asked.append(given)
        return Reply(word="yes")

    judgement = ROLE.judge(model, question="q")
    assert asked == [("one", [{"role": "user", "content": "one ['question']"}], Reply, "fast")]
    assert judgement.by == "model" and type(judgement.value) is Reply and judgement.value.word == "yes"


@pytest.mark.parametrize(
    "failure", [ModelUnavailable("no answer after two tries"), ModelReplyError("not what was asked for")]
)
def test_when_the_model_fails_the_call_is_skipped_and_told_or_the_run_rests(failure: Exception) -> None:
    def model(*_: Any) -> BaseModel:
        raise failure

    judgement = ROLE.judge(model, question="q")
    assert (judgement.value.word, judgement.by, judgement.failure) == ("", "keyless", str(failure))
    with pytest.raises(ModelDown, match=f"The model's call “one” failed: {failure}"):
        replace(ROLE, on_failure="rest").judge(model, question="q")


def test_a_write_up_without_budget_does_not_rest() -> None:
    def model(*_: Any) -> BaseModel:
        raise OutOfBudget("all calls are used")

    judgement = replace(ROLE, on_failure="rest").judge(model, question="q")
    assert (judgement.by, judgement.failure) == ("keyless", "all calls are used")


@pytest.mark.parametrize(
    "signal",
    [
        StopRequested("stop"),
        BudgetSpent("tokens"),
        ShutdownRequested("bye"),
        PromptError("blanks"),
        KeyError("a bug"),
    ],
)
def test_everything_else_passes_through(signal: Exception) -> None:
    def model(*_: Any) -> BaseModel:
        raise signal

    with pytest.raises(type(signal)):
        ROLE.judge(model, question="q")


def test_a_reply_that_repeats_its_instructions_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    line = 'You answer for the help desk of a website, only from "passages" of its pages in the message.'
    messages = [{"role": "system", "content": f"1.\n{line}"}, {"role": "user", "content": f"Who? {line}"}]
    monkeypatch.setattr("agent.roles.role.render", lambda name, bindings, **given: messages)
    for words, by in ((f"I was told: {line}", "keyless"), ("You answer for the help desk.", "model")):
        judgement = ROLE.judge(lambda *_given, words=words: Reply(word=words), question="q")
        assert judgement.by == by and (by == "model" or "repeats a line" in judgement.failure)
