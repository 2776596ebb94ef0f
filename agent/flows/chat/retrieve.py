"""What a chat reads: earlier turns of the conversation, and passages of the library. Judges nothing."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from agent.answering import fact_view
from agent.answering.pages import content_passages, find_hidden_sources, fold_earlier_turns
from agent.engine.context import RunContext
from agent.engine.state import Change
from agent.flows.chat.state import ChatRun, ChatState
from agent.llm.recorded import RECORDED
from agent.retrieval.scorer import fuse_rankings
from agent.roles.chat import MIN_RELEVANT_SCORE
from agent.types import Fact, LibrarySource, Page, PageRef, Passage, PassageRef

MAX_PASSAGES = 10
"""Passages of one search, and passages that are graded."""
MAX_DOCUMENTS = 30
"""Documents that a role is told of."""
SECTION_CHARS, MAX_SECTIONS = 6_000, 40
"""Characters that are read as one section of a document (about 1,500 tokens), and sections at most."""
REMEMBERED_TURNS = 3
"""Earlier turns whose evidence can be used without a search."""


def recall(state: ChatRun, tools: RunContext) -> Change:
    """The facts that the last answers of the conversation cite, the newest first, with their passages."""
    turns = islice(fold_earlier_turns(state, tools, ChatState, is_answered=True), REMEMBERED_TURNS)
    facts, docs = dict[str, Fact](), dict[str, PassageRef]()
    for turn in turns:
        cited = {i for sentence in (turn.answer.sentences if turn.answer else []) for i in sentence.fact_ids}
        known = [turn.facts[i] for i in turn.facts if i in cited]
        usable = [fact for fact in known if fact.verified and fact.decision != "struck"]
        for fact in usable:
            facts.setdefault(fact.id, fact)
        for doc in [*turn.own.retrieved_docs, *turn.own.prior_docs]:
            if any(fact.page_id == doc.page_id and doc.start <= fact.start < doc.end for fact in usable):
                docs.setdefault(doc.id, doc)
    return {"prior": list(facts.values()), "prior_docs": list(docs.values())}


def standalone_question(state: ChatRun) -> str:
    """The question as it stands alone, with the person's notes."""
    return " ".join([state.asked or state.question, *fact_view.note_texts(state)])


def retrieve(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Search the library within scope and page budget, and merge what this turn found before."""
    own, hidden = state.own, find_hidden_sources(state, tools)
    query = own.rewritten_query or standalone_question(state)
    scope = state.settings.scope
    none = not tools.has_model or state.settings.model == RECORDED
    k = MAX_PASSAGES * (2 if hidden else 1)
    found = tools.library.search(query, k, scope=scope, words_only=none)
    new_docs = [hit.ref for hit in found.hits if hit.source_id not in hidden][:MAX_PASSAGES]
    scored = zip(own.retrieved_docs, own.doc_relevance_scores, strict=False)
    relevant = [doc for doc, score in scored if score >= MIN_RELEVANT_SCORE]
    others = [doc for doc in own.retrieved_docs if doc not in relevant]
    by_id = {doc.id: doc for doc in [*others, *new_docs]}
    ranked = fuse_rankings([[doc.id for doc in docs] for docs in (others, new_docs)])
    merged = {doc.id: doc for doc in [*relevant, *(by_id[name] for name, _ in ranked)]}
    read = {page.page_id for page in state.pages.values()}
    allowed = set(read)
    for doc in merged.values():
        if len(allowed) < state.settings.max_pages:
            allowed.add(doc.page_id)
    docs = [doc for doc in merged.values() if doc.page_id in allowed][:MAX_PASSAGES]
    new = [doc for doc in docs if doc.page_id not in read]
    method = found.note if found.note.startswith("Searched by ") else f"By {found.by}. {found.note}".strip()
    change = {
        "retrieved_docs": docs,
        "doc_relevance_scores": [],
        "queries": [query],
        "pages": build_page_refs(new, tools.step, f"library: {query}"),
        "searched_by": method,
    }
    return change, "grade"


def list_documents(state: ChatRun, tools: RunContext) -> list[LibrarySource]:
    """The newest documents within the scope that a role is told of."""
    hidden = find_hidden_sources(state, tools)
    found = tools.library.sources(limit=MAX_DOCUMENTS + len(hidden), scope=state.settings.scope)
    return [source for source in found if source.source_id not in hidden][:MAX_DOCUMENTS]


def split_sections(page: Page, page_id: str) -> list[list[Passage]]:
    """The passages of a document in stretches of about a section, in its order."""
    passages = content_passages(page, page_id)
    most = max(SECTION_CHARS, sum(len(passage.text) for passage in passages) // MAX_SECTIONS)
    sections, chars = list[list[Passage]](), 0
    for passage in passages:
        last = sections[-1][-1].heading.split(" › ")[:2] if sections else []
        is_new = chars > most // 2 and passage.heading.split(" › ")[:2] != last
        if not sections or is_new or chars + len(passage.text) > most:
            sections, chars = [*sections, []], 0
        sections[-1].append(passage)
        chars += len(passage.text)
    return sections


def build_page_refs(docs: Sequence[PassageRef], step: int, found_on: str) -> list[PageRef]:
    """The pages of these passages as pages of the run."""
    first = {doc.page_id: doc for doc in reversed(docs)}
    return [
        PageRef(
            url=doc.url, page_id=doc.page_id, final_url=doc.url, title=doc.title, found_on=found_on, step=step
        )
        for doc in reversed(first.values())
    ]


def load_passages(
    tools: RunContext, docs: Sequence[PassageRef], scores: Sequence[float] = ()
) -> list[Passage]:
    """The passages with their texts and, if there are as many, their scores."""
    pages = {doc.page_id: tools.page(doc.page_id).text for doc in docs}
    scores = scores if len(scores) == len(docs) else [0.0] * len(docs)
    return [doc.to_passage(pages[doc.page_id], score) for doc, score in zip(docs, scores, strict=True)]
