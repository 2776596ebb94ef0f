"""Checks again whether the answers of a ledger are backed by the facts they were written from. Code alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from agent.answering import conflict_sentences, fact_view
from agent.answering.conflict_sentences import is_conflict_sentence
from agent.engine.run_state import RunState
from agent.engine.state import fold, merge, shallow_copy
from agent.evidence.citation_check import check_citations, count_statements, has_page_support
from agent.export.hiding import is_withheld
from agent.types import SUPPORTED_VERDICTS, Answer, AnswerBlock, Fact, Sentence, Step

MAX_REPLAYS = 40
"""Answers for which the steps are folded again from the first; a limit against forged ledgers."""


def find_answer_problems(fresh: RunState, steps: Sequence[Step]) -> Iterator[str]:
    """A sentence for each problem. `fresh` is the state before the first step; `steps` can be folded."""
    state, left = shallow_copy(fresh), MAX_REPLAYS
    for step in steps:
        before = len(state.answers)
        for answer in merge(state, step.change).answers[before:]:
            bare = _find_unsupported(answer, state)
            if (
                bare and 0 < answer.step < step.n and left
            ):  # recorded after a person's step that came meanwhile
                left -= 1
                then = merge(fold(shallow_copy(fresh), steps[: answer.step]), step.change)
                bare = _find_unsupported(answer, then)
            for text in bare:
                yield f"a statement is called supported, and what it cites does not carry it: “{text[:120]}”"
            is_recent = bool(step.change.get("plan_parts"))  # recorded since sentences have a check
            for sentence in answer.sentences:
                if is_recent and sentence.backed and not sentence.check:
                    text = sentence.claim[:120]
                    yield f"a statement is called supported, and no check of it is recorded: “{text}”"
                if sentence.check and sentence.backed != (sentence.check in SUPPORTED_VERDICTS):
                    yield f"a statement is called supported against its own check: “{sentence.claim[:120]}”"
            yield from _find_moved_cells(answer)
            if answer.statements != count_statements(answer.sentences, answer.statements.dropped):
                yield f"answer {answer.n} counts other statements than it has"


def _find_moved_cells(answer: Answer) -> Iterator[str]:
    """A problem for each table cell that was checked for another row or column than it stands in."""
    blocks = {block.id: block for block in answer.blocks}
    for sentence in answer.sentences:
        block = blocks.get(sentence.block) or AnswerBlock(id="")
        said = sentence.context
        if not is_withheld(said) and said != block.describe_cell(sentence.row, sentence.column):
            yield f"a table cell was checked for another row or column: “{sentence.claim[:120]}”"


def _find_unsupported(answer: Answer, state: RunState) -> list[str]:
    """The sentences that are called backed and are not, whichever facts they are checked against; not those
    that are withheld, or whose labels are: they say nothing."""
    hidden = {n for n, s in enumerate(answer.sentences) if is_withheld(s.text) or is_withheld(s.context)}
    suspects = {n for n, said in enumerate(answer.sentences) if said.backed} - hidden
    asked = _find_asked(state)
    for facts in _candidate_facts(state):
        written_by_code = conflict_sentences.list_possible_sentences(state, facts) if suspects else set()
        for group in _sentence_groups(answer.sentences) if suspects else []:
            sentences = [answer.sentences[n] for n in group]
            checked, _ = check_citations(sentences, facts, state.conflicts.values(), question=asked)
            for n, old, new in zip(group, sentences, checked, strict=True):
                cites_page = any(has_page_support(facts[i]) for i in new.fact_ids)
                if cites_page and (old.text in written_by_code or _holds_again(old, new)):
                    suspects.discard(n)
    return [answer.sentences[n].claim for n in sorted(suspects)]


def _find_asked(state: RunState) -> str:
    """All wordings of the question that a check may have been given: they only say who is meant."""
    own, turns = state.own.relevance_question(state), [turn.user for turn in state.history]
    texts = [state.question, state.asked, own, *fact_view.note_texts(state), *turns]
    return "\n".join(dict.fromkeys(filter(None, texts)))


def _holds_again(old: Sentence, new: Sentence) -> bool:
    """Does the code's part of a check, `new`, allow what was recorded? A judge's word cannot be repeated:
    there code only must not veto. Older versions recorded no check: there the citation counts."""
    if old.check in ("quoted", "computed"):
        return new.check in ("quoted", "computed")
    return not old.check or new.check not in ("vetoed", "not_supported")


def _candidate_facts(state: RunState) -> Iterator[Mapping[str, Fact]]:
    """The facts an answer may have been checked against; facility searches ignore notes."""
    yield fact_view.facts_after_notes(state)
    yield state.facts
    yield from state.own.fact_sets_for_check(state)


def _sentence_groups(sentences: Sequence[Sentence]) -> list[list[int]]:
    """The groups in which they may have been checked: conflict sentences apart from the others, or all."""
    named = [n for n, sentence in enumerate(sentences) if is_conflict_sentence(sentence.text)]
    others = [n for n in range(len(sentences)) if n not in named]
    return [*([named, others] if named and others else []), list(range(len(sentences)))]
