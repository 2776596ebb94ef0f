"""The confidence of a run: from its facts while it reads, from the claims of its answer once that is written.
Pure; asks no model."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from agent.answering import fact_view
from agent.answering.conflict_sentences import RULING_PREFIX
from agent.answering.plan import bears_on, find_part
from agent.engine.run_state import RunState
from agent.evidence import confidence
from agent.evidence.attribution import is_site_name
from agent.evidence.block_layout import find_gapped_parts
from agent.evidence.confidence import Evidence, EvidencePool
from agent.evidence.confidence_explanations import explain_changes
from agent.text.question_analysis import parse_question
from agent.types import Answer, Confidence, Conflict, Fact, PlanPart, Sentence

WEB_JUDGEMENT, PUBLISHER_JUDGEMENT = 0.45, 0.0
"""The judgement without a model, where the web is asked and where one publisher or library is: passages were
found, and nothing that code sees in them tells right from wrong ones on sets it was not fitted to. So it
never gives 80 %, whatever the sources. Fitted over all public sets (DECISIONS.md, "Confidence and trust")."""


def assess_confidence(
    state: RunState,
    step: int,
    new: Iterable[Fact] = (),
    *,
    conflicts: Iterable[Conflict] | None = None,
    answer: Answer | None = None,
    model: float | None = None,
    unanswered: Collection[str] | None = None,
) -> Confidence:
    """The confidence with these facts beside or in place of the run's, and the reasons of its change.

    With an `answer` the claims are its own. `model` is the model's own estimate; the last one
    stands until there is another. Without any the judgement is that on the items, else the previous one, at
    first that of the flow. `unanswered`: the parts that the model does not call answered; the last ones stand
    where it says nothing."""
    previous = state.confidence[-1] if state.confidence else None
    new = list(new)
    pool_facts = _collect_facts(state, new, answer.sentences if answer else ())
    every = state.conflicts.values() if conflicts is None else conflicts
    conflicts = [conflict for conflict in every if fact_view.count_stated_sides(conflict, pool_facts) > 1]
    names = parse_question(state.full_question).names
    pool = EvidencePool(
        pool_facts.values(),
        conflicts,
        lambda fact: state.own.asks_one_publisher or any(is_site_name(name, fact.url) for name in names),
        state.own.comparison_questions(state),
    )
    former: dict[str, float] = {}
    if model is None and previous and previous.parts:
        model = previous.model
        if unanswered is None:
            unanswered = [part.part for part in previous.parts if part.unanswered]
        former = {part.part: part.judgement for part in previous.parts}
    answered = find_gapped_parts(
        answer.sentences if answer else ()
    )  # for what there is: the cell says what was not found
    unanswered = [part for part in unanswered or () if part not in answered]
    known = state.own.judge_items(state) if model is None else model
    unjudged = PUBLISHER_JUDGEMENT if state.own.asks_one_publisher else WEB_JUDGEMENT
    evidence, judgements = list[Evidence](), dict[str, float]()
    for part in state.plan:
        claims = find_claims(state.plan, part, pool_facts, answer)
        judgement = former.get(part.id, unjudged) if known is None else known
        judgements[part.id] = judgement
        evidence.append(pool.measure(part.id, claims, judgement, is_answered=answer is not None))
    point = confidence.assess_confidence(step, evidence, judgements, model=model, unanswered=unanswered)
    return explain_changes(previous, point, evidence, state.plan)


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


def _collect_facts(
    state: RunState, new: Sequence[Fact], sentences: Sequence[Sentence] = ()
) -> dict[str, Fact]:
    """The facts that prompts show, those that the sentences cite, those that do not count but tell sources
    apart, and the new ones."""
    shown, facts = fact_view.facts_for_prompt(state), fact_view.facts_after_notes(state)
    cited = [facts[i] for sentence in sentences for i in sentence.fact_ids if i in facts]
    idle = [fact for fact in facts.values() if not fact.is_active]
    return {fact.id: fact for fact in [*shown, *cited, *idle[-fact_view.MAX_PROMPT_FACTS :], *new]}
