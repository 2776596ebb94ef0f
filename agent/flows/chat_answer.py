"""From passages to a draft, and from a draft to the answer a person reads: quotes checked, conflicts named, caveats said.

Code checks what can be checked before any judgement is asked; the verdict is code's, by the rules of every flow.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent.evidence import answers, confidence
from agent.flows import moves
from agent.flows import site_reading as conflicts_of
from agent.flows.chat_reading import estimate, hidden, wanted
from agent.flows.chat_state import Chat, Draft
from agent.flows.quoting import cited, fact_of
from agent.flows.verdict import answer as verdict_on
from agent.roles.clarify import CLARIFY, ClarifyReply
from agent.roles.generate import GENERATE, GenerateReply, candidate_facts
from agent.roles.report import ReportReply, ReportSentence
from agent.roles.role import Judgement
from agent.roles.support import Quoted
from agent.roles.validate import Claim
from agent.state import Change, fork, jsonable, merge
from agent.text.coverage import cover
from agent.toolbox import Tools
from agent.types import Answer, Fact, Passage, Reason, Sentence

BESIDE = 12
"""Sentences that are kept as facts beside those an answer cites: what contradicts it is among them."""
CAVEATS = (
    "A best effort: no passage of the library clearly bears on the question.",
    "Answered, from one passage of the library.",
    "Answered, from two passages of the library.",
)
"""What is said of an answer by how many relevant passages it was written from, where they were fewer than would do."""
LEFT_OUT = "The invented demo sources in the library were left out: --world demo (on the screen “With the demo’s invented sources”) takes them in."
TITLES, OFFERED = 8, 0.3
"""Titles that may be offered when it is asked back what is meant, and the least relevance of what carries them."""


def written(state: Chat, tools: Tools, passages: Sequence[Passage], *, caveat: str = "") -> Change:
    """The change of writing a draft from these passages: its facts, what contradicts them, the confidence, the draft itself."""
    asked = wanted(state)
    best = sorted(passages, key=lambda passage: -passage.score)
    likely = estimate(tools, asked, best)
    judgement = tools.judge(
        GENERATE, question=state.question, asked=asked, history=state.talk, notes=moves.notes(state), passages=best,
        likelihood=likely.probability, missing=list(likely.missing), caveat=caveat,
    )  # fmt: skip
    reply: GenerateReply = judgement.value
    facts, sentences = cited(asked, tools, reply.answer, best, by=judgement.by)
    facts = {name: fact for name, fact in facts.items() if name not in state.facts}
    if sentences:
        facts = _beside(state, tools, asked, best) | facts
    marked = conflicts_of.clashes(state, [*moves.memory(state), *facts.values()])
    facts |= {fact.id: fact for fact in marked.pop("facts", [])}
    change: Change = {**marked, "facts": list(facts.values()), "likelihood": likely.probability, "lacking": list(likely.missing)}
    now = merge(fork(state), jsonable(change))
    level = confidence.assess(
        step=tools.step, facts=moves.memory(now), conflicts=now.conflicts.values(), coverage=cover(asked, moves.memory(now)).share,
        previous=state.confidence[-1] if state.confidence else None, model=reply.confidence if judgement.by == "model" else None,
    )  # fmt: skip
    draft = Draft(
        sentences=[Sentence(text=s.text.strip(), fact_ids=s.fact_ids) for s in sentences if s.text.strip()], missing=reply.missing, caveat=caveat,
        confidence=reply.confidence, by=judgement.by, trouble=judgement.trouble, step=tools.step,
    )  # fmt: skip
    return {**change, "confidence": [level], "draft": draft}


def _beside(state: Chat, tools: Tools, asked: str, passages: list[Passage]) -> dict[str, Fact]:
    """The sentences that bear most on the question as facts, whether or not the answer cites them."""
    found = sorted(candidate_facts(asked, passages), key=lambda fact: -fact.relevance)[:BESIDE]
    pages = {fact.page_id: tools.page(fact.page_id) for fact in found}
    checked = [
        fact_of(asked, tools, pages[f.page_id], Quoted(f.page_id, f.quote, f.statement, f.subject, f.attribute, f.relevance), by="keyless")
        for f in found
    ]
    return {fact.id: fact for fact in checked if fact.id not in state.facts}


def claims(state: Chat) -> list[Claim]:
    """The draft's sentences with their quotes, each marked by code as backed or not."""
    draft = state.draft or Draft()
    stated, _ = answers.check(draft.sentences, state.facts, state.conflicts.values())
    return [
        Claim(n=n, text=sentence.text, quotes=[state.facts[i].quote for i in sentence.fact_ids], backed=sentence.backed)
        for n, sentence in enumerate(stated, start=1)
    ]


def concluded(state: Chat, tools: Tools) -> Answer:
    """The answer that the draft makes; a best effort is never more than partial, and says what it is."""
    draft = state.draft or Draft()
    reply = ReportReply(
        answer=[ReportSentence(text=s.text, fact_ids=s.fact_ids) for s in draft.sentences], certainty=_certainty(state, draft),
        missing=draft.missing, journey=journey(state),
    )  # fmt: skip
    answer = verdict_on(state, Judgement(value=reply, by="model" if draft.by == "model" else "keyless", trouble=draft.trouble), tools.step)
    if answer.verdict == "no_evidence":
        return refusal(state, tools, "not_covered", "Nothing in the library answers this question.")
    return answer.model_copy(update={"verdict": "partial"}) if draft.caveat else answer


def refusal(state: Chat, tools: Tools, reason: Reason, said: str, *, by: Judgement | None = None) -> Answer:
    """An answer that says why there is none, or asks back."""
    missing = f"Not found: {', '.join(state.lacking)}." if state.lacking else ""
    remark = LEFT_OUT if reason == "not_covered" and hidden(state, tools) else ""
    return Answer(
        n=len(state.answers) + 1, verdict="no_evidence", reason="budget" if state.stop_reason == "budget" else reason, certainty=said,
        missing=missing, remark=remark, journey=journey(state), confidence=min(state.level, 0.2), by=by.by if by else "keyless",
        trouble=by.trouble if by else "", why_stopped=state.why_stopped, step=tools.step,
    )  # fmt: skip


def asked_back(state: Chat, tools: Tools, *, why: str, reason: Reason) -> Change:
    """The change of asking the person: the question with its choices, and the answer that stands when nobody replies."""
    graded = zip(state.retrieved_docs, state.doc_relevance_scores or [0.0] * len(state.retrieved_docs), strict=True)
    titles = list(dict.fromkeys(doc.title for doc, score in graded if doc.title and score >= OFFERED))[:TITLES]
    judgement = tools.judge(
        CLARIFY, question=state.question, history=state.talk, why=why, suggestion=state.needs_clarification or "", titles=titles,
        missing=state.lacking,
    )  # fmt: skip
    reply: ClarifyReply = judgement.value
    answer = refusal(state, tools, reason, reply.question, by=judgement)
    return {"needs_clarification": reply.question, "choices": reply.choices[:4], "answers": [answer]}


def _certainty(state: Chat, draft: Draft) -> str:
    told = "High" if state.level >= 0.85 else "Moderate" if state.level >= 0.6 else "Low"
    return " ".join(part for part in (f"{told} ({state.level:.0%}).", draft.caveat) if part)


def journey(state: Chat) -> str:
    """The way to the answer in a sentence or two: the route, what was looked for, what was found."""
    told = [f"Route: {state.route_decision}"] if state.route_decision else []
    if state.queries:
        told.append(f"looked for {' and '.join(f'“{query}”' for query in dict.fromkeys(state.queries))}")
        relevant = sum(score >= 0.5 for score in state.doc_relevance_scores)
        told.append(f"{relevant} of {len(state.retrieved_docs)} passages relevant")
    return "; ".join(told) + "." if told else ""
