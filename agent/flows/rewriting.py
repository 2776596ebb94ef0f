"""The answer written from the accepted facts alone: the report of a research run, and of any run whose facts a person has edited."""

from __future__ import annotations

from agent.flows import moves
from agent.flows.state import Research
from agent.flows.verdict import answer
from agent.roles.report import REPORT
from agent.toolbox import Tools
from agent.types import Answer, Outcome


def written(state: Research, tools: Tools) -> Answer:
    """The answer as the facts that may count give it, its citations checked; an honest `no_evidence` when nothing is left."""
    usable = moves.answering(state)
    facts = usable + [fact for fact in moves.memory(state) if fact.verified and fact.disputed]
    judgement = tools.judge(
        REPORT, question=state.question, notes=moves.notes(state), facts=facts, conflicts=list(state.conflicts.values()),
        assessment=str((state.report or {}).get("assessment", "")), confidence=state.level, history=state.actions,
        failures=[page for page in state.pages.values() if page.outcome is not Outcome.OK], why_stopped=state.why_stopped,
        former=state.answer,
    )  # fmt: skip
    return answer(state, judgement, tools.step)
