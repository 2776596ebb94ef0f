"""The confidence of a run: from its facts while it reads, from the claims of its answer once that is written.
Pure; asks no model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice

from agent.answering import fact_view
from agent.answering.conflict_sentences import RULING_PREFIX
from agent.answering.plan import bears_on, find_part
from agent.engine.run_state import RunState
from agent.evidence import confidence
from agent.evidence.block_layout import find_gapped_parts
from agent.evidence.confidence import EvidencePool, explain_changes
from agent.evidence.sources import is_site_name
from agent.text.question_analysis import parse_question
from agent.types import Answer, Confidence, Fact, PlanPart, Sentence

WEB_JUDGEMENT, PUBLISHER_JUDGEMENT = 0.45, 0.0
"""The judgement without a model, where the web is asked and where one publisher or library is: passages were
found, and nothing that code sees in them tells right from wrong ones on sets it was not fitted to. So it
never gives 80 %, whatever the sources. Fitted over all public sets (DECISIONS.md, "Confidence and trust")."""


def assess_confidence(state: RunState, step: int, *, answer: Answer | None = None) -> Confidence:
    """The confidence, and the reasons of its change. With an `answer` the claims are its own.

    The judgement is a model's last estimate, else that on the items, else that of the flow."""
    sentences = answer.sentences if answer else ()
    shown, known = fact_view.facts_for_prompt(state), fact_view.facts_after_notes(state)
    cited = [known[i] for sentence in sentences for i in sentence.fact_ids if i in known]
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
        state.own.comparison_questions(state),
    )
    said = next((said for said in reversed(state.assessments) if said.model is not None), None)
    answered = find_gapped_parts(sentences)  # for what there is: the cell says what was not found
    unanswered = [part for part in said.unanswered if part not in answered] if said else []
    judgement = said.model if said else state.own.judge_items(state)
    if judgement is None:
        judgement = PUBLISHER_JUDGEMENT if state.own.asks_one_publisher else WEB_JUDGEMENT
    evidence = [
        pool.measure(
            part.id,
            find_claims(state.plan, part, facts, answer),
            judgement,
            is_answered=answer is not None,
        )
        for part in state.plan
    ]
    point = confidence.assess_confidence(
        step, evidence, judgement, model=said.model if said else None, unanswered=unanswered
    )
    return explain_changes(state.confidence[-1] if state.confidence else None, point, evidence, state.plan)


def find_claims(
    plan: Sequence[PlanPart], part: PlanPart, facts: dict[str, Fact], answer: Answer | None
) -> Sequence[str]:
    """The ids of the facts that state the claim of a part: of an answer the citations of its main sentence,
    none unless these support it; before there is an answer any fact of the part."""
    if answer is None:
        return [name for name, fact in facts.items() if fact.is_active and find_part(plan, fact) == part.id]
    main = find_main_sentence(plan, part, answer, facts)
    return main.fact_ids if main and main.backed else ()


def find_main_sentence(
    plan: Sequence[PlanPart], part: PlanPart, answer: Answer, facts: Mapping[str, Fact]
) -> Sentence | None:
    """The first sentence that answers a part, passing over what rests on a person's word alone and what is no
    claim (a heading, a gap). A person's ruling counts where nothing else answers; a passage answers its own
    part alone. None when there is none."""
    quoted = {block.id for block in answer.blocks if block.role}
    for sentence in sorted(answer.sentences, key=lambda sentence: sentence.text.startswith(RULING_PREFIX)):
        cited = [facts[i] for i in sentence.fact_ids if i in facts]
        is_theirs = bool(cited) and all(fact.rests_on_person for fact in cited)
        is_claim = bool(sentence.check or sentence.fact_ids)
        answers = sentence.part == part.id or (
            sentence.block not in quoted and any(bears_on(plan, part, fact) for fact in cited)
        )
        if is_claim and answers and not is_theirs:
            return sentence
    return None


def name_part(plan: Sequence[PlanPart], sentence: Sentence, facts: Mapping[str, Fact]) -> Sentence:
    """The sentence with the part that it answers: its own, that of its facts, or the only one."""
    if sentence.part and any(part.id == sentence.part for part in plan):
        return sentence
    parts = [find_part(plan, facts[i]) for i in sentence.fact_ids if i in facts]
    part = plan[0].id if len(plan) == 1 else next(filter(None, parts), "")
    return sentence.replace(part=part)
