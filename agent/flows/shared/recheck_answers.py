"""Checks again whether the answers of a ledger are backed by the facts they were written from. Code alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from agent.engine.run_state import RunState
from agent.engine.state import fold, merge, shallow_copy
from agent.evidence.citation_check import check_citations
from agent.flows.shared import fact_view
from agent.flows.shared.conflict_sentences import is_conflict_sentence
from agent.types import Answer, Fact, Sentence, Step

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
                yield f"a statement is called backed, and what it cites does not carry it: “{text[:120]}”"
            backed = sum(sentence.backed for sentence in answer.sentences)
            counted = (answer.statements.backed, answer.statements.unsupported)
            if counted != (backed, len(answer.sentences) - backed):
                yield f"answer {answer.n} counts other statements than it has"


def _find_unsupported(answer: Answer, state: RunState) -> list[str]:
    """The sentences that are called backed and are not, whichever facts they are checked against."""
    suspects = {n for n, sentence in enumerate(answer.sentences) if sentence.backed}
    for facts in _candidate_facts(state):
        for group in _sentence_groups(answer.sentences) if suspects else []:
            sentences = [answer.sentences[n] for n in group]
            checked, _ = check_citations(sentences, facts, state.conflicts.values())
            suspects -= {n for n, sentence in zip(group, checked, strict=True) if sentence.backed}
    return [answer.sentences[n].text for n in sorted(suspects)]


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
