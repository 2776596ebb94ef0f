"""From a draft to the answer a person reads: quotes checked and made facts, citations counted, refusals told
politely.

The verdict is code's, by the rules of every flow; the writer only says what kind of refusal it meant."""

from __future__ import annotations

from collections.abc import Sequence

from agent.engine.context import RunContext
from agent.engine.state import Change, merge, shallow_copy, to_jsonable
from agent.evidence import confidence
from agent.flows.shared import fact_view
from agent.flows.shared.citations import resolve_citations
from agent.flows.shared.fact_intake import add_facts
from agent.flows.shared.verdict import build_answer as verdict_on
from agent.flows.shared.verdict import describe_failures
from agent.flows.shared.write_report import apply_corrections, ask_report
from agent.flows.site import pages as reading
from agent.flows.site.state import SiteRun
from agent.roles.answer_length import parse_length_request
from agent.roles.research.report import ReportReply, ReportSentence
from agent.roles.role import RoleResult
from agent.roles.site.draft import DraftReply
from agent.types import Actor, Answer, Outcome, Passage

REFUSAL_MESSAGES = {
    "off_topic": "I can only answer from the pages of {site}, and this question does not seem to be about them.",
    "not_covered": "The pages of {site} that were read do not answer this, so I would rather not guess.",
    "needs_clarification": "Could you say a little more about what you mean?",
}


def answer_from_draft(
    state: SiteRun, tools: RunContext, judgement: RoleResult, passages: Sequence[Passage]
) -> Change:
    """The change a draft makes: the facts it quotes, conflicts, confidence, and the answer."""
    reply: DraftReply = judgement.value
    facts, sentences = resolve_citations(
        reading.question_with_notes(state), tools, reply.answer, passages, by=judgement.by, here=state.trusts
    )
    facts = {
        fact.id: fact
        for fact in fact_view.apply_person_marks(state, list(facts.values()))
        if fact.id not in state.facts
    }
    sentences = [
        sentence.model_copy(update={"text": apply_corrections(sentence.text, sentence.fact_ids, state.facts)})
        for sentence in sentences
    ]
    change = add_facts(
        state,
        tools.step,
        list(facts.values()),
        model=reply.confidence if judgement.by == "model" else None,
    )
    now = merge(shallow_copy(state), to_jsonable(change))
    refused = reply.refusal != "none"
    written = ReportReply(
        answer=[] if refused else sentences,
        certainty="" if refused else _certainty(now),
        missing=reply.missing,
        journey=_journey(state),
    )
    answer = _word_refusal(
        state, verdict_on(now, judgement.model_copy(update={"value": written}), tools.step), reply
    )
    answer = answer.model_copy(
        update={"remark": _describe_ignored_instruction(state.settings.instruction, judgement.by)}
    )
    bearing = max(
        [reply.confidence] if judgement.by == "keyless" else state.own.bearings.values(), default=0.0
    )
    useful = {
        i
        for i, page_id in state.own.url_content(state).items()
        if any(source.page_id == page_id for source in answer.sources)
    }
    named = [*state.own.useful_visited_indices, *sorted(useful - set(state.own.useful_visited_indices))]
    return {
        **change,
        "answers": [answer],
        "bearing": bearing,
        "useful_visited_indices": named,
    }


def rewrite_answer(state: SiteRun, tools: RunContext) -> Answer:
    """The answer written anew from the accepted facts, after a person's edits."""
    instruction = state.settings.instruction.strip() and tools.client
    judgement = ask_report(
        state,
        tools,
        question=state.asked,
        wishes=[state.settings.instruction] if instruction else [],
    )
    if judgement.by == "keyless" and (kept := _keep_drafted_sentences(state)):
        value = judgement.value.model_copy(update={"answer": kept})
        judgement = judgement.model_copy(update={"value": value})
    return verdict_on(state, judgement, tools.step)


def _keep_drafted_sentences(state: SiteRun) -> list[ReportSentence]:
    """What a site was quoted for when its answer was drafted, as far as it stands; pinned facts go before it.

    Its keyless draft chose among passages and knew more of them than their facts tell: it is not chosen anew,
    unless a note came since."""
    draft = next((draft for draft in reversed(state.answers) if not draft.because), None)
    if draft is None or any(note.step > draft.step for note in state.notes):
        return []
    facts = fact_view.facts_after_notes(state)
    cited = [sentence for sentence in draft.sentences if sentence.fact_ids]
    kept = [
        sentence for sentence in cited if all(i in facts and facts[i].can_support for i in sentence.fact_ids)
    ]
    there = {i for sentence in kept for i in sentence.fact_ids}
    pinned = [
        fact
        for fact in fact_view.facts_for_answer(state)
        if fact.decision == "pinned" and fact.id not in there
    ]
    said = [
        ReportSentence(
            text=apply_corrections(sentence.text, sentence.fact_ids, facts), fact_ids=sentence.fact_ids
        )
        for sentence in kept
    ]
    return [ReportSentence(text=fact.statement, fact_ids=[fact.id]) for fact in pinned] + said if said else []


def _describe_ignored_instruction(instruction: str, by: Actor) -> str:
    """What became of a person's instruction, when no model read it; "" when there was none, or a model
    did."""
    asked = parse_length_request(instruction)
    if by == "model" or not instruction.strip():
        return ""
    kept = "Kept short, as instructed. " if asked.max_sentences else ""
    left = "The rest of the instruction" if asked.max_sentences else "The instruction"
    more = (
        f"{left} was not followed in the answer: that needs a model. Its words only helped to choose which pages to read."
        if asked.has_other_requests
        else ""
    )
    return (kept + more).strip()


def _word_refusal(state: SiteRun, answer: Answer, reply: DraftReply) -> Answer:
    """A refusal gets its kind and its polite words; an answer without one backed statement becomes one."""
    if answer.verdict == "no_evidence" and state.pages and not state.own.url_content(state):
        said = f"No answer is given. No page could be read: {describe_failures(list(state.pages.values()))}"
        return answer.model_copy(update={"reason": "blocked", "certainty": said, "missing": ""})
    if answer.verdict != "no_evidence" or answer.reason == "blocked" or not state.own.url_content(state):
        return answer
    kind = reply.refusal if reply.refusal != "none" else "not_covered"
    site = (
        ", ".join(
            dict.fromkeys(
                ref.final_url.split("/")[2] for ref in state.pages.values() if ref.outcome is Outcome.OK
            )
        )
        or "this site"
    )
    said = " ".join(
        part
        for part in (reply.message or REFUSAL_MESSAGES[kind].format(site=site), _forced_reason(state))
        if part
    )
    return answer.model_copy(update={"reason": kind, "certainty": said})


def _forced_reason(state: SiteRun) -> str:
    return state.own.choices[-1].forced if state.own.choices else ""


def _certainty(state: SiteRun) -> str:
    return f"{confidence.describe_level(state.current_confidence)}. {_forced_reason(state)}".strip()


def _journey(state: SiteRun) -> str:
    read = [
        ref
        for i in state.own.fetched
        if (ref := state.pages.get(state.own.all_discovered_urls[i])) and ref.page_id
    ]
    kept = len(state.own.url_content(state)) - len(read)
    failed = sum(1 for ref in state.pages.values() if ref.outcome is not Outcome.OK)
    listed = sum(sitemap.addresses for sitemap in state.own.sitemaps.values())
    batches = len({ref.step for ref in read})
    told = [
        f"{len(read)} {'page' if len(read) == 1 else 'pages'} read in {batches} {'batch' if batches == 1 else 'batches'}"
    ]
    told += [f"{kept} known from the conversation"] if kept > 0 else []
    told += [f"{listed} addresses listed by the site's map"] if listed else []
    told += [f"{failed} could not be read"] if failed else []
    return (
        "; ".join(told) + "." + (f" {state.own.decision_reasoning}" if state.own.decision_reasoning else "")
    )
