"""Chooses the next action: search, read a page, or hand the findings to the person. The rules of the fallback
are in `next_step`.

The reply is the contract of the research flow: `next_action`, `query_or_url`, `reasoning`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent.roles.research.analyzer import AnalyzerReply
from agent.roles.research.next_step import Decision, DecisionContext, decide_by_rule, hand_over
from agent.roles.role import Role
from agent.types import Action, Fact, Lead, PlanPart, Refusal


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
    private_notes: Sequence[str] = (),
    engines: Sequence[str] = (),
) -> Decision:
    """The next action by rule, without the private notes; the person when no action is left. `conflict` is
    the open one on what was asked, in words; `engines` are the run's, a line each."""
    if remaining <= 0:
        return hand_over("The run's tool actions are used up; what was found goes to the person.")
    public = [note for note in notes if note not in private_notes]
    now = DecisionContext(question, public, history, facts, leads, actions, threshold, refused)
    return decide_by_rule(now, str(blockage.rung) if blockage is not None else "")


DECISION = Role(name="decision", reply=Decision, fallback=fallback, tier="strong")
