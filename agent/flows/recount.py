"""Does what the answers of a ledger say of themselves come out again? Each is checked anew, on the facts it was written from.

Code alone, as when the answer was made: a ledger that a hand has changed tells here what its sentences no longer stand on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from agent.evidence import answers
from agent.flows import moves
from agent.flows.naming import names_a_conflict
from agent.flows.reply_state import Reply
from agent.flows.state import Research
from agent.state import fold, fork, merge
from agent.types import Answer, Fact, Sentence, Step

LONGER_WAYS = 40
"""Answers for which the steps are folded anew from the first: more no honest run has, and it must come to an end."""


def troubles(fresh: Research, steps: Sequence[Step]) -> Iterator[str]:
    """What does not come out again, a sentence each. `fresh` is the state before the first step; `steps` can be folded."""
    state, left = fork(fresh), LONGER_WAYS
    for step in steps:
        before = len(state.answers)
        for answer in merge(state, step.change).answers[before:]:
            bare = _bare(answer, state)
            if bare and 0 < answer.step < step.n and left:  # a person spoke while it was written, and it was recorded after their word
                left -= 1
                bare = _bare(answer, merge(fold(fork(fresh), steps[: answer.step]), step.change))
            yield from (f"a statement is called backed, and what it cites does not carry it: “{text[:120]}”" for text in bare)
            yield from _miscounted(answer)


def _bare(answer: Answer, state: Research) -> list[str]:
    """The sentences that are called backed and are not."""
    open_ones = [n for n, sentence in enumerate(answer.sentences) if sentence.backed]
    for facts in _grounds(state):
        for among in _parts(answer.sentences):
            if open_ones:
                checked, _ = answers.check([answer.sentences[n] for n in among], facts, state.conflicts.values())
                good = {n for n, sentence in zip(among, checked, strict=True) if sentence.backed}
                open_ones = [n for n in open_ones if n not in good]
    return [answer.sentences[n].text for n in open_ones]


def _grounds(state: Research) -> Iterator[Mapping[str, Fact]]:
    """The facts an answer may have been checked by. Where a facility stands is told whatever a note rules out; and of a reply, which is
    cut to a length, one side of what is disputed may be left.
    """
    yield moves.standing(state)
    yield state.facts
    if isinstance(state, Reply):
        yield {name: fact.model_copy(update={"disputed": False}) for name, fact in state.facts.items()}


def _parts(sentences: Sequence[Sentence]) -> list[list[int]]:
    """As they were checked when it was written: those that name a conflict, which code wrote, apart from the others; and all of them."""
    named = [n for n, sentence in enumerate(sentences) if names_a_conflict(sentence.text)]
    others = [n for n in range(len(sentences)) if n not in named]
    return [*([named, others] if named and others else []), list(range(len(sentences)))]


def _miscounted(answer: Answer) -> Iterator[str]:
    backed = sum(sentence.backed for sentence in answer.sentences)
    if (answer.statements.backed, answer.statements.unsupported) != (backed, len(answer.sentences) - backed):
        yield f"answer {answer.n} counts other statements than it has"
