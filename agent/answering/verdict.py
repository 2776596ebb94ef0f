"""From a checked draft to an answer: its blocks, the conflicts it names, and how code chooses the verdict and
the confidence and says how certain it is, how it was found and what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any

from agent.answering import fact_view
from agent.answering.claim_checks import WrittenDraft
from agent.answering.conflict_sentences import RULING_PREFIX, name_conflicts
from agent.answering.view import assess_confidence, close_plan, find_claims, name_part
from agent.engine.run_state import RunState
from agent.engine.state import Change
from agent.evidence.block_layout import prune_blocks
from agent.evidence.citation_check import (
    accept_quotations,
    collect_sources,
    count_statements,
    filter_citations,
    has_page_support,
)
from agent.evidence.confidence import describe_certainty
from agent.evidence.report_words import words_for
from agent.roles.role import RoleResult
from agent.text.plurals import format_count, list_first
from agent.text.question_analysis import format_question
from agent.text.sentences import format_sentence
from agent.text.urls import site
from agent.types import (
    Action,
    Answer,
    AnswerBlock,
    Assessment,
    Outcome,
    PageRef,
    Reason,
    ReportLength,
    Sentence,
    StatementCounts,
    Verdict,
)
from agent.types.source_filter import OUTSIDE_FILTER

RUNNING_TEXT, NAMED_CONFLICTS = "b", "k"
"""The ids of the block of a text without blocks, and of the paragraph in which code names conflicts."""
WORDED_BY_MODEL = "The model worded this; nothing checks it."
"""The remark on a refusal or a question to the person in a model's words."""
MAX_ROUNDS, MAX_NAMED = 5, 3
"""Rounds that the journey tells, the first and the last ones: with beginning, failures and end eight
sentences; and searches, pages or failures that one of them names."""
MAX_TOLD_CHARS = 240
"""Characters of a quote or a reason that the journey tells."""
_INNER_QUOTES = str.maketrans("“”", "‘’")
NO_EVIDENCE_REASONS: dict[Reason, str] = {
    "blocked": "Nothing could be read.",
    "budget": "The budget was used up before anything could be read.",
    "not_covered": "Nothing that was read answers this question.",
    "unsupported": "Nothing of what was drafted is supported by its quotes.",
}


def finish_answer(
    state: RunState,
    draft: WrittenDraft,
    step: int,
    *,
    caveat: str = "",
    journey: str = "",
    length: ReportLength = "standard",
    conflict_block: str = "",
) -> Answer:
    """The answer of a checked draft that a person reviews; `no_evidence` when no statement of it is backed or
    left unchecked for want of a judge. `record_answer` makes the change.

    `caveat` follows its certainty, and `journey` replaces the account of searches and pages; both are code's.
    The conflicts that it must name stand in the block `conflict_block` where that is given."""
    facts, is_model = fact_view.facts_after_notes(state), draft.by == "model"
    stated = [name_part(state.plan, sentence, facts) for sentence in draft.sentences]
    conflicts, named = name_conflicts(state, stated, facts, is_model=is_model)
    named, dropped = filter_citations(named, facts, state.conflicts.values())
    named = [name_part(state.plan, sentence, facts) for sentence in accept_quotations(named, facts)]
    edits = [edit.text for edit in state.edits_since_answer] if state.answers else []
    after = f"after your {'edits' if len(edits) > 1 else 'edit'}: {'; '.join(edits)}"
    answer = Answer(
        n=len(state.answers) + 1,
        verdict="no_evidence",
        journey=journey or describe_journey(state),
        by=draft.by,
        trouble=draft.trouble,
        why_stopped="" if edits else state.why_stopped,
        because=after if edits else "",
        length=length,
        step=step,
        open=draft.open,
        assumed=draft.assumed,
        answered_parts=draft.answered_parts,
        judge=draft.judge,
    )
    on_sides, is_shown = {i for said in named for i in said.fact_ids}, False
    for said in (*named, *stated) if is_model else stated:  # a conflict alone is no passage that was found
        is_open = said.check in ("not_checked", "differs")  # no judge was asked: it counts for nothing
        is_shown |= said.backed or (is_open and any(has_page_support(facts[i]) for i in said.fact_ids))
    if not is_shown:
        cited = draft.dropped + sum(len(sentence.fact_ids) for sentence in draft.sentences)
        return answer.replace(
            **explain_no_evidence(state, is_drafted=bool(draft.refused)),
            open="",
            assumed="",
            remark=describe_refused(draft.refused),
            statements=StatementCounts(dropped=cited),
        )
    told, placed = list[Sentence](), list[Sentence]()
    for said in named:
        told.append(said.replace(block=conflict_block or NAMED_CONFLICTS))
    for said in stated:  # what a passage quotes of both sides stands there
        is_told = not is_model and on_sides.issuperset(said.fact_ids)
        placed += [] if is_told else [said.replace(block=said.block or RUNNING_TEXT)]
    frame, blocks = AnswerBlock(id=NAMED_CONFLICTS), [b for b in draft.blocks if b.id != NAMED_CONFLICTS]
    blocks += [] if RUNNING_TEXT in {block.id for block in blocks} else [AnswerBlock(id=RUNNING_TEXT)]
    is_asked = any(conflict.asks for conflict in conflicts if conflict.settled_by != "model")
    is_ruled = any(said.text.startswith(RULING_PREFIX) for said in named)
    is_first = not conflict_block and (is_asked or is_ruled or not is_model)
    answer = answer.replace(
        blocks=[frame, *blocks] if is_first else [*blocks, frame],
        statements=StatementCounts(dropped=draft.dropped + dropped),
        conflicts=[conflict.id for conflict in conflicts if conflict.status == "open"],
    )
    answer = limit_answer(state, answer, [*told, *placed] if is_first else [*placed, *told])
    return answer.replace(certainty=f"{answer.certainty} {caveat}".strip())


def describe_refused(count: int) -> str:
    """That drafted sentences were refused by their check; "" for none."""
    drafted = format_count(count, "drafted sentence was", "drafted sentences were")
    return f"{drafted} left out: not supported by the quotes." if count else ""


def limit_answer(state: RunState, answer: Answer, sentences: Sequence[Sentence]) -> Answer:
    """The answer with only these of its sentences; verdict, gaps, counts, sources and confidence are theirs.
    Nothing is called answered unless a model wrote it."""
    facts, is_model = fact_view.facts_after_notes(state), answer.by == "model"
    works = {page.page_id: page.publication for page in state.pages.values() if page.publication}
    blocks, sentences = prune_blocks(answer.blocks, sentences)
    answer = answer.replace(blocks=blocks, sentences=sentences)
    level = assess_confidence(state, answer.step, answer=answer)
    plan = close_plan(state, level, answer)
    _, answered = find_claims(plan, answer, facts)
    left = [part.question for part in plan if is_model and part.id not in answered]
    missing = " ".join(format_question(question).rstrip(".") for question in left)
    if left and len(plan) == 1:
        is_judged = any(sentence.backed for sentence in sentences)
        missing = words_for(left[0])["incomplete" if is_judged else "unchecked"]
    is_partial = bool(left or answer.open)
    verdict: Verdict = "partial" if is_partial else "answered"
    return answer.replace(
        verdict=verdict if is_model else "passages_found",
        reason="budget" if state.stop_reason == "budget" and is_partial else "none",
        parts=plan if len(plan) > 1 else [],
        sources=collect_sources(sentences, facts, works),
        statements=count_statements(sentences, answer.statements.dropped),
        confidence=level.value if level else None,
        certainty=describe_certainty(level, plan) if level else "",
        missing=answer.open or missing,
    )


def no_answer(
    state: RunState, step: int, reason: Reason, text: str, *, by: RoleResult | None = None, **more: Any
) -> Answer:
    """An answer that says why there is none; `by` is the judgement behind it, `more` are further fields."""
    fields = {"why_stopped": state.why_stopped, **more}
    return Answer(
        n=len(state.answers) + 1,
        verdict="no_evidence",
        reason=reason,
        certainty=text,
        by=by.by if by else "keyless",
        trouble=by.failure if by else "",
        step=step,
        **fields,
    )


def record_answer(answer: Answer, change: Change | None = None) -> Change:
    """The change of an answer, beside that of the facts it rests on."""
    before = change or {}
    said = [*before.get("assessments", []), Assessment(step=answer.step)]
    return {**before, "answers": [answer], "assessments": said}


def describe_failures(failed: list[PageRef]) -> str:
    """The first unreadable pages, each with the sentence that says what happened."""
    return f"{list_first((f'{page.url}: {_explain_failure(page)}' for page in failed), '; ')}."


def _explain_failure(page: PageRef) -> str:
    return page.detail.split(". ")[0].rstrip(".") or page.outcome.value


def explain_no_evidence(state: RunState, *, is_drafted: bool = False) -> dict[str, Any]:
    """The reason and certainty of an answer without evidence: what was tried, whether what was drafted failed
    its check, and what a person stated that no page backs."""
    pages = list(state.pages.values())
    searches = [action for action in state.actions if action.is_search]
    unreadable = (Outcome.BLOCKED, Outcome.RATE_LIMITED, Outcome.TIMEOUT, Outcome.ERROR)
    failed = [item.outcome in unreadable for item in (pages or searches)]
    reason: Reason = "unsupported" if is_drafted else "not_covered"
    if failed and all(failed):
        reason = "blocked"
    elif state.stop_reason == "budget" and not pages:
        reason = "budget"
    tried = format_count(state.pages_read_count, "page") + " read"
    if searches or not pages:
        tried = f"{format_count(len(searches), 'search', 'searches')} and {tried}"
    if outside := sum(OUTSIDE_FILTER in page.detail for page in pages):
        tried += f"; {outside} more lie outside the chosen sources"
    details = [format_sentence(one.detail) for one in pages or searches if reason == "blocked" and one.detail]
    text = " ".join(["No answer is given.", NO_EVIDENCE_REASONS[reason], *details[:1], f"({tried}.)"])
    own = [f"“{f.statement}”" for f in state.facts.values() if f.rests_on_person and f.decision != "struck"]
    if own:
        text += f" Stated by you, not backed by a page: {list_first(own, '; ')}."
    return {"reason": reason, "certainty": text}


def describe_journey(state: RunState) -> str:
    """How a run came to its answer, as a story of at most eight sentences: which finding led to which search
    or page, what could not be read, and why it stopped. The reasons in brackets are those of the decisions.
    Nothing that a page or a model said where a private note or an added file may stand behind it."""
    has_private = bool(state.earlier_private_notes or state.file_words or any(n.private for n in state.notes))
    told, idle, failed = list[str](), 0, dict[str, None]()
    for _, group in groupby(state.actions, key=attrgetter("step")):
        done = list(group)
        if text := _tell_round(state, done, not has_private):
            told.append(f"{'Then' if told or idle else 'First'} it {text}.")
        else:
            idle += len(done)
    if len(told) > MAX_ROUNDS:
        told[2:-2] = [f"{format_count(len(told) - 4, 'further round')} led on."]
    if idle:
        told.append(f"{format_count(idle, 'search or page', 'searches and pages')} brought nothing new.")
    for page in state.pages.values():
        if page.outcome is not Outcome.OK:
            failed[f"{site(page.url)} ({_explain_failure(page)})"] = None
    if failed:
        told.append(f"It could not read {_join(failed)}.")
    if (end := state.why_stopped.rstrip(".")) and not (state.answers and state.edits_since_answer):
        last = state.pending
        own = last.reasoning if last and last.by == "model" and not has_private else ""
        reason = f" (“{_shorten(fact_view.clean_message(state, own))}”)" if own else ""
        told.append(f"It stopped because {end[0].lower()}{end[1:]}{reason}.")
    return " ".join(told)


def _tell_round(state: RunState, done: Sequence[Action], has_words: bool) -> str:
    """What a round did that led to something, and with `has_words` why, what a page said; "" for nothing."""
    searches, sites, asked, read = dict[str, None](), dict[str, None](), list[str](), set[str]()
    reason, best = "", None
    for action in done:
        searches |= {f"“{action.query_or_url}”": None} if action.hits else {}
        read |= {action.page_id} if action.page_id and action.new_facts else set()
        asked += [f"asked: {action.query_or_url} {action.detail}"] if action.action == "ask" else []
        reason = reason or (action.reasoning if action.by == "model" else "")
    for fact in state.facts.values():
        if fact.page_id in read and fact.is_active:
            sites[site(fact.url) or fact.title] = None
            best = fact if best is None or fact.relevance > best.relevance else best
    did = [f"searched for {_join(searches)}"] if searches else []
    did += [f"read {_join(sites)}"] if sites else []
    text = " and ".join([*did, *asked])
    if text and reason and has_words:
        text += f" (“{_shorten(fact_view.clean_message(state, reason))}”)"
    if best and has_words:
        who = "it" if len(sites) == 1 else site(best.url) or best.title
        text += f"; {who} says “{_shorten(best.quote)}”"
    return text


def _join(names: Iterable[str]) -> str:
    """The first names in a row, and how many more there are."""
    shown = list(names)
    more = [f"{len(shown) - MAX_NAMED} more"] if len(shown) > MAX_NAMED else []
    *first, last = [*shown[:MAX_NAMED], *more]
    return f"{', '.join(first)} and {last}" if first else last


def _shorten(text: str) -> str:
    line = " ".join(text.split()).rstrip(".").translate(_INNER_QUOTES)
    return line if len(line) <= MAX_TOLD_CHARS else f"{line[:MAX_TOLD_CHARS].rsplit(' ', 1)[0]} …"
