"""From passages to a draft, and from a draft to the answer: quotes checked, conflicts and caveats named."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from agent.engine.context import RunContext
from agent.engine.state import Change
from agent.evidence import citation_check, confidence
from agent.flows.chat.retrieve import standalone_question
from agent.flows.chat.state import ChatRun, Draft
from agent.flows.shared import fact_view, verdict
from agent.flows.shared.citations import build_fact_from_quote, resolve_citations
from agent.flows.shared.fact_intake import add_facts
from agent.flows.shared.passages import find_hidden_sources
from agent.retrieval.extractive_answer import find_best_quotes
from agent.retrieval.term_coverage import find_unseen_terms
from agent.roles.chat.clarify import CLARIFY, ClarifyReply
from agent.roles.chat.generate import GENERATE, GenerateReply
from agent.roles.chat.grade import MIN_RELEVANT_SCORE
from agent.roles.chat.validate import Claim
from agent.roles.research.report import ReportReply, ReportSentence
from agent.roles.role import RoleResult
from agent.text.plurals import format_count
from agent.types import Answer, Fact, Passage, Reason, Sentence

EXTRA_FACTS = 12
"""Without a model: sentences that are kept as facts beside the cited ones, to find contradictions."""
CAVEATS = (
    "A best effort: no passage of the library is clearly relevant to the question.",
    "Answered, from one passage of the library.",
    "Answered, from two passages of the library.",
)
"""The caveat of an answer from 0, 1 or 2 relevant passages."""
DEMO_LEFT_OUT = (
    "The invented demo sources in the library were left out: --world demo (on the screen “With the demo’s "
    "invented sources”) takes them in."
)
MAX_TITLES, MIN_TITLE_RELEVANCE = 8, 0.3
"""Titles offered with a clarifying question, and the least relevance of their passages."""


def write_draft(
    state: ChatRun, tools: RunContext, passages: Sequence[Passage], *, caveat: str = ""
) -> Change:
    """The change of writing a draft from these passages: facts, conflicts, confidence and the draft."""
    question = standalone_question(state)
    best = sorted(passages, key=lambda passage: -passage.score)
    judgement = tools.judge(
        GENERATE,
        question=state.question,
        asked=question,
        history=state.substantive_turns,
        notes=fact_view.note_texts(state),
        passages=best,
        caveat=caveat,
    )
    reply: GenerateReply = judgement.value
    is_model = judgement.by == "model"
    facts, sentences = resolve_citations(question, tools, reply.answer, best, by=judgement.by)
    if sentences and not is_model:
        facts = _extract_extra_facts(tools, question, best) | facts
    change = add_facts(
        state,
        tools.step,
        [fact for name, fact in facts.items() if name not in state.facts],
        question=question,
        model=reply.confidence if is_model else None,
    )
    draft = Draft(
        sentences=[Sentence(text=s.text.strip(), fact_ids=s.fact_ids) for s in sentences if s.text.strip()],
        missing=reply.missing,
        caveat=caveat,
        confidence=reply.confidence,
        by=judgement.by,
        trouble=judgement.fallback_reason,
        step=tools.step,
    )
    lacking = [] if is_model else find_unseen_terms(question, [f"{p.title} {p.text}" for p in best])
    return {**change, "lacking": lacking, "draft": draft}


def _extract_extra_facts(tools: RunContext, question: str, passages: list[Passage]) -> dict[str, Fact]:
    """The sentences most relevant to the question as facts."""
    facts = [
        build_fact_from_quote(question, tools, tools.page(quote.page_id), quote, by="keyless")
        for quote in find_best_quotes(question, passages, EXTRA_FACTS)
    ]
    return {fact.id: fact for fact in facts}


def check_claims(state: ChatRun) -> list[Claim]:
    """The sentences of the draft with their quotes, each marked by code as backed or not.

    Without a model a quote of a disputed fact is backed, too: the answer names both sides of the conflict."""
    draft = state.own.draft or Draft()
    facts, conflicts = state.facts, list(state.conflicts.values())
    if draft.by != "model":
        facts, conflicts = {fact.id: fact for fact in fact_view.ignore_disputes(list(facts.values()))}, []
    sentences, _ = citation_check.check_citations(draft.sentences, facts, conflicts)
    return [
        Claim(
            n=n,
            text=s.text,
            quotes=[state.facts[i].quote for i in s.fact_ids],
            backed=s.backed or s.check == "not_checked",
        )
        for n, s in enumerate(sentences, start=1)
    ]


def build_answer(state: ChatRun, tools: RunContext) -> Answer:
    """The answer of the draft; a best effort is at most partial, and has a caveat."""
    draft = state.own.draft or Draft()
    reply = ReportReply(
        answer=[ReportSentence(text=s.text, fact_ids=s.fact_ids) for s in draft.sentences],
        certainty=f"{confidence.describe_level(state.current_confidence)}. {draft.caveat}".strip(),
        missing=draft.missing,
        journey=describe_journey(state),
    )
    by: Literal["model", "keyless"] = "model" if draft.by == "model" else "keyless"
    answer = verdict.build_answer(
        state, RoleResult(value=reply, by=by, fallback_reason=draft.trouble), tools.step
    )
    if answer.verdict == "no_evidence":
        return build_refusal(state, tools, "not_covered", "Nothing in the library answers this question.")
    return answer.replace(verdict="partial") if draft.caveat else answer


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
        missing=f"Not found: {', '.join(state.own.lacking)}." if state.own.lacking else "",
        remark=DEMO_LEFT_OUT if is_demo_hidden else "",
        journey=describe_journey(state),
        by=by,
    )


def ask_for_clarification(state: ChatRun, tools: RunContext, *, why: str, reason: Reason) -> Change:
    """The change of asking the person: a question with choices, and the answer in case nobody replies."""
    own = state.own
    scores = own.doc_relevance_scores or [0.0] * len(own.retrieved_docs)
    graded = zip(own.retrieved_docs, scores, strict=True)
    titles = dict.fromkeys(doc.title for doc, score in graded if doc.title and score >= MIN_TITLE_RELEVANCE)
    judgement = tools.judge(
        CLARIFY,
        question=state.question,
        history=state.substantive_turns,
        why=why,
        suggestion=own.needs_clarification or "",
        titles=list(titles)[:MAX_TITLES],
    )
    reply: ClarifyReply = judgement.value
    answer = build_refusal(state, tools, reason, reply.question, by=judgement)
    return {"needs_clarification": reply.question, "choices": reply.choices[:4], "answers": [answer]}


def describe_journey(state: ChatRun) -> str:
    """The route, the searches and what they found, in a sentence."""
    own = state.own
    parts = [f"Route: {own.route_decision}"] if own.route_decision else []
    if own.queries:
        parts.append(f"looked for {' and '.join(f'“{query}”' for query in dict.fromkeys(own.queries))}")
        relevant = sum(score >= MIN_RELEVANT_SCORE for score in own.doc_relevance_scores)
        parts.append(f"{relevant} of {format_count(len(own.retrieved_docs), 'passage')} relevant")
    return "; ".join(parts) + "." if parts else ""
