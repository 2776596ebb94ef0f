"""The confidence of a run that a model judges: from its facts while it reads, from the claims of its answer
once that is written. Pure; asks no model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice

from agent.answering import fact_view
from agent.answering.conflict_sentences import RULING_PREFIX
from agent.answering.plan import find_part
from agent.engine.run_state import RunState
from agent.evidence import confidence
from agent.evidence.claim_check import CERTAIN_VERDICTS
from agent.evidence.confidence import EvidencePool, explain_changes
from agent.evidence.sources import is_site_name
from agent.text.question_analysis import parse_question
from agent.types import Answer, Confidence, Fact, PlanPart, Sentence

UNSTATED_JUDGEMENT = 0.9
"""The judgement of a model that gives no estimate of its answer (our own judgement: its statements passed a
check)."""


def assess_confidence(state: RunState, step: int, *, answer: Answer | None = None) -> Confidence | None:
    """The confidence, and the reasons of its change; None where no model judged. With an `answer` the claims
    are its own. The judgement is a model's last estimate."""
    said = next((said for said in reversed(state.assessments) if said.model is not None), None)
    if (answer is None and said is None) or (answer is not None and answer.by != "model"):
        return None
    shown, known = fact_view.facts_for_prompt(state), fact_view.facts_after_notes(state)
    cited = [known[i] for said in (answer.sentences if answer else ()) for i in said.fact_ids if i in known]
    idle = (fact for fact in reversed(known.values()) if not fact.is_active)  # they tell sources apart
    facts = {fact.id: fact for fact in [*shown, *cited, *islice(idle, fact_view.MAX_PROMPT_FACTS)]}
    names = parse_question(state.full_question).names
    pool = EvidencePool(
        facts.values(),
        [  # those of which two values are stated by one of these facts
            conflict
            for conflict in state.conflicts.values()
            if sum(any(i in facts for i in value.fact_ids) for value in conflict.values) > 1
        ],
        lambda fact: state.own.asks_one_publisher or any(is_site_name(name, fact.url) for name in names),
    )
    unanswered = said.unanswered if said else []
    if answer:  # what the writer leaves open of a part takes nothing from what is said
        answered = find_answered(state.plan, answer, facts)
        unanswered = [part.id for part in state.plan if part.id not in answered]
    judgement = said.model if said and said.model is not None else UNSTATED_JUDGEMENT
    evidence = []
    for part in state.plan:  # of an answer the facts that its sentence on the part cites, those on it first
        claims = [name for name, fact in facts.items() if fact.is_active]
        if answer:
            claim = find_claim(state.plan, part, answer, facts)
            claims = [i for i in claim.fact_ids if i in facts] if claim else []
        own = [i for i in claims if find_part(state.plan, facts[i]) == part.id]
        claims = own or (claims if answer else [])
        evidence.append(pool.measure(part.id, claims, judgement, is_answered=answer is not None))
    point = confidence.assess_confidence(
        step, evidence, judgement, model=said.model if said else None, unanswered=unanswered
    )
    return explain_changes(state.confidence[-1] if state.confidence else None, point, evidence, state.plan)


def find_claim(
    plan: Sequence[PlanPart], part: PlanPart, answer: Answer, facts: Mapping[str, Fact]
) -> Sentence | None:
    """The first supported sentence on a part, by its own part or that of its facts; of a part that the judge
    calls answered the first of all where none is on it. Where the judge did not say, it is the first on the
    part (of all where nobody named a part), and None unless that is supported. A person's ruling counts where
    nothing else does, and what rests on a person's word alone never."""
    said, others, is_named = list[Sentence](), list[Sentence](), False
    for sentence in sorted(answer.sentences, key=lambda sentence: sentence.text.startswith(RULING_PREFIX)):
        cited = [facts[i] for i in sentence.fact_ids if i in facts]
        if (sentence.check or cited) and not (cited and all(fact.rests_on_person for fact in cited)):
            parts = {sentence.part, *(find_part(plan, fact) for fact in cited)} - {""}
            (said if part.id in parts else others).append(sentence)
            is_named = is_named or bool(parts)
    if (called := _list_called(plan, answer)) is None:
        first = said or others[: 0 if is_named else 1]
        return first[0] if first and first[0].backed else None
    others = others if part.id in called else []
    return next((sentence for sentence in [*said, *others] if sentence.backed), None)


def find_answered(plan: Sequence[PlanPart], answer: Answer, facts: Mapping[str, Fact]) -> set[str]:
    """The parts that the supported sentences of a model's answer answer: those that the judge says, and those
    whose first one is quoted or computed, which is not put to it; where it did not say, those with one."""
    claims = {part.id: find_claim(plan, part, answer, facts) for part in plan}
    called = _list_called(plan, answer)
    return {
        id
        for id, claim in claims.items()
        if claim and (called is None or id in called or claim.check in CERTAIN_VERDICTS)
    }


def _list_called(plan: Sequence[PlanPart], answer: Answer) -> Sequence[str] | None:
    """The parts that the judge calls answered; None where it did not say, as where there is one part."""
    return answer.answered_parts if len(plan) > 1 else None


def name_part(plan: Sequence[PlanPart], sentence: Sentence, facts: Mapping[str, Fact]) -> Sentence:
    """The sentence with the part that it answers: its own, that of its facts, or the only one."""
    if any(part.id == sentence.part for part in plan):
        return sentence
    parts = [find_part(plan, facts[i]) for i in sentence.fact_ids if i in facts]
    return sentence.replace(part=plan[0].id if len(plan) == 1 else next(filter(None, parts), ""))
