"""What follows from the facts, rulings, notes and marks of a run, and is not stored: which facts are struck
with their source or disputed, the conflicts, the confidence, and what became of each part of the plan.

It is folded on from step to step: new facts are compared with those most like them, and a change that touches
nothing of it costs nothing. An edit has nothing to take back, and an undone step is not there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from agent.answering import fact_view
from agent.answering.conflict_sentences import RULING_PREFIX
from agent.answering.fact_view import find_part
from agent.engine.run_state import FlowState, RunState
from agent.engine.state import REMOVAL_PREFIX, Change
from agent.evidence import confidence
from agent.evidence.claim_check import CERTAIN_VERDICTS
from agent.evidence.confidence import PRECISION, Evidence, EvidencePool, compute_part, explain_changes
from agent.evidence.conflicts import ConflictIndex, find_disputed, settle_conflict
from agent.evidence.sources import is_site_name
from agent.text.question_analysis import parse_question
from agent.text.urls import site
from agent.types import (
    Answer,
    Confidence,
    Conflict,
    ConflictSide,
    Fact,
    PartConfidence,
    PartStatus,
    PlanPart,
    Sentence,
)

UNSTATED_JUDGEMENT = 0.9
"""The judgement of a model that gives no estimate (our own: the statements of its answer passed a check)."""

_FACTS = frozenset("facts -facts strikes -strikes rulings notes readings plan_parts asked question".split())
_CLAIMS = _FACTS | {"answers", "assessments"}
"""The fields that conflicts follow from, and those that the confidence follows from."""


class AnsweringState(FlowState):
    """The record of a flow that answers from facts."""

    def derive_view(self, run: RunState[Any], change: Change, step: int) -> None:
        """Mark the facts, find the conflicts and, where something was assessed, the confidence."""
        if change.keys() & _FACTS:
            changed, active = {fact["id"] for fact in change.get("facts", ())}, dict[str, Fact]()
            _strike_with_sources(run, change, changed)
            for name, fact in fact_view.facts_after_notes(run).items():
                active |= {name: fact} if fact.is_active else {}
            # The conflicts among the facts that count after the notes, and `disputed` of each fact
            found, sites = list[Conflict](), {site(fact.url) for fact in active.values() if fact.url}
            if run.own.compares_within_site or len(sites) > 1:
                edited = [run.facts[name] for name in changed if name in run.facts]  # struck ones, too
                run.derived = (run.derived or ConflictIndex()).join([*active.values(), *edited], changed)
                asked = run.own.comparison_questions(run)
                found = run.derived.find_conflicts(active, run.rulings, asked)
                found += _list_reported(run, active, found)
            before, disputed = find_disputed(run.conflicts.values()), find_disputed(found)
            for name in run.facts.keys() & {*changed, *before, *disputed}:
                run.facts[name] = run.facts[name].replace(disputed=name in disputed)
            run.conflicts = {conflict.id: conflict for conflict in found}
        if run.assessments and change.keys() & _CLAIMS:
            _assess(run, change, step)


class OnePublisherState(AnsweringState):
    """The record of a flow that asks one publisher, whose pages contradict others only."""

    asks_one_publisher: ClassVar[bool] = True
    compares_within_site: ClassVar[bool] = False


def _strike_with_sources(run: RunState[Any], change: Change, changed: Collection[str]) -> None:
    """Strike the facts of a source struck since a person marked them last; restore those of a freed one."""
    freed = change.get(f"{REMOVAL_PREFIX}strikes", ())
    for name in list(run.facts) if freed or "strikes" in change else changed:
        fact = run.facts[name]
        if fact.struck_with in freed:
            fact = run.facts[name] = fact.replace(decision="none", struck_with="")
        for source, step in run.strikes.items():
            if (
                fact.decision != "struck"
                and step > fact.marked
                and fact_view.is_from_source(fact.url, source)
            ):
                fact = run.facts[name] = fact.replace(decision="struck", struck_with=source)


def _list_reported(
    run: RunState[Any], active: Mapping[str, Fact], known: Sequence[Conflict]
) -> list[Conflict]:
    """The conflicts that a model reported, by those of their sides that count still: two at least, of which
    no conflict in `known` has two."""
    found = dict[str, Conflict]()
    for said in run.assessments:
        sides = [active[name] for name in said.sides if name in active]
        if len(sides) < 2 or any(
            sum(not {*said.sides}.isdisjoint(value.fact_ids) for value in conflict.values) > 1
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
    answer = run.answer if not run.actions_this_round else None
    rests_on = answer if answer and answer.step == run.assessments[-1].step else None
    level = assess_confidence(run, step, answer=rests_on)
    if rests_on and "plan_parts" not in change:
        run.plan_parts = close_plan(run, level, rests_on)
    if level is None:
        return
    edits = change.get("edits", ())
    why = "; ".join(edit["text"] for edit in edits) if edits else ""
    if change.keys() & {"notes", "readings"} and (sites := fact_view.excluded_sites(run)):
        why = f"left out {', '.join(sites)}"
    if why:
        level = level.replace(moves=[m.replace(reason=f"{why}: {m.reason}") for m in level.moves])
    last = run.confidence[-1] if run.confidence else None
    if "assessments" in change or not last or (level.value, level.parts) != (last.value, last.parts):
        run.confidence = [*run.confidence, level]


def assess_confidence(state: RunState, step: int, *, answer: Answer | None = None) -> Confidence | None:
    """The confidence, and the reasons of its change; None where no model judged. With an `answer` the claims
    are its own. The judgement is a model's last estimate."""
    said, idle = None, 0
    for one in state.assessments:
        said = one if one.model is not None else said
    if answer.by != "model" if answer else said is None:
        return None
    known = fact_view.facts_after_notes(state)
    facts = {fact.id: fact for fact in fact_view.facts_for_prompt(state)}
    for sentence in answer.sentences if answer else ():
        facts |= {i: known[i] for i in sentence.fact_ids if i in known}
    for fact in reversed(known.values()):  # those that do not count tell sources apart
        if not fact.is_active and idle < fact_view.MAX_PROMPT_FACTS:
            facts.setdefault(fact.id, fact)
            idle += 1
    conflicts = list[Conflict]()
    for conflict in state.conflicts.values():  # of which two values are stated by one of these facts
        stated = [value for value in conflict.values if not facts.keys().isdisjoint(value.fact_ids)]
        conflicts += [conflict] if len(stated) > 1 else []
    names = parse_question(state.full_question).names
    pool = EvidencePool(
        facts.values(),
        conflicts,
        lambda fact: state.own.asks_one_publisher or any(is_site_name(name, fact.url) for name in names),
    )
    unanswered = said.unanswered if said else []
    claims, answered = find_claims(state.plan, answer, facts)
    if answer:  # what the writer leaves open of a part takes nothing from what is said
        unanswered = [part.id for part in state.plan if part.id not in answered]
    judgement = said.model if said and said.model is not None else UNSTATED_JUDGEMENT
    evidence, active = list[Evidence](), [name for name, fact in facts.items() if fact.is_active]
    for part in state.plan:  # of an answer the facts that its sentence on the part cites, those on it first
        cited = [i for i in claims[part.id].fact_ids if i in facts] if part.id in claims else []
        own = [i for i in (cited if answer else active) if find_part(state.plan, facts[i]) == part.id]
        evidence.append(pool.measure(part.id, own or cited, judgement, is_answered=answer is not None))
    point = confidence.assess_confidence(
        step, evidence, judgement, model=said.model if said else None, unanswered=unanswered
    )
    return explain_changes(state.confidence[-1] if state.confidence else None, point, evidence, state.plan)


def find_claims(
    plan: Sequence[PlanPart], answer: Answer | None, facts: Mapping[str, Fact]
) -> tuple[dict[str, Sentence], set[str]]:
    """By part the first supported sentence on it, by its own part or that of its facts; of a part that the
    judge calls answered the first of all where none is on it. Where the judge did not say, it is the first on
    the part (of all where nobody named a part), and none unless that is supported. A person's ruling counts
    where nothing else does, and what rests on a person's word alone never.

    And the parts that these sentences answer: those that the judge says, and those whose claim is quoted or
    computed, which is not put to it; where it did not say, those with one."""
    said, ruled = list[tuple[Sentence, set[str]]](), list[tuple[Sentence, set[str]]]()
    claims, answered = dict[str, Sentence](), set[str]()
    for sentence in answer.sentences if answer else ():
        cited = [facts[i] for i in sentence.fact_ids if i in facts]
        own_words = [fact for fact in cited if fact.rests_on_person]
        if len(own_words) < len(cited) or (sentence.check and not cited):
            parts = {sentence.part, *(find_part(plan, fact) for fact in cited)} - {""}
            (ruled if sentence.text.startswith(RULING_PREFIX) else said).append((sentence, parts))
    said, called = [*said, *ruled], answer.answered_parts if answer and len(plan) > 1 else None
    is_named = any(parts for _, parts in said)
    for part in plan:
        first, others = list[Sentence](), list[Sentence]()
        for sentence, parts in said:
            (first if part.id in parts else others).append(sentence)
        if called is None:
            first = (first or others[: 0 if is_named else 1])[:1]
        for sentence in [*first, *(others if part.id in (called or ()) else ())]:
            if sentence.backed:
                claims.setdefault(part.id, sentence)
        if (claim := claims.get(part.id)) and (
            called is None or part.id in called or claim.check in CERTAIN_VERDICTS
        ):
            answered.add(part.id)
    return claims, answered


def name_part(plan: Sequence[PlanPart], sentence: Sentence, facts: Mapping[str, Fact]) -> Sentence:
    """The sentence with the part that it answers: its own, that of its facts, or the only one."""
    ids = {part.id for part in plan}
    for part in (sentence.part, *(facts[i].part for i in sentence.fact_ids if i in facts)):
        if part in ids:
            return sentence.replace(part=part)
    return sentence.replace(part=plan[0].id if len(plan) == 1 else "")


def close_plan(state: RunState, level: Confidence | None, answer: Answer) -> list[PlanPart]:
    """The plan with the status and confidence of each part: answered (found, where no model wrote that) or
    not, disputed when an open conflict contradicts its claim, not found when no sentence was on it."""
    claims, answered = find_claims(state.plan, answer, fact_view.facts_after_notes(state))
    figures = {part.part: part for part in level.parts} if level else {}
    plan = list[PlanPart]()
    told = {said.part for said in answer.sentences if said.check}
    for part in state.plan:
        figure = figures.get(part.id, PartConfidence(part=part.id))
        is_open = part.id not in answered or (len(state.plan) == 1 and bool(answer.open))
        status: PartStatus = "open" if is_open else "answered"
        if part.id not in claims:
            status = "open" if part.id in told or answer.reason == "unsupported" else "not_found"
        elif answer.by != "model":
            status = "found"
        elif figure.disputed:
            status = "disputed"
        plan.append(part.replace(status=status, confidence=round(compute_part(figure), PRECISION)))
    return plan


@dataclass(frozen=True)
class PartView:
    """A part with its status and confidence now, its active facts' number, and the parts it waits for."""

    part: PlanPart
    facts: int
    waits_for: tuple[str, ...] = ()


def view_plan(state: RunState) -> list[PartView]:
    """The parts in order. Once there is an answer and nothing was read since, a part stands as the answer
    left it; before that it is answered when its facts say so and the analyzer does not object, and found
    where no model judged."""
    parts, counted = list(state.plan), Counter[str]()
    for fact in fact_view.facts_after_notes(state).values():
        counted[find_part(parts, fact)] += fact.is_active
    if state.answer is None or state.actions_this_round:
        figures = {part.part: part for part in state.confidence[-1].parts} if state.confidence else {}
        for n, part in enumerate(parts):
            figure, status = figures.get(part.id), part.status
            if not counted[part.id]:
                status = "open"
            elif figure is None:
                status = "found"
            elif figure.disputed:
                status = "disputed"
            else:
                status = "answered" if figure.weight and not figure.unanswered else "open"
            value = round(compute_part(figure), PRECISION) if figure else 0.0
            parts[n] = part.replace(status=status, confidence=value)
    done = {part.id for part in parts if part.status in ("answered", "found")}
    return [
        PartView(part, counted[part.id], tuple(id for id in part.after if id not in done)) for part in parts
    ]
