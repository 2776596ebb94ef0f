"""Chooses the next round: up to four searches and pages for named parts of the question, or the hand-over to
the person. The rules of the fallback are in `next_step`.

Each action has the contract of the research flow: `next_action`, `query_or_url`, `reasoning`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import Field, model_validator

from agent.roles.research.analyzer import AnalyzerReply
from agent.roles.research.next_step import Decision, DecisionContext, decide_by_rule, hand_over
from agent.roles.role import Role, RoleReply
from agent.types import Action, Fact, Lead, PlanPart, Refusal, SearchHit


class DecisionReply(RoleReply):
    """The actions of the next round."""

    actions: list[Decision] = Field(min_length=1, description="one to four actions, carried out side by side")

    @model_validator(mode="before")
    @classmethod
    def read_single_action(cls, data: Any) -> Any:
        """The data, where one action stands at the top as a list of one: small models write it so."""
        is_single = isinstance(data, dict) and "next_action" in data and not data.get("actions")
        return {"actions": [data]} if is_single else data


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
    parts: Sequence[PlanPart] = (),
    conflict: str = "",
    engines: Sequence[str] = (),
    results: Sequence[SearchHit] = (),
    unread: Sequence[Lead] = (),
    wishes: Sequence[str] = (),
    settled: Sequence[str] = (),
    brief: Sequence[str] = (),
    unlisted: int = 0,
) -> DecisionReply:
    """One action by rule; the person when no action is left. `conflict` is the open one on what was asked, in
    words; `engines` are the run's, a line each; `results` those of the last
    searches, `unread` pages with passages that were not shown, and why they may help (`Lead.why`). `wishes`:
    what the notes ask to look for, as they were understood, the newest first."""
    if remaining <= 0:
        stop = hand_over("The run's tool actions are used up; what was found goes to the person.")
        return DecisionReply(actions=[stop])
    now = DecisionContext(question, notes, wishes, history, facts, leads, actions, threshold, refused)
    return DecisionReply(actions=[decide_by_rule(now, str(blockage.rung) if blockage is not None else "")])


DECISION = Role(
    name="decision",
    reply=DecisionReply,
    fallback=fallback,
    tier="strong",
    cut=("facts", "results", "leads", "unread", "history", "refused", "wishes"),
)
