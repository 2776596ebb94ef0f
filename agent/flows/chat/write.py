"""From passages to a draft, and from a draft to the answer: quotes checked, conflicts and caveats named."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from agent.answering import fact_view, verdict
from agent.answering.claim_checks import WrittenDraft, repair_sentences
from agent.answering.draft import ask_writer, build_fact_from_quote, draft_from_quotes
from agent.answering.pages import find_hidden_sources
from agent.engine.context import RunContext
from agent.engine.state import Change
from agent.errors import BudgetSpent
from agent.evidence.claim_check import describe_finding
from agent.flows.chat.retrieve import rank_by_library, standalone_question
from agent.flows.chat.state import ChatRun, Draft, Grounding
from agent.retrieval.answer import find_best_lines
from agent.roles.chat import (
    CLARIFY,
    GENERATE,
    MIN_RELEVANT_SCORE,
    VALIDATE,
    Claim,
    ClarifyReply,
    GenerateReply,
    ValidateReply,
)
from agent.roles.role import RoleResult
from agent.text.plurals import format_count
from agent.text.urls import remove_unknown_urls
from agent.types import Answer, Fact, Passage, Reason, Sentence

EXTRA_FACTS = 12
"""Without a model: sentences that are kept as facts beside the cited ones, to find contradictions."""
CAVEATS = (
    "A best effort: no passage of the library is clearly relevant to the question.",
    "From one passage of the library.",
    "From two passages of the library.",
)
"""The caveat of an answer from 0, 1 or 2 relevant passages."""
DEMO_LEFT_OUT = (
    "The demo’s sources in the library were left out; “With the demo’s invented sources” takes them in."
)
MAX_TITLES, MIN_TITLE_RELEVANCE = 8, 0.3
"""Titles offered with a clarifying question, and the least relevance of their passages."""


def write_draft(
    state: ChatRun, tools: RunContext, passages: Sequence[Passage], *, caveat: str = ""
) -> Change:
    """The change of writing a draft from these passages: facts, conflicts, confidence, and the draft, whose
    sentences passed their check.

    A sentence that fails is repaired once by its writer, who is told which and why, and else left out.
    Without passages nobody is asked to write."""
    question = standalone_question(state)
    best = rank_by_library(tools, question, passages)
    if not best:
        return {"draft": Draft(caveat=caveat, by="code", step=tools.step)}
    judgement = ask_writer(
        tools,
        GENERATE,
        best,
        question=state.question,
        asked=question,
        history=state.substantive_turns,
        notes=fact_view.note_texts(state),
        passages=best,
        caveat=caveat,
        refused=_explain_refusal(state),
    )
    reply: GenerateReply = judgement.value
    needs_more = reply.answer and judgement.by != "model"
    more = _extract_extra_facts(tools, question, best) if needs_more else []
    write = partial(draft_from_quotes, state, tools, judgement, best, question=question, more_facts=more)
    try:
        _, change, _, written = write()
    except BudgetSpent:  # a draft whose check the budget forbids is checked by code alone
        _, change, _, written = write(is_judged=False)
    draft = Draft(
        sentences=written.held,
        drafted=len(reply.answer),
        left_out=[written.sentences[n] for n in written.failed],
        dropped=written.dropped,
        caveat=caveat,
        confidence=reply.confidence,
        by=judgement.by,
        trouble=judgement.fallback_reason,
        step=tools.step,
    )
    return {**change, "draft": draft}


def _clean(state: ChatRun, text: str) -> str:
    """A written sentence without addresses that belong to no page of this run, the others as recorded."""
    return remove_unknown_urls(text, fact_view.recorded_urls(state)).strip()


def _explain_refusal(state: ChatRun) -> str:
    """Why the draft before this one was refused; "" for the first."""
    last = state.own.groundings[-1] if state.own.groundings else None
    if last is None or not last.drafted or (state.own.draft and state.own.draft.step > last.step):
        return ""
    return " ".join([last.reason, *(f"Refused: “{text}”" for text in last.refused)])


def _extract_extra_facts(tools: RunContext, question: str, passages: list[Passage]) -> list[Fact]:
    """The sentences most relevant to the question as facts."""
    return [
        build_fact_from_quote(question, tools, tools.page(quote.page_id), quote, by="keyless")
        for quote in find_best_lines(question, passages, EXTRA_FACTS)
    ]


def check_grounding(state: ChatRun, tools: RunContext) -> tuple[Grounding, Draft]:
    """The verdict on the draft, and the draft without what the verdict refuses.

    Sentences that are named as unsupported are repaired once by their writer, else left out; the others
    stand. The draft is not grounded when all of it is refused, or when it does not answer."""
    draft = state.own.draft or Draft()
    if not draft.sentences:
        return Grounding(
            grounded=False,
            reason=explain_empty_draft(draft),
            drafted=draft.drafted,
            refused=[sentence.text for sentence in draft.left_out],
            step=tools.step,
        ), draft
    claims = [
        Claim(n=n, text=s.text, quotes=[state.facts[i].quote for i in s.fact_ids], backed=s.backed)
        for n, s in enumerate(draft.sentences, start=1)
    ]
    judgement = tools.judge(VALIDATE, question=standalone_question(state), claims=claims)
    reply: ValidateReply = judgement.value
    named = sorted({n - 1 for n in reply.unsupported if 1 <= n <= len(claims)})
    grounded = (reply.grounded and not named) or 0 < len(named) < len(claims)
    refused = [s.text for n, s in enumerate(draft.sentences) if n in named or not (grounded or named)]
    if grounded and named:
        draft = _repair_refused(state, tools, draft, named, reply.reason)
    return Grounding(
        grounded=grounded,
        reason=reply.reason,
        by=judgement.by,
        trouble=judgement.fallback_reason,
        drafted=draft.drafted,
        refused=refused,
        step=tools.step,
    ), draft


def _repair_refused(
    state: ChatRun, tools: RunContext, draft: Draft, named: Sequence[int], reason: str
) -> Draft:
    """The draft with the refused sentences in other words that hold, or without them."""
    refused = [
        s.replace(check="not_supported", backed=False, check_reason=reason) if n in named else s
        for n, s in enumerate(draft.sentences)
    ]
    conflicts, question = list(state.conflicts.values()), standalone_question(state)
    checked = repair_sentences(
        tools, refused, state.facts, conflicts, question=question, clean=partial(_clean, state)
    )
    left_out = [*draft.left_out, *(checked.sentences[n] for n in checked.failed)]
    return draft.replace(sentences=checked.held, left_out=left_out)


def explain_empty_draft(draft: Draft) -> str:
    """Why a draft has no sentence: none was written, or none passed its check."""
    if not draft.drafted:
        return "What was found does not answer the question."
    faults = [_describe_fault(sentence) for sentence in draft.left_out[:1]]
    return " ".join(["No drafted sentence is supported by its quotes.", *faults])


def explain_ungrounded(state: ChatRun) -> str:
    """Why the last draft was refused."""
    groundings = state.own.groundings
    return groundings[-1].reason if groundings else "What was found does not answer the question."


def explain_failure(state: ChatRun) -> str:
    """Why there is no answer, in words that are true of what happened: nothing was found, or a draft was
    refused."""
    own = state.own
    searches = format_count(len(set(own.queries)), "search", "different searches")
    if not any(grounding.drafted for grounding in own.groundings):
        return f"I could not find an answer to this in the library ({searches})."
    return f"An answer was drafted after {searches}, but its check refused it: {explain_ungrounded(state)}"


def _describe_fault(sentence: Sentence) -> str:
    """What is wrong with a sentence that failed its check."""
    faults = [describe_finding(finding) for finding in sentence.findings]
    return f"“{sentence.text}” {sentence.check_reason or ' '.join(faults) or 'It cites no usable quote.'}"


def build_answer(state: ChatRun, tools: RunContext) -> Answer:
    """The answer of the draft; that of a best effort has a caveat."""
    draft = state.own.draft or Draft()
    written = WrittenDraft(
        draft.sentences,
        dropped=draft.dropped,
        by="model" if draft.by == "model" else "keyless",
        trouble=draft.trouble,
    )
    answer = verdict.finish_answer(
        state, written, tools.step, caveat=draft.caveat, journey=describe_journey(state)
    )
    if answer.verdict == "no_evidence":
        return build_refusal(state, tools, "not_covered", "Nothing in the library answers this question.")
    return answer.replace(remark=verdict.describe_refused(draft.drafted - len(draft.sentences)))


def build_refusal(
    state: ChatRun, tools: RunContext, reason: Reason, text: str, *, by: RoleResult | None = None
) -> Answer:
    """An answer that says why there is none, or asks back."""
    is_demo_hidden = reason == "not_covered" and find_hidden_sources(state, tools)
    return verdict.no_answer(
        state,
        tools.step,
        "budget" if state.stop_reason == "budget" else reason,
        text,
        remark=DEMO_LEFT_OUT if is_demo_hidden else "",
        journey=describe_journey(state),
        by=by,
    )


def ask_for_clarification(state: ChatRun, tools: RunContext, *, why: str, reason: Reason) -> Change:
    """The change of asking the person: the router's question, else one with choices; and the answer in case
    nobody replies."""
    own = state.own
    if asked := own.needs_clarification:
        by = own.speakers["router"].by
        answer = _mark_model_words(build_refusal(state, tools, reason, asked).replace(by=by))
        return {"choices": [], "answers": [answer]}
    scores = own.doc_relevance_scores or [0.0] * len(own.retrieved_docs)
    graded = zip(own.retrieved_docs, scores, strict=True)
    titles = dict.fromkeys(doc.title for doc, score in graded if doc.title and score >= MIN_TITLE_RELEVANCE)
    judgement = tools.judge(
        CLARIFY,
        question=state.question,
        history=state.substantive_turns,
        why=why,
        titles=list(titles)[:MAX_TITLES],
    )
    reply: ClarifyReply = judgement.value
    answer = build_refusal(state, tools, reason, reply.question, by=judgement)
    if any(grounding.drafted for grounding in own.groundings) and not answer.remark:
        answer = answer.replace(remark=why)
    answer = _mark_model_words(answer)
    return {"needs_clarification": reply.question, "choices": reply.choices[:4], "answers": [answer]}


def _mark_model_words(answer: Answer) -> Answer:
    """A question to the person with a remark when a model worded it."""
    if answer.by != "model":
        return answer
    return answer.replace(remark=f"{verdict.WORDED_BY_MODEL} {answer.remark}".strip())


def describe_journey(state: ChatRun) -> str:
    """The route, the searches and what they found, in a sentence."""
    own = state.own
    parts = [f"Route: {own.route_decision}"] if own.route_decision else []
    if own.queries:
        parts.append(f"looked for {' and '.join(f'“{query}”' for query in dict.fromkeys(own.queries))}")
        relevant = sum(score >= MIN_RELEVANT_SCORE for score in own.doc_relevance_scores)
        parts.append(f"{relevant} of {format_count(len(own.retrieved_docs), 'passage')} relevant")
    return "; ".join(parts) + "." if parts else ""
