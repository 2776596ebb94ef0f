"""From passages to a draft, and from a draft to the answer, the refusal, or the question back."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from agent.answering import fact_view
from agent.answering.draft import ask_writer, draft_from_quotes
from agent.answering.verdict import WORDED_BY_MODEL, describe_refused, finish_answer, no_answer
from agent.engine.context import RunContext
from agent.engine.state import Change
from agent.errors import BudgetSpent
from agent.evidence.claim_check import describe_finding
from agent.flows.chat.retrieve import MAX_DOCUMENTS, list_documents, standalone_question
from agent.flows.chat.state import ChatRun, Draft, Grounding
from agent.roles.chat import CLARIFY, GENERATE, MAX_CHOICES, MIN_RELEVANT_SCORE, ClarifyReply
from agent.roles.role import RoleResult
from agent.text.plurals import format_count
from agent.types import Answer, Passage, Reason

CAVEATS = (
    "A best effort: no passage of the library is clearly relevant to the question.",
    "From one passage of the library.",
    "From two passages of the library.",
)
"""The caveat of an answer from 0, 1 or 2 relevant passages."""
NOT_FOUND = "What was found does not answer the question."
NOT_COVERED = "Nothing in the library answers this question."


def write_draft(
    state: ChatRun, tools: RunContext, passages: Sequence[Passage], *, caveat: str = ""
) -> Change:
    """The change of writing a draft from these passages, best first: facts, conflicts, and the checked draft.

    The writer after a draft that was not enough is told why. A worse draft does not take the place of a right
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
    write = partial(draft_from_quotes, state, tools, judgement, passages, question=question)
    try:
        written = write()
    except BudgetSpent:  # a draft whose check the budget forbids is checked by code alone
        written = write(is_judged=False)
    draft = Draft(**dict(written.written), caveat=caveat, step=tools.step)
    if not draft.held and own.draft and own.draft.held:
        draft = own.draft.replace(step=tools.step)
    return {**written.change, "draft": draft}


def check_grounding(state: ChatRun, step: int, *, can_search: bool) -> Grounding:
    """The verdict on the draft: grounded when sentences held and nothing is open that a search may find."""
    draft = state.own.draft or Draft()
    verdict = Grounding(grounded=False, drafted=draft.drafted, step=step)
    if not draft.held:
        texts = [sentence.text for sentence in draft.sentences]
        return verdict.replace(reason=explain_empty_draft(draft), refused=texts)
    missing = draft.open
    if draft.answered_parts is not None and not missing:
        left = [f"“{part.question}”" for part in state.plan if part.id not in draft.answered_parts]
        missing = f"Not answered in full: {'; '.join(left)}" if left else ""
    unchecked = sum(not sentence.backed for sentence in draft.held)
    told = f"{unchecked} of {len(draft.held)} sentences could not be checked." if unchecked else ""
    reason = missing or told or "Every sentence is supported by its quotes."
    return verdict.replace(grounded=not missing or not can_search, reason=reason)


def explain_empty_draft(draft: Draft) -> str:
    """Why a draft has no sentence: none was written, or none passed its check."""
    if not draft.drafted:
        return NOT_FOUND
    why = "No drafted sentence is supported by its quotes."
    for sentence in draft.sentences[:1]:
        faults = " ".join(describe_finding(finding) for finding in sentence.findings)
        why += f" “{sentence.text}” {sentence.check_reason or faults or 'It cites no usable quote.'}"
    return why


def explain_ungrounded(state: ChatRun) -> str:
    """Why the last draft was refused."""
    return state.own.groundings[-1].reason if state.own.groundings else NOT_FOUND


def build_answer(state: ChatRun, step: int) -> Answer:
    """The answer of the sentences that passed their check, or are backed when the run must end."""
    draft, is_cut = state.own.draft or Draft(), state.stop_reason in ("budget", "asked")
    kept = [sentence for sentence in draft.held if sentence.backed or not is_cut]
    given, journey = draft.replace(sentences=kept), describe_journey(state)
    answer = finish_answer(state, given, step, caveat=draft.caveat, journey=journey)
    if answer.verdict == "no_evidence":
        return refuse(state, step, "not_covered", NOT_COVERED)
    return answer.replace(remark=describe_refused(draft.drafted - len(kept)))


def refuse(state: ChatRun, step: int, reason: Reason, text: str, *, by: RoleResult | None = None) -> Answer:
    """An answer that says why there is none, or asks back."""
    reason = "budget" if state.stop_reason == "budget" else reason
    return no_answer(state, step, reason, text, journey=describe_journey(state), by=by)


def ask_for_clarification(state: ChatRun, tools: RunContext, *, why: str, reason: Reason) -> Change:
    """The change of asking the person: the router's question, else a new one with choices."""
    own, choices = state.own, list[str]()
    if asked := fact_view.clean_message(state, own.needs_clarification or ""):
        answer = refuse(state, tools.step, reason, asked).replace(by=own.speakers["router"].by)
    else:
        scores = own.doc_relevance_scores or [0.0] * len(own.retrieved_docs)
        graded = zip(own.retrieved_docs, scores, strict=True)
        titles = [doc.title for doc, score in graded if doc.title and score >= MIN_RELEVANT_SCORE]
        titles += [source.title for source in list_documents(state, tools)]
        judgement = tools.judge(
            CLARIFY,
            question=state.question,
            history=state.history,
            why=why,
            titles=list(dict.fromkeys(titles))[:MAX_DOCUMENTS],
        )
        reply: ClarifyReply = judgement.value
        asked = fact_view.clean_message(state, reply.question)
        asked = asked or f"{why} Can you say it in other words, or name what it is about?"
        choices = [fact_view.clean_message(state, choice) for choice in reply.choices[:MAX_CHOICES]]
        was_drafted = any(grounding.drafted for grounding in own.groundings)
        answer = refuse(state, tools.step, reason, asked, by=judgement)
        answer = answer.replace(remark=why if was_drafted else "")
    if answer.by == "model":
        answer = answer.replace(remark=f"{WORDED_BY_MODEL} {answer.remark}".strip())
    return {"needs_clarification": asked, "choices": choices, "answers": [answer]}


def describe_journey(state: ChatRun) -> str:
    """The route, the searches and what they found, in a sentence."""
    own = state.own
    parts = [f"Route: {own.route_decision}"] if own.route_decision else []
    if own.queries:
        parts.append(f"looked for {' and '.join(f'“{query}”' for query in dict.fromkeys(own.queries))}")
        found = format_count(len(own.retrieved_docs), "passage")
        is_graded = bool(own.doc_relevance_scores)
        parts.append(f"{own.relevant_count} of {found} relevant" if is_graded else f"{found} looked at")
    return "; ".join(parts) + "." if parts else ""
