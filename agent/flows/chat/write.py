"""From passages to a draft, and from a draft to the answer: quotes checked, conflicts and caveats named."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from agent.answering import fact_view
from agent.answering.claim_checks import WrittenDraft
from agent.answering.draft import ask_writer, draft_from_quotes
from agent.answering.pages import find_hidden_sources
from agent.answering.verdict import WORDED_BY_MODEL, describe_refused, finish_answer, no_answer
from agent.engine.context import RunContext
from agent.engine.state import Change
from agent.errors import BudgetSpent
from agent.evidence.claim_check import describe_finding
from agent.flows.chat.retrieve import list_documents, standalone_question
from agent.flows.chat.state import ChatRun, Draft, Grounding
from agent.roles.chat import (
    CLARIFY,
    GENERATE,
    MAX_CHOICES,
    MIN_RELEVANT_SCORE,
    ClarifyReply,
    GenerateReply,
)
from agent.roles.role import RoleResult
from agent.text.plurals import format_count
from agent.types import Answer, Passage, Reason

CAVEATS = (
    "A best effort: no passage of the library is clearly relevant to the question.",
    "From one passage of the library.",
    "From two passages of the library.",
)
"""The caveat of an answer from 0, 1 or 2 relevant passages."""
DEMO_LEFT_OUT = (
    "The demo’s sources in the library were left out; “With the demo’s invented sources” takes them in."
)
MAX_TITLES = 20
"""Titles shown to whoever asks back."""


def write_draft(
    state: ChatRun, tools: RunContext, passages: Sequence[Passage], *, caveat: str = ""
) -> Change:
    """The change of writing a draft from these passages, best first: facts, conflicts, and the draft, whose
    sentences passed their check.

    A sentence that fails is repaired once by its writer, who is told which and why, and else left out; the
    writer after a draft that was not enough is told why. A worse draft does not take the place of a right
    half. Without passages nobody is asked to write."""
    question, own = standalone_question(state), state.own
    if not passages:
        return {"draft": own.draft or Draft(caveat=caveat, by="code", step=tools.step)}
    last, refused = own.groundings[-1] if own.groundings else None, ""
    if last and last.drafted and not (own.draft and own.draft.step > last.step):
        refused = " ".join([last.reason, *(f"Refused: “{text}”" for text in last.refused)])
    judgement = ask_writer(
        tools,
        GENERATE,
        passages,
        question=state.question,
        asked=question,
        parts=state.plan,
        history=state.history,
        notes=fact_view.note_texts(state),
        passages=passages,
        document=tools.library.source(own.document).title if own.document else "",
        caveat=caveat,
        refused=refused,
    )
    reply: GenerateReply = judgement.value
    write = partial(draft_from_quotes, state, tools, judgement, passages, question=question)
    try:
        _, change, _, written = write()
    except BudgetSpent:  # a draft whose check the budget forbids is checked by code alone
        _, change, _, written = write(is_judged=False)
    if not written.held and own.draft and own.draft.sentences:
        return {**change, "draft": own.draft.replace(step=tools.step)}
    parts = written.answered_parts
    draft = Draft(
        sentences=written.held,
        drafted=len(reply.answer),
        left_out=[written.sentences[n] for n in written.failed],
        dropped=written.dropped,
        caveat=caveat,
        open=written.open,
        assumed=written.assumed,
        answered_parts=None if parts is None else list(parts),
        by=judgement.by,
        trouble=judgement.failure,
        step=tools.step,
    )
    return {**change, "draft": draft}


def check_grounding(state: ChatRun, step: int, *, can_search: bool) -> Grounding:
    """The verdict on the draft, from its check: grounded when sentences held and they answer, or answer a
    part and another search `can_search` no more."""
    draft = state.own.draft or Draft()
    verdict = Grounding(grounded=False, drafted=draft.drafted, step=step)
    if not draft.sentences:
        texts = [sentence.text for sentence in draft.left_out]
        return verdict.replace(reason=explain_empty_draft(draft), refused=texts)
    answered, missing = draft.answered_parts, draft.open
    if answered is not None and not missing:
        left = [f"“{part.question}”" for part in state.plan if part.id not in answered]
        missing = f"Not answered in full: {'; '.join(left)}" if left else ""
    unchecked = sum(not sentence.backed for sentence in draft.sentences)
    told = f"{unchecked} of {len(draft.sentences)} sentences could not be checked." if unchecked else ""
    reason = missing or told or "Every sentence is supported by its quotes."
    return verdict.replace(grounded=not missing or not can_search, reason=reason)


def explain_empty_draft(draft: Draft) -> str:
    """Why a draft has no sentence: none was written, or none passed its check, with what is wrong with the
    first."""
    if not draft.drafted:
        return "What was found does not answer the question."
    why = "No drafted sentence is supported by its quotes."
    for sentence in draft.left_out[:1]:
        faults = " ".join(describe_finding(finding) for finding in sentence.findings)
        why += f" “{sentence.text}” {sentence.check_reason or faults or 'It cites no usable quote.'}"
    return why


def explain_ungrounded(state: ChatRun) -> str:
    """Why the last draft was refused."""
    groundings = state.own.groundings
    return groundings[-1].reason if groundings else "What was found does not answer the question."


def build_answer(state: ChatRun, tools: RunContext) -> Answer:
    """The answer of the draft; that of a best effort has a caveat."""
    draft = state.own.draft or Draft()
    written = WrittenDraft(
        draft.sentences,
        dropped=draft.dropped,
        by="model" if draft.by == "model" else "keyless",
        trouble=draft.trouble,
        open=draft.open,
        assumed=draft.assumed,
        answered_parts=draft.answered_parts,
    )
    journey = describe_journey(state)
    answer = finish_answer(state, written, tools.step, caveat=draft.caveat, journey=journey)
    if answer.verdict == "no_evidence":
        return build_refusal(state, tools, "not_covered", "Nothing in the library answers this question.")
    return answer.replace(remark=describe_refused(draft.drafted - len(draft.sentences)))


def build_refusal(
    state: ChatRun, tools: RunContext, reason: Reason, text: str, *, by: RoleResult | None = None
) -> Answer:
    """An answer that says why there is none, or asks back."""
    refusal = no_answer(
        state,
        tools.step,
        "budget" if state.stop_reason == "budget" else reason,
        text,
        journey=describe_journey(state),
        by=by,
    )
    return mention_hidden(state, tools, refusal)


def mention_hidden(state: ChatRun, tools: RunContext, answer: Answer) -> Answer:
    """The answer; of one that found nothing told that the demo's sources were left out."""
    is_empty = answer.verdict == "no_evidence" and answer.reason == "not_covered"
    is_hidden = is_empty and find_hidden_sources(state, tools)
    return answer.replace(remark=DEMO_LEFT_OUT) if is_hidden else answer


def ask_for_clarification(state: ChatRun, tools: RunContext, *, why: str, reason: Reason) -> Change:
    """The change of asking the person: the router's question, else one with choices; and the answer in case
    nobody replies. One that a model worded says so."""
    own = state.own
    if asked := fact_view.clean_message(state, own.needs_clarification or ""):
        change: Change = {"choices": [], "needs_clarification": asked}
        answer = build_refusal(state, tools, reason, asked).replace(by=own.speakers["router"].by)
    else:
        scores = own.doc_relevance_scores or [0.0] * len(own.retrieved_docs)
        graded = zip(own.retrieved_docs, scores, strict=True)
        titles = [doc.title for doc, score in graded if doc.title and score >= MIN_RELEVANT_SCORE]
        others = [source.title for source in list_documents(state, tools)]
        judgement = tools.judge(
            CLARIFY,
            question=state.question,
            history=state.history,
            why=why,
            titles=list(dict.fromkeys([*titles, *others]))[:MAX_TITLES],
        )
        reply: ClarifyReply = judgement.value
        asked = (
            fact_view.clean_message(state, reply.question)
            or f"{why} Can you say it in other words, or name what it is about?"
        )
        choices = [fact_view.clean_message(state, choice) for choice in reply.choices[:MAX_CHOICES]]
        change = {"needs_clarification": asked, "choices": choices}
        answer = build_refusal(state, tools, reason, asked, by=judgement)
        if any(grounding.drafted for grounding in own.groundings) and not answer.remark:
            answer = answer.replace(remark=why)
    if answer.by == "model":
        answer = answer.replace(remark=f"{WORDED_BY_MODEL} {answer.remark}".strip())
    return {**change, "answers": [answer]}


def describe_journey(state: ChatRun) -> str:
    """The route, the searches and what they found, in a sentence."""
    own = state.own
    parts = [f"Route: {own.route_decision}"] if own.route_decision else []
    if own.queries:
        parts.append(f"looked for {' and '.join(f'“{query}”' for query in dict.fromkeys(own.queries))}")
        parts.append(f"{own.relevant_count} of {format_count(len(own.retrieved_docs), 'passage')} relevant")
    return "; ".join(parts) + "." if parts else ""
