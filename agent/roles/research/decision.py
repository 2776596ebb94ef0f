"""Chooses the next action: search, read a page, or hand the findings to the person. The rules of the fallback
are in `next_step`.

The reply is the contract of the research flow: `next_action`, `query_or_url`, `reasoning`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal

from pydantic import create_model

from agent.roles.research.analyzer import AnalyzerReply
from agent.roles.research.next_step import Decision, DecisionContext, decide_by_rule, hand_over
from agent.roles.role import Role, RoleReply
from agent.types import Action, Fact, Lead, Refusal


def narrow_reply(*, actions: list[str], **_: Any) -> type[RoleReply]:
    """The reply with only the actions that are available now."""
    return _build_reply(tuple(dict.fromkeys([*actions, "send_to_hitl"])))


@lru_cache(maxsize=32)
def _build_reply(actions: tuple[str, ...]) -> type[RoleReply]:
    allowed: Any = Literal[actions]  # type: ignore[valid-type]
    return create_model("Decision", __base__=Decision, next_action=(allowed, ...))


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
    """The next action by rule; the person when no action is left."""
    if remaining <= 0:
        return hand_over("The run's tool actions are used up; what was found goes to the person.")
    now = DecisionContext(question, notes, history, facts, leads, actions, threshold, refused)
    return decide_by_rule(now, str(blockage.rung) if blockage is not None else "")


DECISION = Role(name="decision", reply=Decision, fallback=fallback, tier="strong", narrow_reply=narrow_reply)
