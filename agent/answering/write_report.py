"""The report of a run from the facts that may count: after edits, nothing that fell is shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent.answering import fact_view
from agent.answering.revision import mark_refuted
from agent.engine.context import RunContext
from agent.engine.run_state import RunState
from agent.evidence.block_layout import prune_blocks, write_block_lines
from agent.roles.report import REPORT, SECTION, ReportReply
from agent.roles.role import Check, RoleResult
from agent.types import Fact, OutlineSection, ReportLength

LENGTH_EDITS: dict[ReportLength, str] = {
    "brief": "asked for a brief answer",
    "standard": "asked for a standard answer",
    "full": "asked for a full report",
}
"""The edit of a person who asks for the answer in another length."""
MAX_TURNS = 3
"""Earlier turns of a conversation that a writer is shown."""


def is_length_final(state: RunState) -> bool:
    """Whether a person asked for a length after their last note."""
    noted = state.notes[-1].step if state.notes else -1
    return any(edit.step > noted and edit.text in LENGTH_EDITS.values() for edit in state.edits)


def choose_length(state: RunState, judgement: RoleResult | None = None) -> ReportLength:
    """The length of an answer: what a person chose last, by button or note; else by the `judgement`."""
    chosen = state.settings.report
    if is_length_final(state):
        return chosen
    if judgement and judgement.by == "model":
        length: ReportLength = judgement.value.length
        return length
    noted = [reading.length for reading in state.readings if reading.length]
    return noted[-1] if noted else chosen


def ask_report(
    state: RunState, tools: RunContext, *, question: str = "", words: str = "", **given: Any
) -> RoleResult:
    """What the report's writer says; without usable facts no model is asked.

    `question` replaces the run's own, `words` is the length that notes were read as, `given` are blanks that
    differ. The analyzer's assessment is no evidence and is not shown."""
    facts = fact_view.show_facts(fact_view.facts_for_answer(state), with_quotes=True)["facts"]
    question, notes = question or state.full_question, fact_view.note_texts(state)
    blanks: dict[str, Any] = {
        "question": question,
        "turns": [turn for turn in state.history if turn.bot][-MAX_TURNS:],
        "notes": notes,
        "facts": facts,
        "conflicts": [conflict for conflict in state.conflicts.values() if conflict.values],
        "former": describe_former(state),
        "length": choose_length(state),
        "is_length_final": is_length_final(state),
        "words": words,
        "parts": state.plan,
    }
    return (
        tools.judge(REPORT, **{**blanks, **given}) if facts else RoleResult(value=ReportReply(), by="keyless")
    )


def ask_section(
    state: RunState,
    tools: RunContext,
    section: OutlineSection,
    facts: Sequence[Fact],
    headings: Sequence[str],
    *,
    check: Check | None = None,
    **blanks: Any,
) -> RoleResult:
    """What the writer of a section says from these facts. `headings` are those of the whole answer; `blanks`
    what differs from a section without notes that is written for the first time."""
    ids = {fact.id for fact in facts}
    asked = next((part.question for part in state.plan if part.id == section.part), "")
    given: dict[str, Any] = {
        "question": state.full_question,
        "notes": fact_view.note_texts(state),
        "outline": [f"{head}{' (this one)' if head == section.heading else ''}" for head in headings],
        "heading": section.heading or asked or state.full_question,
        "asked": asked,
        "words": "",
        "open": "",
        "assumed": "",
        "former": [],
        "kept": [],
        "form": section.form,
        "facts": facts,
        "conflicts": [
            conflict
            for conflict in state.conflicts.values()
            if any(ids.intersection(value.fact_ids) for value in conflict.values)
        ],
        **blanks,
    }
    return tools.judge(SECTION, check=check, **given)


def describe_former(state: RunState) -> str:
    """The former answer without the sentences that rest on facts which no longer count; "" for none."""
    if state.answer is None:
        return ""
    facts = fact_view.facts_after_notes(state)
    kept = [
        sentence
        for sentence in state.answer.sentences
        if all(i in facts and facts[i].decision != "struck" for i in sentence.fact_ids)
    ]
    former = state.answer.replace(sentences=kept)
    former.blocks, former.sentences = prune_blocks(former.blocks, kept)
    lines = write_block_lines(former, lambda sentence: mark_refuted(sentence, sentence.text))
    return "\n".join(lines).strip() or former.text
