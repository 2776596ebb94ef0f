"""The steps of `reply`: each returns a change and the name of the next step."""

from __future__ import annotations

from typing import Any

from agent.answering.draft import ask_writer
from agent.answering.passages import find_hidden_sources
from agent.answering.verdict import no_answer
from agent.engine.context import RunContext
from agent.engine.state import Change
from agent.errors import NotFound
from agent.flows.reply import write as writing
from agent.flows.reply.state import ReplyRun
from agent.retrieval.query_rewriting import build_search_texts, list_clauses
from agent.roles.reply import GATE, SELECTION, VERIFICATION, WRITING
from agent.roles.role import RoleResult
from agent.text.identifiers import find_codes
from agent.types import IndexEntry, LibraryScope, PageRef, Reason, Refusal
from agent.types.reply import GateDecision, LoadedSource, SourceSelection, VerificationResult

MAX_SHOWN_ENTRIES = 80
"""Entries of the index in one prompt; of a larger index those whose sources contain words of the question."""
MAX_SHOWN_CHARS = 24_000
"""Characters of the index in one prompt."""
MAX_WORD_HITS = 60
"""Passages that are looked up by the words of the question, to rank the sources."""


def gate(state: ReplyRun, tools: RunContext) -> tuple[Change, str]:
    """Decide whether something is asked that could be answered."""
    own, conversation = state.own, state.own.full_conversation(state)
    has_pictures = any(message.images for message in conversation.unanswered_messages)
    if not conversation.question and not (own.picture_count(state) and has_pictures):
        nothing = GateDecision(should_reply=False, reasoning="Nothing was asked.")
        return _stay_silent(state, tools, nothing.reasoning, gating=nothing)
    task, pictures = state.settings.reply.gating_prompt, own.picture_count(state)
    judgement = tools.judge(GATE, **_shared_blanks(state), pictures=pictures, task=task)
    if judgement.fallback_reason:
        return _stay_silent_after_failure(state, tools, judgement)
    reply = judgement.value
    decision = GateDecision(should_reply=reply.should_reply, reasoning=reply.reasoning, by=judgement.by)
    if not decision.should_reply:
        why = decision.reasoning or "It is not answerable."
        return _stay_silent(state, tools, why, "off_topic", gating=decision)
    return {"gating": decision, "asked": own.open_question(state)}, "select"


def select(state: ReplyRun, tools: RunContext) -> tuple[Change, str]:
    """Choose the sources of the index that may contain the answer; only shown ids count, up to the limit."""
    own = state.settings.reply
    hidden = find_hidden_sources(state, tools)
    entries = [entry for entry in tools.library.index(scope=_scope(state)) if entry.source_id not in hidden]
    by_words = _score_sources_by_words(state, tools)
    shown = _limit_index(entries, by_words)
    ids = {entry.source_id for entry in shown}
    judgement = tools.judge(
        SELECTION,
        **_shared_blanks(state),
        task=own.selection_prompt,
        index=shown,
        by_words={name: score for name, score in by_words.items() if name in ids},
        most=own.max_sources,
    )
    if judgement.fallback_reason:
        return _stay_silent_after_failure(state, tools, judgement)
    chosen, refused = _check_choice(judgement.value.selected_source_ids, ids, own.max_sources)
    selection = SourceSelection(
        entries=len(entries),
        shown=[entry.source_id for entry in shown] if len(shown) < len(entries) else [],
        prefiltered=len(shown) < len(entries),
        selected_source_ids=chosen,
        reasoning=judgement.value.reasoning,
        by=judgement.by,
    )
    refusals = [Refusal(what=name, why=why, step=tools.step) for name, why in refused]
    change = {"selection": selection, "refusals": refusals}
    if chosen or state.own.picture_count(state):
        return change, "load" if chosen else "write"
    why = "No source of the knowledge base fits." if entries else "The knowledge base is empty."
    return _stay_silent(state, tools, why, "not_covered", **change)


def _scope(state: ReplyRun) -> LibraryScope:
    """The sources that may be chosen: of the chosen scope the knowledge base and the team's topics, and pages
    that runs read where the settings say so."""
    return state.settings.scope.replace(added_only=not state.settings.reply.include_read_pages)


def _score_sources_by_words(state: ReplyRun, tools: RunContext) -> dict[str, float]:
    """The sources that contain words of the question, with the best score of the searches for it."""
    scores: dict[str, float] = {}
    question = state.asked or state.own.open_question(state)
    texts = [*build_search_texts(question, state.own.earlier_turns(state)), *list_clauses(question)]
    for text in dict.fromkeys(texts):
        query = " ".join([text, *find_codes(text)])
        for hit in tools.library.search_words(query, MAX_WORD_HITS, scope=_scope(state)):
            scores[hit.source_id] = max(hit.score, scores.get(hit.source_id, 0.0))
    return scores


def _limit_index(entries: list[IndexEntry], by_words: dict[str, float]) -> list[IndexEntry]:
    """A small index as it is; of a large one the best entries by words that fit."""
    sizes = {entry.source_id: len(entry.source_id) + len(entry.description) for entry in entries}
    if len(entries) <= MAX_SHOWN_ENTRIES and sum(sizes.values()) <= MAX_SHOWN_CHARS:
        return entries
    kept: list[IndexEntry] = []
    room = MAX_SHOWN_CHARS
    for entry in sorted(entries, key=lambda entry: -by_words.get(entry.source_id, 0.0))[:MAX_SHOWN_ENTRIES]:
        room -= sizes[entry.source_id]
        if room < 0 and kept:
            break
        kept.append(entry)
    return kept


def _check_choice(proposed: list[str], known: set[str], most: int) -> tuple[list[str], list[tuple[str, str]]]:
    """The proposed ids that were shown, each once and at most `most`; and the refused ones with reasons."""
    unique = dict.fromkeys(name.strip() for name in proposed)
    good = [name for name in unique if name in known]
    unknown = "the choice named a source that is not in the index"
    refused = [(name[:200], unknown) for name in unique if name not in known]
    return good[:most], [*refused, *((name, f"at most {most} sources may be chosen") for name in good[most:])]


def load(state: ReplyRun, tools: RunContext) -> tuple[Change, str]:
    """Load the whole text of each chosen source; stay silent when none can be loaded."""
    selection = state.own.selection
    loaded = [_load_source(tools, name) for name in (selection.selected_source_ids if selection else [])]
    pages = [
        PageRef(
            url=source.url,
            page_id=source.page_id,
            final_url=source.url,
            title=source.title,
            found_on="the index",
            step=tools.step,
        )
        for source in loaded
        if source.page_id
    ]
    change: Change = {"loaded": loaded, "pages": pages}
    if pages:
        return change, "write"
    return _stay_silent(state, tools, "None of the chosen sources could be loaded.", "blocked", **change)


def _load_source(tools: RunContext, source_id: str) -> LoadedSource:
    try:
        page = tools.library.load(source_id)
    except NotFound as gone:
        return LoadedSource(source_id=source_id, detail=str(gone))
    if not page.text.strip():
        return LoadedSource(source_id=source_id, detail="it has no text")
    return LoadedSource(
        source_id=source_id,
        page_id=tools.store_page(page),
        url=page.final_url or page.url,
        title=page.title,
        characters=len(page.text),
    )


def write(state: ReplyRun, tools: RunContext) -> tuple[Change, str]:
    """Write a draft from the loaded texts; only supported sentences are kept."""
    own, passages = state.settings.reply, writing.select_passages(state, tools)
    judgement = ask_writer(
        tools,
        WRITING,
        passages,
        **_shared_blanks(state),
        pictures=state.own.picture_count(state),
        task=own.answer_prompt,
        asked=writing.standalone_question(state),
        passages=passages,
        most=own.max_answer_chars,
    )
    if judgement.fallback_reason:
        return _stay_silent_after_failure(state, tools, judgement)
    change = writing.build_draft(state, tools, judgement, passages)
    if trouble := change.pop("trouble", ""):
        return _stay_silent(state, tools, f"A step failed: {trouble}", trouble=trouble)
    if not change["draft"]:
        return _stay_silent(state, tools, change.pop("why"), "not_covered", **change)
    if own.enable_verification:
        return change, "verify"
    text = writing.complete_text(state, change["answers"][0], change["draft"])
    return {**change, "should_reply": True, "reply_text": text}, "replied"


def verify(state: ReplyRun, tools: RunContext) -> tuple[Change, str]:
    """Check whether the draft may be posted."""
    passages = writing.select_passages(state, tools)
    task = state.settings.reply.verification_prompt
    judgement = tools.judge(
        VERIFICATION,
        **_shared_blanks(state),
        pictures=state.own.picture_count(state),
        task=task,
        draft=state.own.draft,
        passages=passages,
    )
    if judgement.fallback_reason:
        return _stay_silent_after_failure(state, tools, judgement)
    reply = judgement.value
    result = VerificationResult(verification=reply.verification, reasoning=reply.reasoning, by=judgement.by)
    if not result.verification or state.answer is None:
        why = f"The draft was rejected: {result.reasoning or 'no reason was given'}"
        return _stay_silent(state, tools, why, verification=result)
    text = writing.complete_text(state, state.answer, state.own.draft)
    return {"verification": result, "should_reply": True, "reply_text": text}, "replied"


def _shared_blanks(state: ReplyRun) -> dict[str, Any]:
    """What every prompt of this flow shows; the selection sees no pictures."""
    return {
        "introduction": state.settings.reply.project_introduction,
        "conversation": state.own.transcript(state),
        "question": state.own.open_question(state),
    }


def _stay_silent(
    state: ReplyRun, tools: RunContext, why: str, reason: Reason = "silent", **more: object
) -> tuple[Change, str]:
    """End without a reply, and keep the reason."""
    answer = no_answer(state, tools.step, reason, f"Nothing is said. {why}", confidence=0.0)
    return {**more, "silence": why, "answers": [answer]}, "silent"


def _stay_silent_after_failure(
    state: ReplyRun, tools: RunContext, judgement: RoleResult
) -> tuple[Change, str]:
    """End without a reply after a failed call."""
    trouble = judgement.fallback_reason
    return _stay_silent(state, tools, f"A step failed: {trouble}", trouble=trouble)
