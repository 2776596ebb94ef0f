"""The reply flow: answer a conversation from the library's index, or stay silent.

gate -> select -> load -> write -> verify -> replied. Silence is the way out of every doubt and every failure:
where a model is configured and fails, no rule takes its place. The table closes the file."""

from __future__ import annotations

from agent.engine.context import RunContext
from agent.engine.loop import Flow
from agent.engine.state import Change
from agent.errors import NotFound
from agent.flows.reply import write as writing
from agent.flows.reply.state import ReplyRun, ReplyState
from agent.flows.reply.step_summary import describe_step
from agent.retrieval.query_rewriting import build_search_texts
from agent.roles.reply.gate import GATE
from agent.roles.reply.selection import SELECTION
from agent.roles.reply.verification import VERIFICATION
from agent.roles.reply.writing import WRITING
from agent.text.identifiers import find_codes
from agent.types import Answer, Edge, IndexEntry, Reason, Refusal, Status
from agent.types.reply import GateDecision, LoadedSource, SourceSelection, VerificationResult

MAX_SHOWN_ENTRIES = 80
"""Entries of the index that a choice is shown at most; of a larger index those whose sources hold the
question's words."""
MAX_SHOWN_CHARS = 24_000
"""Characters of the index that a choice is shown at most."""
MAX_WORD_HITS = 60
"""Passages that are looked up by the question's words, to rank the sources."""
DEMO_TAG = "demo"
"""The tag of invented sources, and the world they come from."""
MAX_SOURCES = 100_000


def gate(state: ReplyRun, tools: RunContext) -> tuple[Change, str]:
    """Is something asked that could be answered?"""
    talk, own = state.own.full_conversation(state), state.settings.reply
    if not talk.question and not (
        state.own.picture_count(state) and any(message.images for message in talk.unanswered_messages)
    ):
        return _stay_silent(
            state,
            tools,
            "Nothing was asked.",
            gating=GateDecision(should_reply=False, reasoning="Nothing was asked."),
        )
    judgement = tools.judge(
        GATE,
        task=own.gating_prompt,
        introduction=own.project_introduction,
        conversation=state.own.transcript(state),
        question=state.own.open_question(state),
        pictures=state.own.picture_count(state),
    )
    if judgement.fallback_reason:
        return _stay_silent_after_failure(state, tools, judgement.fallback_reason)
    decided = GateDecision(
        should_reply=judgement.value.should_reply, reasoning=judgement.value.reasoning, by=judgement.by
    )
    if not decided.should_reply:
        return _stay_silent(
            state, tools, decided.reasoning or "It is not answerable.", "off_topic", gating=decided
        )
    return {"gating": decided, "asked": state.own.open_question(state)}, "select"


def select(state: ReplyRun, tools: RunContext) -> tuple[Change, str]:
    """Which sources of the index may hold the answer? The choice is the role's; what it may choose from and
    how much is code's."""
    own = state.settings.reply
    entries = _load_index(state, tools)
    by_words = _score_sources_by_words(state, tools, {entry.source_id for entry in entries})
    shown = _prefilter_index(entries, by_words)
    judgement = tools.judge(
        SELECTION,
        task=own.selection_prompt,
        introduction=own.project_introduction,
        conversation=state.own.transcript(state),
        question=state.own.open_question(state),
        index=shown,
        by_words={
            name: score for name, score in by_words.items() if any(entry.source_id == name for entry in shown)
        },
        most=own.max_sources,
    )
    if judgement.fallback_reason:
        return _stay_silent_after_failure(state, tools, judgement.fallback_reason)
    chosen, refused = _check_choice(
        judgement.value.selected_source_ids, {entry.source_id for entry in shown}, own.max_sources
    )
    selection = SourceSelection(
        entries=len(entries),
        shown=[entry.source_id for entry in shown] if len(shown) < len(entries) else [],
        prefiltered=len(shown) < len(entries),
        selected_source_ids=chosen,
        reasoning=judgement.value.reasoning,
        by=judgement.by,
    )
    refusals = [refusal.model_copy(update={"step": tools.step}) for refusal in refused]
    if chosen or state.own.picture_count(state):
        return {"selection": selection, "refusals": refusals}, "load" if chosen else "write"
    why = "The knowledge base is empty." if not entries else "No source of the knowledge base fits."
    return _stay_silent(state, tools, why, "not_covered", selection=selection, refusals=refusals)


def _load_index(state: ReplyRun, tools: RunContext) -> list[IndexEntry]:
    """The index, without the invented pages of the demo world (unless it is asked about that)."""
    scope = state.settings.scope
    entries = tools.library.index(scope=scope)
    if state.settings.world == DEMO_TAG or DEMO_TAG in scope.tags or scope.source_ids:
        return entries
    invented = {source.source_id for source in tools.library.sources(tag=DEMO_TAG, limit=MAX_SOURCES)}
    return [entry for entry in entries if entry.source_id not in invented]


def _score_sources_by_words(state: ReplyRun, tools: RunContext, there: set[str]) -> dict[str, float]:
    """The sources whose texts hold the question's words, with the best score of the searches for it."""
    scores: dict[str, float] = {}
    for text in build_search_texts(
        state.asked or state.own.open_question(state), state.own.earlier_turns(state)
    ):
        query = " ".join([text, *find_codes(text)])
        for hit in tools.library.search_words(query, MAX_WORD_HITS, scope=state.settings.scope):
            if hit.source_id in there:
                scores[hit.source_id] = max(hit.score, scores.get(hit.source_id, 0.0))
    return scores


def _prefilter_index(entries: list[IndexEntry], by_words: dict[str, float]) -> list[IndexEntry]:
    """All of a small index as it stands; of a large one the sources that hold the question's words, then the
    first of the others."""
    if len(entries) <= MAX_SHOWN_ENTRIES and _count_chars(entries) <= MAX_SHOWN_CHARS:
        return entries
    kept: list[IndexEntry] = []
    for entry in sorted(entries, key=lambda entry: -by_words.get(entry.source_id, 0.0))[:MAX_SHOWN_ENTRIES]:
        if _count_chars([*kept, entry]) > MAX_SHOWN_CHARS and kept:
            break
        kept.append(entry)
    return kept


def _count_chars(entries: list[IndexEntry]) -> int:
    return sum(len(entry.source_id) + len(entry.description) for entry in entries)


def _check_choice(proposed: list[str], known: set[str], most: int) -> tuple[list[str], list[Refusal]]:
    """The proposed ids that the index has, each once and no more than allowed; the others are refused and
    counted."""
    unique = list(dict.fromkeys(name.strip() for name in proposed))
    good = [name for name in unique if name in known]
    strange = [
        Refusal(what=name[:200], why="the choice named a source that is not in the index")
        for name in unique
        if name not in known
    ]
    return good[:most], strange + [
        Refusal(what=name, why=f"at most {most} sources may be chosen") for name in good[most:]
    ]


def load(state: ReplyRun, tools: RunContext) -> tuple[Change, str]:
    """The whole text of each chosen source. One that cannot be loaded is told; when none can, the run
    stops."""
    loaded = [
        _load_source(tools, source_id)
        for source_id in (state.own.selection.selected_source_ids if state.own.selection else [])
    ]
    change: Change = {
        "loaded": loaded,
        "pages": [writing.build_page_ref(tools, source) for source in loaded if source.page_id],
    }
    if any(source.page_id for source in loaded):
        return change, "write"
    return _stay_silent(state, tools, "None of the chosen sources could be loaded.", "blocked", **change)


def _load_source(tools: RunContext, source_id: str) -> LoadedSource:
    try:
        page = tools.library.load(source_id)
    except NotFound as gone:
        return LoadedSource(source_id=source_id, detail=str(gone))
    if not page.text.strip():
        return LoadedSource(source_id=source_id, detail="it has no text")
    page_id = tools.store_page(page)
    return LoadedSource(
        source_id=source_id,
        page_id=page_id,
        url=page.final_url or page.url,
        title=page.title,
        characters=len(page.text),
    )


def write(state: ReplyRun, tools: RunContext) -> tuple[Change, str]:
    """A draft from the loaded texts alone; only what they support is kept of it."""
    own, passages = state.settings.reply, writing.select_passages(state, tools)
    judgement = tools.judge(
        WRITING,
        task=own.answer_prompt,
        introduction=own.project_introduction,
        conversation=state.own.transcript(state),
        question=state.own.open_question(state),
        asked=writing.standalone_question(state),
        passages=passages,
        likelihood=writing.estimate_likelihood(state, tools, passages),
        pictures=state.own.picture_count(state),
        most=own.max_answer_chars,
    )
    if judgement.fallback_reason:
        return _stay_silent_after_failure(state, tools, judgement.fallback_reason)
    change = writing.build_draft(state, tools, judgement, passages)
    if not change["draft"]:
        return _stay_silent(state, tools, change.pop("why"), "not_covered", **change)
    if own.enable_verification:
        return change, "verify"
    return {
        **change,
        "should_reply": True,
        "reply_text": writing.append_links(state, change["answers"][0], change["draft"]),
    }, "replied"


def verify(state: ReplyRun, tools: RunContext) -> tuple[Change, str]:
    """May the draft be posted?"""
    own = state.settings.reply
    judgement = tools.judge(
        VERIFICATION,
        task=own.verification_prompt,
        introduction=own.project_introduction,
        conversation=state.own.transcript(state),
        question=state.own.open_question(state),
        draft=state.own.draft,
        passages=writing.select_passages(state, tools),
        pictures=state.own.picture_count(state),
    )
    if judgement.fallback_reason:
        return _stay_silent_after_failure(state, tools, judgement.fallback_reason)
    check = VerificationResult(
        verification=judgement.value.verification, reasoning=judgement.value.reasoning, by=judgement.by
    )
    if not check.verification or state.answer is None:
        return _stay_silent(
            state,
            tools,
            f"The draft was rejected: {check.reasoning or 'no reason was given'}",
            verification=check,
        )
    return {
        "verification": check,
        "should_reply": True,
        "reply_text": writing.append_links(state, state.answer, state.own.draft),
    }, "replied"


def _stay_silent(
    state: ReplyRun, tools: RunContext, why: str, reason: Reason = "silent", **more: object
) -> tuple[Change, str]:
    """Say nothing, and keep why."""
    answer = Answer(
        n=len(state.answers) + 1,
        verdict="no_evidence",
        reason=reason,
        certainty=f"Nothing is said. {why}",
        step=tools.step,
    )
    return {**more, "silence": why, "answers": [answer]}, "silent"


def _stay_silent_after_failure(state: ReplyRun, tools: RunContext, trouble: str) -> tuple[Change, str]:
    """Something failed: silence, not a guess by rule."""
    return _stay_silent(state, tools, f"A step failed: {trouble}", trouble=trouble)


REPLY = Flow(
    name="reply",
    first_step="gate",
    own_state=ReplyState,
    steps={"gate": gate, "select": select, "load": load, "write": write, "verify": verify},
    rest_statuses={"replied": Status.DONE, "silent": Status.DONE},
    write_up_step="silent",
    reentry_step="gate",
    is_one_shot=True,
    fail_safe="silent",
    describe_step=describe_step,
    edges=(
        Edge(start="gate", end="silent", label="not answerable"),
        Edge(start="gate", end="select", label="answerable"),
        Edge(start="select", end="silent", label="no sources and no images"),
        Edge(start="select", end="write", label="no sources and images"),
        Edge(start="select", end="load"),
        Edge(start="load", end="write"),
        Edge(start="write", end="verify", label="if enabled"),
        Edge(start="write", end="replied", label="if disabled"),
        Edge(start="verify", end="replied", label="approved"),
        Edge(start="verify", end="silent", label="rejected"),
    ),
)
