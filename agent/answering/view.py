"""What follows from the facts, rulings, notes and marks of a run, and is not stored: which facts are struck
with their source or disputed, the conflicts, the confidence, and what became of each part of the plan.

It is folded on from step to step: new facts are compared with those most like them, and a change that touches
nothing of it costs nothing. An edit has nothing to take back, and an undone step is not there."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from agent.answering import fact_view
from agent.answering.confidence import assess_confidence
from agent.answering.verdict import close_plan
from agent.engine.run_state import FlowState, RunState
from agent.engine.state import REMOVAL_PREFIX, Change
from agent.evidence.conflicts import ConflictIndex, find_disputed, settle_conflict
from agent.text.urls import site
from agent.types import Conflict, ConflictSide, Fact

_FACTS = frozenset("facts -facts strikes -strikes rulings notes readings plan_parts asked question".split())
_CLAIMS = _FACTS | {"answers", "assessments"}
"""The fields that conflicts follow from, and those that the confidence follows from."""


class AnsweringState(FlowState):
    """The record of a flow that answers from facts."""

    def derive_view(self, run: RunState[Any], change: Change, step: int) -> None:
        """Mark the facts, find the conflicts and, where something was assessed, the confidence."""
        if change.keys() & _FACTS:
            changed = {fact["id"] for fact in change.get("facts", ())}
            _strike_with_sources(run, change, changed)
            # The conflicts among the facts that count after the notes, and `disputed` of each fact
            active = {name: fact for name, fact in fact_view.facts_after_notes(run).items() if fact.is_active}
            found = list[Conflict]()
            if (
                run.own.compares_within_site
                or len({site(fact.url) for fact in active.values() if fact.url}) > 1
            ):
                index, questions = run.derived or ConflictIndex(), run.own.comparison_questions(run)
                edited = (run.facts[name] for name in changed if name in run.facts)  # struck ones, too
                run.derived = index.join([*active.values(), *edited], questions, changed)
                found = run.derived.find_conflicts(active, run.rulings)
                found += _list_reported(run, active, found)
            before, disputed = find_disputed(run.conflicts.values()), find_disputed(found)
            for name in run.facts.keys() & {*changed, *before, *disputed}:
                run.facts[name] = run.facts[name].replace(disputed=name in disputed)
            run.conflicts = {conflict.id: conflict for conflict in found}
        if change.keys() & _CLAIMS:
            _assess(run, change, step)


def _strike_with_sources(run: RunState[Any], change: Change, changed: Collection[str]) -> None:
    """Strike the facts of a source that a person struck since they last marked the fact; restore those of a
    freed one."""
    freed = change.get(f"{REMOVAL_PREFIX}strikes", ())
    for name in list(run.facts) if freed or "strikes" in change else changed:
        fact = run.facts[name]
        if fact.struck_with in freed:
            fact = run.facts[name] = fact.replace(decision="none", struck_with="")
        struck = (source for source, step in run.strikes.items() if step > fact.marked)
        source = next((one for one in struck if fact_view.is_from_source(fact.url, one)), "")
        if source and fact.decision != "struck":
            run.facts[name] = fact.replace(decision="struck", struck_with=source)


def _list_reported(
    run: RunState[Any], active: Mapping[str, Fact], known: Sequence[Conflict]
) -> list[Conflict]:
    """The conflicts that a model reported, by those of their sides that count still: two at least, of which
    no conflict in `known` has two."""
    found = dict[str, Conflict]()
    for said in run.assessments:
        sides = [active[name] for name in said.sides if name in active]
        if len(sides) < 2 or any(
            sum(any(fact.id in value.fact_ids for fact in sides) for value in conflict.values) > 1
            for conflict in known
        ):
            continue
        values = [
            ConflictSide(text=fact.statement, fact_ids=[fact.id], sites=[site(fact.url)]) for fact in sides
        ]
        conflict = Conflict(
            id=f"m{'-'.join(sorted(fact.id[-6:] for fact in sides))}",
            subject=sides[0].subject,
            attribute=sides[0].attribute,
            kind="name",
            values=values,
            found_by="model",
            step=said.step,
            asks=True,
        )
        found[conflict.id] = settle_conflict(conflict, run.rulings, active)
    return list(found.values())


def _assess(run: RunState[Any], change: Change, step: int) -> None:
    """A point of the confidence for each judgement of a model, and for what a person or a note changed since.
    It rests on the claims of an answer until something is read again."""
    if not run.assessments:
        return
    answer = run.answer if not run.actions_this_round else None
    rests_on = answer if answer and answer.step == run.assessments[-1].step else None
    level = assess_confidence(run, step, answer=rests_on)
    if rests_on and "plan_parts" not in change:
        run.plan_parts = close_plan(run, level, rests_on)
    if level is None:
        return
    why = "; ".join(edit["text"] for edit in change.get("edits", ()))
    if change.keys() & {"notes", "readings"} and (sites := fact_view.excluded_sites(run)):
        why = f"left out {', '.join(sites)}"
    if why:
        level = level.replace(moves=[m.replace(reason=f"{why}: {m.reason}") for m in level.moves])
    last = run.confidence[-1] if run.confidence else None
    if "assessments" in change or not last or (level.value, level.parts) != (last.value, last.parts):
        run.confidence = [*run.confidence, level]
