"""The answer written from the accepted facts alone: the report of a research run, and of any run whose facts a person has edited."""

from __future__ import annotations

from agent.evidence.conflicts import FELL
from agent.flows import moves
from agent.flows.state import Research
from agent.flows.verdict import answer
from agent.roles.report import REPORT
from agent.toolbox import Tools
from agent.types import Answer, Outcome


def written(state: Research, tools: Tools) -> Answer:
    """The answer as the facts that may count give it, its citations checked; an honest `no_evidence` when nothing is left."""
    clashes = [clash for clash in state.conflicts.values() if clash.reason != FELL]
    usable, edited = moves.answering(state), bool(state.edits)
    facts = usable + [fact for fact in moves.memory(state) if fact.verified and fact.disputed]
    judgement = tools.judge(
        REPORT, question=state.question, notes=moves.notes(state), facts=facts, conflicts=clashes,
        assessment="" if edited else str((state.report or {}).get("assessment", "")), confidence=state.level, history=state.actions,
        failures=[page for page in state.pages.values() if page.outcome is not Outcome.OK], why_stopped=state.why_stopped,
        former=_still(state) if edited else state.answer,
    )  # fmt: skip
    return answer(state, judgement, tools.step)


def _still(state: Research) -> Answer | None:
    """The former answer without the sentences that rest on what does not count any more: a writer must not find those again."""
    former = state.answer
    if former is None:
        return None
    facts = moves.standing(state)
    kept = [sentence for sentence in former.sentences if all(i in facts and facts[i].decision != "struck" for i in sentence.fact_ids)]
    return former.model_copy(update={"sentences": kept})
