"""The report of a run from the facts that may count: after a person's edits, nothing that fell is shown
again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent.engine.context import RunContext
from agent.engine.run_state import RunState
from agent.evidence.contradiction.resolution import CLOSED_REASONS
from agent.flows.shared import fact_view
from agent.roles.research.report import REPORT
from agent.roles.role import RoleResult
from agent.types import Answer


def ask_report(
    state: RunState,
    tools: RunContext,
    *,
    question: str = "",
    wishes: Sequence[str] = (),
) -> RoleResult:
    """What the report's writer says; without usable facts no model is asked.

    `question` replaces the run's own, `wishes` precede the person's notes. The analyzer's assessment is no
    evidence and is not shown."""
    facts = fact_view.facts_after_notes(state)
    blanks: dict[str, Any] = {
        "question": question or state.question,
        "notes": [*wishes, *fact_view.note_texts(state)],
        "facts": fact_view.facts_for_answer(state),
        "conflicts": [
            conflict
            for conflict in state.conflicts.values()
            if conflict.reason not in CLOSED_REASONS and fact_view.count_stated_sides(conflict, facts) > 1
        ],
        "history": state.actions,
        "former": _without_fallen_sentences(state),
    }
    return tools.judge(REPORT, **blanks) if blanks["facts"] else REPORT.judge(None, **blanks)


def _without_fallen_sentences(state: RunState) -> Answer | None:
    """The former answer without the sentences that rest on facts which no longer count."""
    if state.answer is None:
        return None
    facts = fact_view.facts_after_notes(state)
    kept = [
        sentence
        for sentence in state.answer.sentences
        if all(i in facts and facts[i].decision != "struck" for i in sentence.fact_ids)
    ]
    return state.answer.replace(sentences=kept)
