"""From passages to a draft, and from a draft to the answer: quotes checked, conflicts and caveats named."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from agent.answering import fact_view
from agent.answering.claim_checks import WrittenDraft, repair_sentences
from agent.answering.draft import ask_writer, build_fact_from_quote, draft_from_quotes
from agent.answering.pages import find_hidden_sources
from agent.answering.verdict import WORDED_BY_MODEL, describe_refused, finish_answer, no_answer
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
    VALIDATE,
    Claim,
    ClarifyReply,
    GenerateReply,
    ValidateReply,
)
from agent.roles.role import RoleResult
from agent.text.plurals import format_count
from agent.text.urls import remove_unknown_urls
from agent.types import Answer, Passage, Reason

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

    A sentence that fails is repaired once by its writer, who is told which and why, and else left out; the
    writer after a refused draft is told why that was refused. Without passages nobody is asked to write."""
    question, own = standalone_question(state), state.own
    best = rank_by_library(tools, question, passages)
    if not best:
        return {"draft": Draft(caveat=caveat, by="code", step=tools.step)}
    last, refused = own.groundings[-1] if own.groundings else None, ""
    if last and last.drafted and not (own.draft and own.draft.step > last.step):
        refused = " ".join([last.reason, *(f"Refused: “{text}”" for text in last.refused)])
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
        refused=refused,
    )
    reply: GenerateReply = judgement.value
    needs_more = reply.answer and judgement.by != "model"
    more = [
        build_fact_from_quote(question, tools, tools.page(quote.page_id), quote, by="keyless")
        for quote in (find_best_lines(question, best, EXTRA_FACTS) if needs_more else [])
    ]
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
        by=judgement.by,
        trouble=judgement.fallback_reason,
        step=tools.step,
    )
    return {**change, "draft": draft}


def check_grounding(state: ChatRun, tools: RunContext) -> tuple[Grounding, Draft]:
    """The verdict on the draft, and the draft without what the verdict refuses.

    Sentences that are named as unsupported are repaired once by their writer, else left out; the others
    stand. The draft is not grounded when all of it is refused, or when it does not answer."""
    draft, question = state.own.draft or Draft(), standalone_question(state)
    verdict = Grounding(grounded=False, drafted=draft.drafted, step=tools.step)
    if not draft.sentences:
        texts = [sentence.text for sentence in draft.left_out]
        return verdict.replace(reason=explain_empty_draft(draft), refused=texts), draft
    claims = [
        Claim(n=n, text=s.text, quotes=[state.facts[i].quote for i in s.fact_ids], backed=s.backed)
        for n, s in enumerate(draft.sentences, start=1)
    ]
    judgement = tools.judge(VALIDATE, question=question, claims=claims)
    reply: ValidateReply = judgement.value
    named = sorted({n - 1 for n in reply.unsupported if 1 <= n <= len(claims)})
    grounded = (reply.grounded and not named) or 0 < len(named) < len(claims)
    texts = [s.text for n, s in enumerate(draft.sentences) if n in named or not (grounded or named)]
    if grounded and named:
        marked, known = list(draft.sentences), fact_view.recorded_urls(state)
        fault = {"check": "not_supported", "backed": False, "check_reason": reply.reason}
        for n in named:
            marked[n] = marked[n].replace(**fault)
        checked = repair_sentences(
            tools,
            marked,
            state.facts,
            list(state.conflicts.values()),
            question=question,
            clean=lambda text: remove_unknown_urls(text, known).strip(),
        )
        left_out = [*draft.left_out, *(checked.sentences[n] for n in checked.failed)]
        draft = draft.replace(sentences=checked.held, left_out=left_out)
    judged = {"by": judgement.by, "trouble": judgement.fallback_reason, "reason": reply.reason}
    return verdict.replace(grounded=grounded, refused=texts, **judged), draft


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
    is_demo_hidden = reason == "not_covered" and find_hidden_sources(state, tools)
    return no_answer(
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
    nobody replies. One that a model worded says so."""
    own = state.own
    if asked := fact_view.clean_message(state, own.needs_clarification or ""):
        change: Change = {"choices": [], "needs_clarification": asked}
        answer = build_refusal(state, tools, reason, asked).replace(by=own.speakers["router"].by)
    else:
        scores = own.doc_relevance_scores or [0.0] * len(own.retrieved_docs)
        graded = zip(own.retrieved_docs, scores, strict=True)
        titles = [doc.title for doc, score in graded if doc.title and score >= MIN_TITLE_RELEVANCE]
        judgement = tools.judge(
            CLARIFY,
            question=state.question,
            history=state.substantive_turns,
            why=why,
            titles=list(dict.fromkeys(titles))[:MAX_TITLES],
        )
        reply: ClarifyReply = judgement.value
        asked = fact_view.clean_message(state, reply.question)
        choices = [fact_view.clean_message(state, choice) for choice in reply.choices[:4]]
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
