"""From a written report to an answer: citations checked, open conflicts named, and a verdict that code gives, not the writer."""

from __future__ import annotations

from collections.abc import Iterable

from agent.evidence import answers
from agent.flows import moves, naming
from agent.flows.state import Research
from agent.roles.report import ReportReply
from agent.roles.role import Judgement
from agent.text.coverage import cover
from agent.types import Answer, Conflict, Outcome, PageRef, Reason, Sentence, Statements, Verdict
from agent.types.reach import OUTSIDE
from agent.urls import canonical, without_foreign

FAILED = 3
"""Pages that could not be read which an answer of nothing names, and statements of a person's own that it keeps."""
LEAST = 0.4
"""Confidence below which an answer is never called more than partial."""
UNREADABLE = (Outcome.BLOCKED, Outcome.RATE_LIMITED, Outcome.TIMEOUT, Outcome.ERROR)


def answer(state: Research, judgement: Judgement, step: int, *, addresses: Iterable[str] = ()) -> Answer:
    """The answer that a person reviews. Without one backed statement it is an honest `no_evidence`, and says what was tried.

    `addresses` are those that may stand in it beside the pages of the run.
    """
    reply = _without_foreign_addresses(state, judgement.value, {canonical(url) for url in addresses})
    written = [Sentence(text=s.text.strip(), fact_ids=s.fact_ids) for s in reply.answer if s.text.strip()]
    facts = moves.standing(state)
    clashes = naming.relevant(state, written, facts)
    stated, counts = answers.check(written, facts, state.conflicts.values())
    named, more = answers.check(naming.told(state, clashes, written, facts), facts, state.conflicts.values())
    open_ones, first = [clash for clash in clashes if clash.status == "open"], naming.first(state, clashes, stated, facts)
    sentences, counts = [*named, *stated] if first else [*stated, *named], _sum(counts, more)
    if not any(sentence.backed for sentence in sentences):
        return _none(state, reply, judgement, step)
    return Answer(
        n=len(state.answers) + 1, verdict=_verdict(state, reply, open_ones), sentences=sentences, certainty=reply.certainty,
        reason="budget" if state.stop_reason == "budget" and state.level < state.settings.threshold else "none",
        missing="" if first and _covered(state) else reply.missing, journey=reply.journey,
        sources=answers.sources(sentences, facts), statements=counts,
        confidence=state.level, by=judgement.by, trouble=judgement.trouble, why_stopped=state.why_stopped, because=_because(state),
        conflicts=[clash.id for clash in open_ones], step=step,
    )  # fmt: skip


def _because(state: Research) -> str:
    """Why there is another answer, when a person's edits are the reason."""
    edits = [edit.text for edit in state.fresh_edits] if state.answers else []
    return f"after your {'edit' if len(edits) == 1 else 'edits'}: {'; '.join(edits)}" if edits else ""


def _covered(state: Research) -> bool:
    """Is every word of the question covered when disputed facts count too? Then nothing is missing but agreement."""
    known = [fact.model_copy(update={"disputed": False}) for fact in moves.memory(state)]
    return not cover(state.question, known).missing


def _sum(one: Statements, two: Statements) -> Statements:
    return Statements(backed=one.backed + two.backed, unsupported=one.unsupported + two.unsupported, dropped=one.dropped + two.dropped)


def _without_foreign_addresses(state: Research, reply: ReportReply, allowed: set[str]) -> ReportReply:
    """The reply without the addresses a writer typed that are no page of this run: the renderer writes every address."""
    known = allowed.union(moves.visited(state))
    sentences = [sentence.model_copy(update={"text": without_foreign(sentence.text, known)}) for sentence in reply.answer]
    parts = {name: without_foreign(getattr(reply, name), known) for name in ("certainty", "missing", "journey")}
    return reply.model_copy(update={"answer": sentences, **parts})


def _verdict(state: Research, reply: ReportReply, clashes: list[Conflict]) -> Verdict:
    sure = state.level >= state.settings.threshold
    cut_short = state.stop_reason in ("budget", "blocked", "asked") and not sure
    return "partial" if clashes or cut_short or (reply.missing and not sure) or state.level < LEAST else "answered"


def _none(state: Research, reply: ReportReply, judgement: Judgement, step: int) -> Answer:
    looked = list(state.pages.values())
    unread = [page for page in looked if page.outcome in UNREADABLE]
    engines = [action for action in state.actions if action.action != "crawl_url"]
    failed = [action for action in engines if action.outcome in UNREADABLE]
    blocked = (bool(looked) and len(unread) == len(looked)) or (bool(engines) and len(failed) == len(engines) and not looked)
    reason: Reason = "blocked" if blocked else "budget" if state.stop_reason == "budget" and not looked else "not_covered"
    searched = f"{len(engines)} {'search' if len(engines) == 1 else 'searches'} and " if engines or not looked else ""
    read = sum(1 for p in looked if p.page_id)
    tried = f"{searched}{read} {'page' if read == 1 else 'pages'} read"
    outside = sum(OUTSIDE in page.detail for page in looked)
    tried += f"; {outside} more lie outside the chosen sources" if outside else ""
    why = {
        "blocked": "Nothing could be read: every search engine or page refused or failed.",
        "budget": "The budget was used up before anything could be read.",
        "not_covered": "Nothing that was read answers this question.",
    }[reason]
    return Answer(
        n=len(state.answers) + 1, verdict="no_evidence", reason=reason, certainty=f"No answer is given. {why} ({tried}.){_on_your_word(state)}",
        missing=reply.missing, journey=reply.journey, statements=Statements(dropped=sum(len(sentence.fact_ids) for sentence in reply.answer)),
        confidence=min(state.level, 0.2), by=judgement.by, trouble=judgement.trouble, why_stopped=state.why_stopped,
        because=_because(state), step=step,
    )  # fmt: skip


def _on_your_word(state: Research) -> str:
    """What a person stated beyond any quote: no page backs it, so it is no answer, but it is not lost."""
    mine = [f"“{fact.statement}”" for fact in state.facts.values() if fact.mine and fact.decision != "struck"]
    more = f" and {len(mine) - FAILED} more" if len(mine) > FAILED else ""
    return f" On your word alone, backed by no page: {'; '.join(mine[:FAILED])}{more}." if mine else ""


def failures(failed: list[PageRef]) -> str:
    """The first of them, each with the sentence that says what happened; what a person can do about each stands in its own list."""
    told = [f"{page.url}: {page.detail.split('. ')[0].rstrip('.') or page.outcome.value}" for page in failed[:FAILED]]
    return "; ".join([*told, f"and {len(failed) - FAILED} more"] if len(failed) > FAILED else told) + "."
