"""From passages to a draft, and from a draft to the answer a person reads: quotes checked, conflicts named,
caveats said.

Code checks what can be checked before any judgement is asked; the verdict is code's, by the rules of every
flow."""

from __future__ import annotations

from collections.abc import Sequence

from agent.engine.context import RunContext
from agent.engine.state import Change
from agent.evidence import citation_check, confidence
from agent.flows.chat.retrieve import estimate_answerability, find_hidden_sources, standalone_question
from agent.flows.chat.state import ChatRun, Draft
from agent.flows.shared import fact_view
from agent.flows.shared.citations import build_fact_from_quote, resolve_citations
from agent.flows.shared.fact_intake import add_facts
from agent.flows.shared.verdict import build_answer as verdict_on
from agent.retrieval.extractive_answer import Quotation
from agent.roles.chat.clarify import CLARIFY, ClarifyReply
from agent.roles.chat.generate import GENERATE, GenerateReply, make_candidate_facts
from agent.roles.chat.validate import Claim
from agent.roles.research.report import ReportReply, ReportSentence
from agent.roles.role import RoleResult
from agent.types import Answer, Fact, Passage, Reason, Sentence

EXTRA_FACTS = 12
"""Sentences that are kept as facts beside those an answer cites: what contradicts it is among them."""
CAVEATS = (
    "A best effort: no passage of the library clearly bears on the question.",
    "Answered, from one passage of the library.",
    "Answered, from two passages of the library.",
)
"""What is said of an answer by how many relevant passages it was written from, where they were fewer than
would do."""
DEMO_LEFT_OUT = "The invented demo sources in the library were left out: --world demo (on the screen “With the demo’s invented sources”) takes them in."
MAX_TITLES, MIN_TITLE_RELEVANCE = 8, 0.3
"""Titles that may be offered when it is asked back what is meant, and the least relevance of what carries
them."""


def write_draft(
    state: ChatRun, tools: RunContext, passages: Sequence[Passage], *, caveat: str = ""
) -> Change:
    """The change of writing a draft from these passages: its facts, what contradicts them, the confidence,
    the draft itself."""
    asked = standalone_question(state)
    best = sorted(passages, key=lambda passage: -passage.score)
    likely = estimate_answerability(tools, asked, best)
    judgement = tools.judge(
        GENERATE,
        question=state.question,
        asked=asked,
        history=state.substantive_turns,
        notes=fact_view.note_texts(state),
        passages=best,
        likelihood=likely.probability,
        missing=list(likely.missing),
        caveat=caveat,
    )
    reply: GenerateReply = judgement.value
    facts, sentences = resolve_citations(asked, tools, reply.answer, best, by=judgement.by)
    facts = {name: fact for name, fact in facts.items() if name not in state.facts}
    if sentences:
        facts = _extract_extra_facts(state, tools, asked, best) | facts
    change = add_facts(
        state,
        tools.step,
        list(facts.values()),
        question=asked,
        model=reply.confidence if judgement.by == "model" else None,
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
    return {
        **change,
        "likelihood": likely.probability,
        "lacking": list(likely.missing),
        "draft": draft,
    }


def _extract_extra_facts(
    state: ChatRun, tools: RunContext, asked: str, passages: list[Passage]
) -> dict[str, Fact]:
    """The sentences that bear most on the question as facts, whether or not the answer cites them."""
    found = sorted(make_candidate_facts(asked, passages), key=lambda fact: -fact.relevance)[:EXTRA_FACTS]
    pages = {fact.page_id: tools.page(fact.page_id) for fact in found}
    checked = [
        build_fact_from_quote(
            asked,
            tools,
            pages[f.page_id],
            Quotation(f.page_id, f.quote, f.statement, f.subject, f.attribute, f.relevance),
            by="keyless",
        )
        for f in found
    ]
    return {fact.id: fact for fact in checked if fact.id not in state.facts}


def check_claims(state: ChatRun) -> list[Claim]:
    """The draft's sentences with their quotes, each marked by code as backed or not."""
    draft = state.own.draft or Draft()
    stated, _ = citation_check.check_citations(draft.sentences, state.facts, state.conflicts.values())
    return [
        Claim(
            n=n,
            text=sentence.text,
            quotes=[state.facts[i].quote for i in sentence.fact_ids],
            backed=sentence.backed,
        )
        for n, sentence in enumerate(stated, start=1)
    ]


def build_answer(state: ChatRun, tools: RunContext) -> Answer:
    """The answer that the draft makes; a best effort is never more than partial, and says what it is."""
    draft = state.own.draft or Draft()
    reply = ReportReply(
        answer=[ReportSentence(text=s.text, fact_ids=s.fact_ids) for s in draft.sentences],
        certainty=_describe_certainty(state, draft),
        missing=draft.missing,
        journey=describe_journey(state),
    )
    answer = verdict_on(
        state,
        RoleResult(
            value=reply, by="model" if draft.by == "model" else "keyless", fallback_reason=draft.trouble
        ),
        tools.step,
    )
    if answer.verdict == "no_evidence":
        return build_refusal(state, tools, "not_covered", "Nothing in the library answers this question.")
    return answer.model_copy(update={"verdict": "partial"}) if draft.caveat else answer


def build_refusal(
    state: ChatRun, tools: RunContext, reason: Reason, said: str, *, by: RoleResult | None = None
) -> Answer:
    """An answer that says why there is none, or asks back."""
    missing = f"Not found: {', '.join(state.own.lacking)}." if state.own.lacking else ""
    remark = DEMO_LEFT_OUT if reason == "not_covered" and find_hidden_sources(state, tools) else ""
    return Answer(
        n=len(state.answers) + 1,
        verdict="no_evidence",
        reason="budget" if state.stop_reason == "budget" else reason,
        certainty=said,
        missing=missing,
        remark=remark,
        journey=describe_journey(state),
        confidence=min(state.current_confidence, 0.2),
        by=by.by if by else "keyless",
        trouble=by.fallback_reason if by else "",
        why_stopped=state.why_stopped,
        step=tools.step,
    )


def ask_for_clarification(state: ChatRun, tools: RunContext, *, why: str, reason: Reason) -> Change:
    """The change of asking the person: the question with its choices, and the answer that stands when nobody
    replies."""
    graded = zip(
        state.own.retrieved_docs,
        state.own.doc_relevance_scores or [0.0] * len(state.own.retrieved_docs),
        strict=True,
    )
    titles = list(
        dict.fromkeys(doc.title for doc, score in graded if doc.title and score >= MIN_TITLE_RELEVANCE)
    )[:MAX_TITLES]
    judgement = tools.judge(
        CLARIFY,
        question=state.question,
        history=state.substantive_turns,
        why=why,
        suggestion=state.own.needs_clarification or "",
        titles=titles,
        missing=state.own.lacking,
    )
    reply: ClarifyReply = judgement.value
    answer = build_refusal(state, tools, reason, reply.question, by=judgement)
    return {"needs_clarification": reply.question, "choices": reply.choices[:4], "answers": [answer]}


def _describe_certainty(state: ChatRun, draft: Draft) -> str:
    return f"{confidence.describe_level(state.current_confidence)}. {draft.caveat}".strip()


def describe_journey(state: ChatRun) -> str:
    """The way to the answer in a sentence or two: the route, what was looked for, what was found."""
    told = [f"Route: {state.own.route_decision}"] if state.own.route_decision else []
    if state.own.queries:
        told.append(f"looked for {' and '.join(f'“{query}”' for query in dict.fromkeys(state.own.queries))}")
        relevant = sum(score >= 0.5 for score in state.own.doc_relevance_scores)
        told.append(f"{relevant} of {len(state.own.retrieved_docs)} passages relevant")
    return "; ".join(told) + "." if told else ""
