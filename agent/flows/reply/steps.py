"""The first steps of `reply`: is something asked, which sources may answer it, and their texts."""

from __future__ import annotations

from itertools import accumulate

from agent.answering.fact_view import list_parts
from agent.answering.pages import find_hidden_sources, refer_to_stored
from agent.engine.context import RunContext
from agent.engine.state import Change
from agent.errors import NotFound
from agent.flows.reply.state import ReplyRun
from agent.flows.reply.write import stay_silent
from agent.roles.reply import GATE, SELECTION
from agent.types import PageRef, Refusal
from agent.types.reply import GateDecision, LoadedSource, SourceSelection

MAX_SHOWN_CHARS = 24_000
"""Characters of the index in a prompt (80 entries); of more those whose sources have the question's words."""
MAX_WORD_HITS = 60
"""Passages that are looked up by the words of the question, to rank the sources."""


def gate(state: ReplyRun, tools: RunContext) -> tuple[Change, str]:
    """Decide whether something is asked that could be answered."""
    if not tools.has_model:
        why = f"A reply needs a model, and none is connected. {tools.model_failure}".strip()
        return stay_silent(state, tools, why, trouble=why)
    own, conversation = state.own, state.own.full_conversation(state)
    has_pictures = any(message.images for message in conversation.unanswered_messages)
    if not conversation.question and not (own.picture_count(state) and has_pictures):
        nothing = GateDecision(should_reply=False, reasoning="Nothing was asked.")
        return stay_silent(state, tools, nothing.reasoning, gating=nothing)
    task, pictures = state.settings.reply.gating_prompt, own.picture_count(state)
    judgement = tools.judge(GATE, **own.shared_blanks(state), pictures=pictures, task=task)
    if judgement.failure:
        return stay_silent(state, tools, trouble=judgement.failure)
    reply = judgement.value
    decision = GateDecision(should_reply=reply.should_reply, reasoning=reply.reasoning, by=judgement.by)
    if not decision.should_reply:
        why = decision.reasoning or "It is not answerable."
        return stay_silent(state, tools, why, "off_topic", gating=decision)
    asked = own.open_question(state)
    plan = list_parts(reply.parts, next(filter(None, reply.parts), asked))
    return {"gating": decision, "asked": asked, "plan_parts": plan}, "select"


def select(state: ReplyRun, tools: RunContext) -> tuple[Change, str]:
    """Choose the sources of the index that may contain the answer; only shown ids count, up to the limit."""
    own = state.settings.reply
    scope = state.settings.scope.replace(added_only=not own.include_read_pages)
    hidden = find_hidden_sources(state, tools)
    entries = [entry for entry in tools.library.index(scope=scope) if entry.source_id not in hidden]
    by_words: dict[str, float] = {}
    texts = [*state.own.search_texts(state), *(part.question for part in state.plan)]
    for text in dict.fromkeys(texts):
        for hit in tools.library.search(text, MAX_WORD_HITS, scope=scope, words_only=True).hits:
            by_words[hit.source_id] = max(hit.score, by_words.get(hit.source_id, 0.0))
    best = sorted(entries, key=lambda entry: -by_words.get(entry.source_id, 0.0))
    sizes = accumulate(len(entry.source_id) + len(entry.description) for entry in best)
    fitting = best[: max(1, sum(size <= MAX_SHOWN_CHARS for size in sizes))]
    shown = fitting if len(fitting) < len(entries) else entries
    ids = {entry.source_id for entry in shown}
    judgement = tools.judge(
        SELECTION,
        **state.own.shared_blanks(state),
        task=own.selection_prompt,
        index=shown,
        by_words={name: score for name, score in by_words.items() if name in ids},
        most=own.max_sources,
    )
    if judgement.failure:
        return stay_silent(state, tools, trouble=judgement.failure)
    proposed = dict.fromkeys(name.strip() for name in judgement.value.selected_source_ids)
    known = [name for name in proposed if name in ids]
    chosen, unknown = known[: own.max_sources], "the choice named a source that is not in the index"
    refused = [(name, unknown) for name in proposed if name not in ids]
    refused += [(name, f"at most {own.max_sources} sources may be chosen") for name in known[len(chosen) :]]
    selection = SourceSelection(
        entries=len(entries),
        shown=[entry.source_id for entry in shown] if len(shown) < len(entries) else [],
        selected_source_ids=chosen,
        reasoning=judgement.value.reasoning,
        by=judgement.by,
    )
    refusals = [Refusal(what=name, why=why, step=tools.step) for name, why in refused]
    change: Change = {"selection": selection, "refusals": refusals}
    if chosen or state.own.picture_count(state):
        return change, "load" if chosen else "write"
    why = "No source of the knowledge base fits." if entries else "The knowledge base is empty."
    return stay_silent(state, tools, why, "not_covered", **change)


def load(state: ReplyRun, tools: RunContext) -> tuple[Change, str]:
    """Load the whole text of each chosen source; stay silent when none can be loaded."""
    loaded, pages = list[LoadedSource](), list[PageRef]()
    for name in state.own.selection.selected_source_ids if state.own.selection else []:
        try:
            page = tools.library.load(name)
        except NotFound as gone:
            loaded.append(LoadedSource(source_id=name, detail=str(gone)))
            continue
        if not page.text.strip():
            loaded.append(LoadedSource(source_id=name, detail="it has no text"))
            continue
        ref = refer_to_stored(page, tools.store_page(page), "the index", tools.step)
        known = ref.model_dump(include={"page_id", "url", "title"})
        loaded.append(LoadedSource(source_id=name, characters=len(page.text), **known))
        pages.append(ref)
    change: Change = {"loaded": loaded, "pages": pages}
    if pages:
        return change, "write"
    return stay_silent(state, tools, "None of the chosen sources could be loaded.", "blocked", **change)
