"""Checks again whether the answers of a ledger are backed by the facts they were written from. Code alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agent.answering import conflict_sentences, fact_view
from agent.engine.run_state import RunState
from agent.engine.state import (
    find_undone,
    fold,
    is_persons_change,
    merge,
    shallow_copy,
    state_after,
    to_jsonable,
)
from agent.evidence.citation_check import check_citations, count_statements, has_page_support
from agent.evidence.claim_check import CERTAIN_VERDICTS
from agent.export.hiding import is_withheld
from agent.text.plurals import clip
from agent.types import SUPPORTED_VERDICTS, Answer, AnswerBlock, Fact, Step

MAX_REPLAYS = 40
"""States that are kept to be folded on from, and how often each step may be folded in the mean: a limit
against forged ledgers. A run that people undid and redid comes near once, whatever its length."""


class _Replay:
    """The state after any number of the steps, without what was undone by then; folded on from the newest of
    the states that were asked for which agrees about what is undone."""

    def __init__(self, fresh: RunState, steps: Sequence[Step]) -> None:
        self.steps, self.left = steps, MAX_REPLAYS * (len(steps) + 1)
        self.fresh, self.kept = (0, frozenset[int](), fresh), list[tuple[int, frozenset[int], RunState]]()
        self.undos = [step for step in steps if find_undone([step])]

    def after(self, count: int) -> RunState:
        """The state after the first `count` steps, for reading."""
        undone = frozenset(find_undone([step for step in self.undos if step.n < count]))
        undone = frozenset(n for n in undone if 0 <= n < count and is_persons_change(self.steps[n].change))
        at, _, state = max(
            (
                kept
                for kept in (self.fresh, *self.kept)
                if kept[0] <= count and all(n >= kept[0] for n in undone ^ kept[1])
            ),
            key=lambda kept: kept[0],
        )
        self.left -= count - at
        state = fold(shallow_copy(state), self.steps[at:count])
        self.kept = [*self.kept[1 - MAX_REPLAYS :], (count, undone, state)]
        return state


def find_answer_problems(fresh: RunState, steps: Sequence[Step]) -> Iterator[str]:
    """A sentence for each problem. `fresh` is the state before the first step; `steps` can be folded."""
    replay = _Replay(fresh, steps)
    for n, step in enumerate(steps):
        if not (new := len(step.change.get("answers", ()))):
            continue
        if replay.left < 0:
            yield "its steps undo one another too often to be followed"
            return
        state = replay.after(n + 1)
        for answer in state.answers[-new:]:
            bare = _find_unsupported(answer, state)
            if bare and 0 < answer.step < n:  # recorded after a person's step that came meanwhile
                then = merge(shallow_copy(replay.after(answer.step)), step.change)
                bare = _find_unsupported(answer, then)
            yield from _list_problems(answer, bare)
            for said in answer.sentences:
                text = clip(said.claim)
                if said.backed and not said.check:
                    yield f"a statement is called supported, and no check of it is recorded: “{text}”"


def find_former_problems(answer: Answer, state: RunState, facts: Sequence[Fact]) -> list[str]:
    """A sentence for each problem of an answer of the former version, which may hold no check, over the facts
    that the steps gave up to it. `state` is empty but for the questions."""
    change = to_jsonable({"facts": [fact.replace(decision="none", disputed=False) for fact in facts]})
    state = state_after(state, change)
    state.facts = {name: fact.replace(disputed=False) for name, fact in state.facts.items()}
    return list(_list_problems(answer, _find_unsupported(answer, state)))


def _list_problems(answer: Answer, bare: Sequence[str]) -> Iterator[str]:
    for text in bare:
        yield f"a statement is called supported, and what it cites does not carry it: “{clip(text)}”"
    blocks = {block.id: block for block in answer.blocks}
    for said in answer.sentences:
        text, block = clip(said.claim), blocks.get(said.block) or AnswerBlock(id="")
        if said.check and said.backed != (said.check in SUPPORTED_VERDICTS):
            yield f"a statement is called supported against its own check: “{text}”"
        if not is_withheld(said.context) and said.context != block.describe_cell(said.row, said.column):
            yield f"a table cell was checked for another row or column: “{text}”"
    if answer.statements != count_statements(answer.sentences, answer.statements.dropped):
        yield f"answer {answer.n} counts other statements than it has"


def _find_unsupported(answer: Answer, state: RunState) -> list[str]:
    """The sentences that are called backed and are not, whichever facts they are checked against (a facility
    search ignores notes, a shortened reply disputes); not those that are withheld, or whose labels are: they
    say nothing. A judge's word cannot be repeated; what stands nowhere in the sources must have been told."""
    said, conflicts = answer.sentences, list(state.conflicts.values())
    shows_all = answer.verdict == "checked"  # it was checked over more of the source than the quote kept
    suspects = {
        n for n, s in enumerate(said) if s.backed and not (is_withheld(s.text) or is_withheld(s.context))
    }
    own, turns = state.own.relevance_question(state), [turn.user for turn in state.history]
    asked = [state.question, state.asked, own, *fact_view.note_texts(state), *turns]
    question = "\n".join(dict.fromkeys(filter(None, asked)))
    by_code = {n for n, s in enumerate(said) if conflict_sentences.is_conflict_sentence(s.text)}
    groups = [sorted(by_code), sorted(set(range(len(said))) - by_code), list(range(len(said)))]
    sets = [fact_view.facts_after_notes(state), state.facts, *state.own.fact_sets_for_check(state)]
    for facts in sets if suspects else ():
        written_by_code = conflict_sentences.list_possible_sentences(state.question, conflicts, facts)
        for group in filter(None, groups):
            checked, _ = check_citations([said[n] for n in group], facts, conflicts, question=question)
            for n, new in zip(group, checked, strict=True):
                told = {finding.claimed for finding in said[n].findings}
                absent = {finding.claimed for finding in new.findings if finding.is_absent}
                if said[n].check in CERTAIN_VERDICTS and not shows_all:
                    holds = new.check in CERTAIN_VERDICTS
                elif said[n].check or shows_all:
                    holds = new.check != "not_supported" and (shows_all or absent <= told)
                else:  # of the former version
                    holds = new.check not in ("differs", "not_supported")
                holds = holds and n not in by_code
                cites_page = any(has_page_support(facts[i]) for i in new.fact_ids)
                if cites_page and (holds or said[n].text in written_by_code):
                    suspects.discard(n)
    return [said[n].claim for n in sorted(suspects)]
