"""Does what the answers of a ledger say of themselves come out again? Each is checked anew, on the facts it
was written from.

Code alone, as when the answer was made: a ledger that a hand has changed tells here what its sentences no
longer stand on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from agent.engine.run_state import RunState
from agent.engine.state import fold, merge, shallow_copy
from agent.evidence import citation_check
from agent.flows.shared import fact_view
from agent.flows.shared.conflict_sentences import is_conflict_sentence
from agent.types import Answer, Fact, Sentence, Step

MAX_REPLAYS = 40
"""Answers for which the steps are folded anew from the first: more no honest run has, and it must come to an
end."""


def find_answer_problems(fresh: RunState, steps: Sequence[Step]) -> Iterator[str]:
    """What does not come out again, a sentence each. `fresh` is the state before the first step; `steps` can
    be folded."""
    state, left = shallow_copy(fresh), MAX_REPLAYS
    for step in steps:
        before = len(state.answers)
        for answer in merge(state, step.change).answers[before:]:
            bare = _find_unsupported(answer, state)
            if (
                bare and 0 < answer.step < step.n and left
            ):  # a person spoke while it was written, and it was recorded after their word
                left -= 1
                bare = _find_unsupported(
                    answer, merge(fold(shallow_copy(fresh), steps[: answer.step]), step.change)
                )
            yield from (
                f"a statement is called backed, and what it cites does not carry it: “{text[:120]}”"
                for text in bare
            )
            yield from _check_statement_counts(answer)


def _find_unsupported(answer: Answer, state: RunState) -> list[str]:
    """The sentences that are called backed and are not."""
    open_ones = [n for n, sentence in enumerate(answer.sentences) if sentence.backed]
    for facts in _candidate_facts(state):
        for among in _sentence_groups(answer.sentences):
            if open_ones:
                checked, _ = citation_check.check_citations(
                    [answer.sentences[n] for n in among], facts, state.conflicts.values()
                )
                good = {n for n, sentence in zip(among, checked, strict=True) if sentence.backed}
                open_ones = [n for n in open_ones if n not in good]
    return [answer.sentences[n].text for n in open_ones]


def _candidate_facts(state: RunState) -> Iterator[Mapping[str, Fact]]:
    """The facts an answer may have been checked by. Where a facility stands is told whatever a note rules
    out; and of a reply, which is cut to a length, one side of what is disputed may be left."""
    yield fact_view.facts_after_notes(state)
    yield state.facts
    yield from state.own.fact_sets_for_check(state)


def _sentence_groups(sentences: Sequence[Sentence]) -> list[list[int]]:
    """As they were checked when it was written: those that name a conflict, which code wrote, apart from the
    others; and all of them."""
    named = [n for n, sentence in enumerate(sentences) if is_conflict_sentence(sentence.text)]
    others = [n for n in range(len(sentences)) if n not in named]
    return [*([named, others] if named and others else []), list(range(len(sentences)))]


def _check_statement_counts(answer: Answer) -> Iterator[str]:
    backed = sum(sentence.backed for sentence in answer.sentences)
    if (answer.statements.backed, answer.statements.unsupported) != (backed, len(answer.sentences) - backed):
        yield f"answer {answer.n} counts other statements than it has"
