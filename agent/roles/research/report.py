"""The answer for the person: sentences that cite facts, how sure they are, what is missing, and the journey
told. Writes no URL.

The keyless side answers with the quotes themselves, best first, at most `WORDS` words; no sentence at all
means that the evidence does not cover the question, and the flow says so."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from agent.evidence.confidence import describe_level
from agent.retrieval.fact_selection import (
    choose_facts,
    choose_facts_for_note,
    estimate_answer_probability,
    render_statement,
)
from agent.retrieval.term_coverage import measure_coverage
from agent.roles.role import Role
from agent.text.plurals import format_count
from agent.types import Action, Answer, Conflict, Fact, Outcome, PageRef

MAX_WORDS = 120
MAX_SENTENCES = 6
MIN_ANSWER_PROBABILITY = 0.5
"""The least probability that the facts answer the question for an answer to be given at all."""


class ReportSentence(BaseModel):
    """One sentence of the answer and the ids of the facts it stands on."""

    model_config = ConfigDict(extra="ignore")

    text: str
    fact_ids: list[str] = Field(default_factory=list)


class ReportReply(BaseModel):
    """The answer as parts; the renderer numbers the sources and writes every address."""

    model_config = ConfigDict(extra="ignore")

    answer: list[ReportSentence] = Field(
        default_factory=list, description="empty when the facts do not answer the question"
    )
    certainty: str = ""
    missing: str = ""
    journey: str = ""
    key_sources: list[str] = Field(
        default_factory=list, description="ids of the facts that carried the answer"
    )


def fallback(
    *,
    question: str,
    notes: list[str],
    facts: list[Fact],
    conflicts: list[Conflict],
    assessment: str,
    confidence: float,
    history: list[Action],
    failures: list[PageRef],
    why_stopped: str,
    former: Answer | None,
) -> ReportReply:
    """A few quoted sentences, pinned ones first, then the best; none but the pinned ones when the pages do
    not cover the question."""
    known = measure_coverage(question, facts)
    usable = [fact for fact in facts if fact.can_support]
    given = bool(history) and history[0].action == "crawl_url"
    unmarked = [fact.model_copy(update={"decision": "none"}) for fact in usable if not fact.is_own_knowledge]
    covered = estimate_answer_probability(question, unmarked, given=given) >= MIN_ANSWER_PROBABILITY
    noted = choose_facts_for_note(notes[-1], usable) if notes else []
    room = MAX_WORDS - sum(len(render_statement(fact).split()) for fact in noted)
    rest = [fact for fact in usable if fact not in noted and (covered or fact.decision == "pinned")]
    picked = noted + (choose_facts(question, rest, words=room, sentences=MAX_SENTENCES) if room > 0 else [])
    return ReportReply(
        answer=[ReportSentence(text=render_statement(fact), fact_ids=[fact.id]) for fact in picked],
        certainty=_describe_certainty(confidence, conflicts),
        missing=f"Not found: {', '.join(known.missing)}." if known.missing else "",
        journey=_describe_journey(history, failures, why_stopped),
        key_sources=[fact.id for fact in picked],
    )


def _describe_certainty(confidence: float, conflicts: list[Conflict]) -> str:
    still = [conflict for conflict in conflicts if conflict.status == "open"]
    disputed = "; ".join(
        f"sources disagree about {conflict.subject}{f' ({conflict.attribute})' if conflict.attribute else ''}: "
        + " or ".join(value.text for value in conflict.values)
        for conflict in still[:3]
    )
    return describe_level(confidence) + (f"; {disputed}." if disputed else ".")


def _describe_journey(history: list[Action], failures: list[PageRef], why_stopped: str) -> str:
    searches = [action for action in history if action.action != "crawl_url"]
    read = [action for action in history if action.action == "crawl_url" and action.outcome == Outcome.OK]
    told = [f"{format_count(len(searches), 'search', 'searches')} and {format_count(len(read), 'page')} read"]
    if searches:
        told.append("first search: “" + searches[0].query_or_url + "”")
    useful = [action for action in read if action.new_facts]
    if useful:
        told.append(f"{format_count(len(useful), 'page')} brought {sum(a.new_facts for a in useful)} facts")
    if failures:
        told.append(f"{format_count(len(failures), 'page')} could not be read")
    return "; ".join(told) + "." + (f" It stopped because: {why_stopped}" if why_stopped else "")


REPORT = Role(name="report", reply=ReportReply, fallback=fallback, tier="strong")
