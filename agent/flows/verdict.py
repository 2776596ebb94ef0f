"""From a written report to an answer: citations checked, open conflicts named, and a verdict that code gives, not the writer."""

from __future__ import annotations

from agent.evidence import answers
from agent.flows.state import Research
from agent.roles.report import ReportReply
from agent.roles.role import Judgement
from agent.types import Answer, Conflict, Fact, Outcome, Reason, Sentence, Statements, Verdict
from agent.urls import site

NAMED = 2
"""Open conflicts that an answer names in its text; the others stand in the conflicts tab and the report."""
UNREADABLE = (Outcome.BLOCKED, Outcome.RATE_LIMITED, Outcome.TIMEOUT, Outcome.ERROR)


def answer(state: Research, judgement: Judgement, step: int) -> Answer:
    """The answer that a person reviews. Without one backed statement it is an honest `no_evidence`, and says what was tried."""
    reply: ReportReply = judgement.value
    written = [Sentence(text=s.text.strip(), fact_ids=s.fact_ids) for s in reply.answer if s.text.strip()]
    clashes = _relevant(state, written)
    sentences, counts = answers.check([*written, *(_told(clash, state.facts) for clash in clashes)], state.facts, clashes)
    if not any(sentence.backed for sentence in sentences):
        return _none(state, judgement, step, counts)
    return Answer(
        n=len(state.answers) + 1, verdict=_verdict(state, reply, clashes), sentences=sentences, certainty=reply.certainty,
        reason="budget" if state.stop_reason == "budget" and state.level < state.settings.threshold else "none",
        missing=reply.missing, journey=reply.journey, sources=answers.sources(sentences, state.facts), statements=counts,
        confidence=state.level, by=judgement.by, why_stopped=state.why_stopped, conflicts=[clash.id for clash in clashes], step=step,
    )  # fmt: skip


def _verdict(state: Research, reply: ReportReply, clashes: list[Conflict]) -> Verdict:
    cut_short = state.stop_reason in ("budget", "blocked", "asked") and state.level < state.settings.threshold
    return "partial" if clashes or cut_short or (reply.missing and state.level < state.settings.threshold) else "answered"


def _relevant(state: Research, sentences: list[Sentence]) -> list[Conflict]:
    """The open conflicts that touch what is answered: of the same page's subject, or as relevant as what is cited."""
    cited = [state.facts[i] for sentence in sentences for i in sentence.fact_ids if i in state.facts]
    least = min((fact.relevance for fact in cited), default=0.3)
    return [
        clash
        for clash in state.conflicts.values()
        if clash.status == "open" and max((state.facts[i].relevance for v in clash.values for i in v.fact_ids if i in state.facts), default=0) >= least
    ][:NAMED]


def _told(clash: Conflict, facts: dict[str, Fact]) -> Sentence:
    """One sentence that names both sides in their own words."""
    sides: list[str] = []
    ids: list[str] = []
    for value in clash.values[:3]:
        known = [facts[i] for i in value.fact_ids if i in facts]
        if known:
            ids.append(known[0].id)
            sides.append(f"{site(known[0].url) or 'one source'} says “{known[0].quote}”")
    return Sentence(text=f"The sources disagree on {clash.subject or 'this'}: {'; '.join(sides)}.", fact_ids=ids)


def _none(state: Research, judgement: Judgement, step: int, counts: Statements) -> Answer:
    reply: ReportReply = judgement.value
    looked = [page for page in state.pages.values()]
    unread = [page for page in looked if page.outcome in UNREADABLE]
    engines = [action for action in state.actions if action.action != "crawl_url"]
    failed = [action for action in engines if action.outcome in UNREADABLE]
    blocked = (bool(looked) and len(unread) == len(looked)) or (bool(engines) and len(failed) == len(engines) and not looked)
    reason: Reason = "blocked" if blocked else "budget" if state.stop_reason == "budget" and not looked else "not_covered"
    tried = f"{len(engines)} {'search' if len(engines) == 1 else 'searches'} and {sum(1 for p in looked if p.page_id)} pages read"
    why = {
        "blocked": "Nothing could be read: every search engine or page refused or failed.",
        "budget": "The budget was used up before anything could be read.",
        "not_covered": "Nothing that was read answers this question.",
    }[reason]
    return Answer(
        n=len(state.answers) + 1, verdict="no_evidence", reason=reason, certainty=f"No answer is given. {why} ({tried}.)",
        missing=reply.missing, journey=reply.journey, statements=Statements(unsupported=0, dropped=counts.dropped),
        confidence=min(state.level, 0.2), by=judgement.by, why_stopped=state.why_stopped, step=step,
    )  # fmt: skip
