"""The answer written from the accepted facts alone: the report of a research run, and of any run whose facts
a person has edited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent.engine.context import RunContext
from agent.engine.run_state import RunState
from agent.evidence.contradiction.resolution import CLOSED_REASONS
from agent.flows.shared import fact_view
from agent.roles.research.report import REPORT
from agent.roles.role import RoleResult
from agent.types import Answer, Fact, Outcome


def ask_report(
    state: RunState,
    tools: RunContext,
    *,
    question: str = "",
    wishes: Sequence[str] = (),
    assessment: str = "",
) -> RoleResult:
    """The report as its role writes it from the facts that may count.

    `question` stands for the run's own, `wishes` go before the person's notes, `assessment` is the
    analyzer's; after an edit it is left out."""
    clashes = [clash for clash in state.conflicts.values() if clash.reason not in CLOSED_REASONS]
    usable, edited = fact_view.facts_for_answer(state), bool(state.edits)
    facts = usable + [fact for fact in fact_view.facts_for_prompt(state) if fact.verified and fact.disputed]
    return tools.judge(
        REPORT,
        question=question or state.question,
        notes=[*wishes, *fact_view.note_texts(state)],
        facts=facts,
        conflicts=clashes,
        assessment="" if edited else assessment,
        confidence=state.current_confidence,
        history=state.actions,
        failures=[page for page in state.pages.values() if page.outcome is not Outcome.OK],
        why_stopped=state.why_stopped,
        former=_without_fallen_sentences(state) if edited else state.answer,
    )


def _without_fallen_sentences(state: RunState) -> Answer | None:
    """The former answer without the sentences that rest on what does not count any more: a writer must not
    find those again."""
    former = state.answer
    if former is None:
        return None
    facts = fact_view.facts_after_notes(state)
    kept = [
        sentence
        for sentence in former.sentences
        if all(i in facts and facts[i].decision != "struck" for i in sentence.fact_ids)
    ]
    return former.model_copy(update={"sentences": kept})


def apply_corrections(text: str, fact_ids: Sequence[str], facts: Mapping[str, Fact]) -> str:
    """A sentence as it was; in the words of its facts when a person corrected one."""
    behind = [facts[i] for i in fact_ids if i in facts]
    return " ".join(fact.statement for fact in behind) if any(fact.former for fact in behind) else text
