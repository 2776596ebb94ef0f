"""The answer written from the accepted facts alone: the report of a research run, and of any run whose facts
a person has edited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent.engine.context import RunContext
from agent.evidence.contradiction.resolution import CLOSED_REASONS
from agent.flows.shared import fact_view
from agent.flows.shared.run_state import RunState
from agent.flows.shared.verdict import build_answer
from agent.flows.site.state import SiteState
from agent.roles.research.report import REPORT, ReportSentence
from agent.types import Answer, Fact, Outcome


def write_report(state: RunState, tools: RunContext) -> Answer:
    """The answer as the facts that may count give it, its citations checked; an honest `no_evidence` when
    nothing is left."""
    question, wish = state.question, list[str]()
    if isinstance(state, SiteState):  # a turn of a conversation, with a word on how to answer
        question, wish = (
            state.asked or state.question,
            [state.settings.instruction] if state.settings.instruction.strip() and tools.client else [],
        )
    clashes = [clash for clash in state.conflicts.values() if clash.reason not in CLOSED_REASONS]
    usable, edited = fact_view.facts_for_answer(state), bool(state.edits)
    facts = usable + [fact for fact in fact_view.facts_for_prompt(state) if fact.verified and fact.disputed]
    judgement = tools.judge(
        REPORT,
        question=question,
        notes=[*wish, *fact_view.note_texts(state)],
        facts=facts,
        conflicts=clashes,
        assessment="" if edited else str((state.report or {}).get("assessment", "")),
        confidence=state.current_confidence,
        history=state.actions,
        failures=[page for page in state.pages.values() if page.outcome is not Outcome.OK],
        why_stopped=state.why_stopped,
        former=_without_fallen_sentences(state) if edited else state.answer,
    )
    if (
        edited
        and judgement.by == "keyless"
        and isinstance(state, SiteState)
        and (kept := _keep_drafted_sentences(state))
    ):
        judgement = judgement.model_copy(
            update={"value": judgement.value.model_copy(update={"answer": kept})}
        )
    return build_answer(state, judgement, tools.step)


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


def _keep_drafted_sentences(state: SiteState) -> list[ReportSentence]:
    """What a site was quoted for when its answer was drafted, as far as it stands; pinned facts go before it.

    Its keyless draft chose among passages and knew more of them than their facts tell: it is not chosen anew,
    unless a note came since."""
    draft = next((draft for draft in reversed(state.answers) if not draft.because), None)
    if draft is None or any(note.step > draft.step for note in state.notes):
        return []
    facts = fact_view.facts_after_notes(state)
    cited = [sentence for sentence in draft.sentences if sentence.fact_ids]
    kept = [
        sentence for sentence in cited if all(i in facts and facts[i].can_support for i in sentence.fact_ids)
    ]
    there = {i for sentence in kept for i in sentence.fact_ids}
    pinned = [
        fact
        for fact in fact_view.facts_for_answer(state)
        if fact.decision == "pinned" and fact.id not in there
    ]
    said = [
        ReportSentence(
            text=apply_corrections(sentence.text, sentence.fact_ids, facts), fact_ids=sentence.fact_ids
        )
        for sentence in kept
    ]
    return [ReportSentence(text=fact.statement, fact_ids=[fact.id]) for fact in pinned] + said if said else []


def apply_corrections(text: str, fact_ids: Sequence[str], facts: Mapping[str, Fact]) -> str:
    """A sentence as it was; in the words of its facts when a person corrected one."""
    behind = [facts[i] for i in fact_ids if i in facts]
    return " ".join(fact.statement for fact in behind) if any(fact.former for fact in behind) else text
