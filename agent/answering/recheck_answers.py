"""Checks again whether the answers of a ledger are backed by the facts they were written from. Code alone."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from pydantic import TypeAdapter

from agent.answering import conflict_sentences, fact_view
from agent.answering.conflict_sentences import is_conflict_sentence
from agent.engine.run_state import RunState
from agent.engine.state import find_undone, fold, merge, shallow_copy
from agent.evidence.citation_check import check_citations, count_statements, has_page_support
from agent.export.hiding import is_withheld
from agent.types import SUPPORTED_VERDICTS, Answer, AnswerBlock, Conflict, Step

MAX_REPLAYS = 40
"""Times that the steps are folded again from the first; a limit against forged ledgers."""
_CONFLICTS = TypeAdapter(list[Conflict])
_FIELDS_WITH_CHECKS = {"assessments", "plan_parts"}
"""Fields that a step records with an answer since its sentences have a check."""


def find_answer_problems(fresh: RunState, steps: Sequence[Step]) -> Iterator[str]:
    """A sentence for each problem. `fresh` is the state before the first step; `steps` can be folded."""
    state, left, told = shallow_copy(fresh), MAX_REPLAYS, dict[str, Conflict]()
    for n, step in enumerate(steps):
        before = len(state.answers)
        if find_undone([step]) and left:
            state, left = fold(shallow_copy(fresh), steps[: n + 1]), left - 1
        else:
            fold(state, [step])
        stored = _CONFLICTS.validate_python(step.change.get("conflicts", []))  # by earlier versions
        told |= {conflict.id: conflict for conflict in stored}
        for answer in state.answers[before:]:
            bare = _find_unsupported(answer, state, told.values())
            if bare and 0 < answer.step < n and left:  # recorded after a person's step that came meanwhile
                left -= 1
                then = merge(fold(shallow_copy(fresh), steps[: answer.step]), step.change)
                bare = _find_unsupported(answer, then, told.values())
            for text in bare:
                yield f"a statement is called supported, and what it cites does not carry it: “{text[:120]}”"
            is_recent = bool(step.change.keys() & _FIELDS_WITH_CHECKS)
            yield from _find_wrong_marks(answer, is_recent=is_recent)


def _find_wrong_marks(answer: Answer, *, is_recent: bool) -> Iterator[str]:
    blocks = {block.id: block for block in answer.blocks}
    for sentence in answer.sentences:
        text = sentence.claim[:120]
        if is_recent and sentence.backed and not sentence.check:
            yield f"a statement is called supported, and no check of it is recorded: “{text}”"
        if sentence.check and sentence.backed != (sentence.check in SUPPORTED_VERDICTS):
            yield f"a statement is called supported against its own check: “{text}”"
        place = (blocks.get(sentence.block) or AnswerBlock(id="")).describe_cell(
            sentence.row, sentence.column
        )
        if not is_withheld(sentence.context) and sentence.context != place:
            yield f"a table cell was checked for another row or column: “{text}”"
    if answer.statements != count_statements(answer.sentences, answer.statements.dropped):
        yield f"answer {answer.n} counts other statements than it has"


def _find_unsupported(answer: Answer, state: RunState, told: Collection[Conflict]) -> list[str]:
    """The sentences that are called backed and are not, whichever facts they are checked against (a facility
    search ignores notes, a shortened reply disputes); not those that are withheld, or whose labels are: they
    say nothing. Of a judge's word, which cannot be repeated, code only must not veto it."""
    said = answer.sentences
    suspects = {
        n for n, s in enumerate(said) if s.backed and not (is_withheld(s.text) or is_withheld(s.context))
    }
    own, turns = state.own.relevance_question(state), [turn.user for turn in state.history]
    asked = [state.question, state.asked, own, *fact_view.note_texts(state), *turns]
    question = "\n".join(dict.fromkeys(filter(None, asked)))
    conflicts = [*told, *state.conflicts.values()]
    by_code = {n for n, s in enumerate(said) if is_conflict_sentence(s.text)}
    groups = [sorted(by_code), sorted(set(range(len(said))) - by_code), list(range(len(said)))]
    sets = [fact_view.facts_after_notes(state), state.facts, *state.own.fact_sets_for_check(state)]
    for facts in sets if suspects else ():
        written_by_code = conflict_sentences.list_possible_sentences(state.question, conflicts, facts)
        for group in filter(None, groups):
            checked, _ = check_citations([said[n] for n in group], facts, conflicts, question=question)
            for n, new in zip(group, checked, strict=True):
                is_exact = said[n].check in ("quoted", "computed")  # "": by an earlier version
                holds = (
                    new.check in ("quoted", "computed")
                    if is_exact
                    else not said[n].check or new.check not in ("vetoed", "not_supported")
                )
                cites_page = any(has_page_support(facts[i]) for i in new.fact_ids)
                if cites_page and (holds or said[n].text in written_by_code):
                    suspects.discard(n)
    return [said[n].claim for n in sorted(suspects)]
