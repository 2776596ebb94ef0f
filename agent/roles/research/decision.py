"""What to do next: search, read a page, or hand the findings to the person. The rules of the keyless side are
in `steering`.

The reply is the contract of the research flow: `next_action`, `query_or_url`, `reasoning`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal

from pydantic import BaseModel, create_model

from agent.roles.research.analyzer import AnalyzerReply
from agent.roles.research.next_step import Decision, DecisionContext, hand_over
from agent.roles.role import Role
from agent.types import Action, Fact, Lead, Refusal


def narrow_reply(*, actions: list[str], **_: Any) -> type[BaseModel]:
    """The reply with only those actions that are available now: what is not there leaves the schema."""
    return _build_reply(tuple(dict.fromkeys([*actions, "send_to_hitl"])))


@lru_cache(maxsize=32)
def _build_reply(actions: tuple[str, ...]) -> type[BaseModel]:
    return create_model("Decision", __base__=Decision, next_action=(Literal[actions], ...))  # type: ignore[arg-type]


def fallback(
    *,
    question: str,
    notes: list[str],
    report: AnalyzerReply | None,
    history: list[Action],
    facts: list[Fact],
    leads: list[Lead],
    actions: list[str],
    blockage: Any | None,
    threshold: float,
    remaining: int,
    level: float = 0.0,
    refused: Sequence[Refusal] = (),
) -> Decision:
    """The next action by rule: the person's word, the blockage's rung, the first search, then the best lead
    until covered."""
    now = DecisionContext(question, notes, history, facts, leads, actions, threshold, refused)
    if remaining <= 0:
        return hand_over("The run's tool actions are used up; what was found goes to the person.")
    if told := now.follow_note():
        return told
    if blockage is not None:
        return now.escalate(str(blockage.rung))
    return now.decide_next() if history else now.decide_first()


DECISION = Role(name="decision", reply=Decision, fallback=fallback, tier="strong", narrow_reply=narrow_reply)
