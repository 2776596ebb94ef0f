"""What a chat reads: earlier turns of the conversation, and passages of the library. Judges nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agent.answering import fact_view
from agent.answering.pages import find_hidden_sources
from agent.engine.context import RunContext
from agent.engine.run_state import RunState
from agent.engine.state import Change, fold
from agent.flows.chat.state import ChatRun, ChatState, StepJudge
from agent.llm.recorded import RECORDED
from agent.retrieval.scorer import (
    CountedPassages,
    build_search_texts,
    covered_share,
    fuse_rankings,
    list_clauses,
    rank_passages,
)
from agent.roles.chat import MIN_RELEVANT_SCORE
from agent.text.question_analysis import parse_question
from agent.text.tokens import content_stems
from agent.types import Fact, PageRef, Passage, PassageRef

MAX_PASSAGES = 10
"""Passages of one search, and passages that are graded."""
REMEMBERED_TURNS = 3
"""Earlier turns whose evidence can be used without a search."""


def recall(state: ChatRun, tools: RunContext) -> tuple[list[ChatRun], Change]:
    """The final states of the last turns of the conversation, newest first; and as a change the facts that
    their answers cite with the passages of these facts."""
    runs = [turn.run_id for turn in reversed(state.substantive_turns) if turn.run_id][:REMEMBERED_TURNS]
    turns: list[ChatRun] = [fold(RunState(own=ChatState()), tools.steps(run_id)) for run_id in runs]
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
    return turns, {"prior": list(facts.values()), "prior_docs": list(docs.values())}


def standalone_question(state: ChatRun) -> str:
    """The question as it stands alone, with the person's notes."""
    return " ".join([state.asked or state.question, *fact_view.note_texts(state)])


def has_same_words(query: str, queries: Iterable[str]) -> bool:
    """Whether a query has the content words of one of these, in any order and form."""
    words = frozenset(content_stems(query))
    return any(words == frozenset(content_stems(other)) for other in queries)


def retrieve(state: ChatRun, tools: RunContext) -> tuple[Change, str]:
    """Search the library within the chosen scope, and merge the result with what this turn found before.

    Without a model, the first search of a follow-up is made a second time with the previous question. Nothing
    is searched for when the last rewriting found no other words; pages beyond the budget are left out."""
    own, hidden = state.own, find_hidden_sources(state, tools)
    query = own.rewritten_query or standalone_question(state)
    if own.retrieved_docs and own.rewrites and own.rewrites[-1].repeats and query in own.queries:
        return {}, "grade"
    texts = [query]
    if not own.queries and own.speakers.get("router", StepJudge()).by != "model":
        texts = [*build_search_texts(query, state.substantive_turns), *list_clauses(query)]
    rankings, scope, none = [], state.settings.scope, state.settings.model in ("keyless", RECORDED)
    for text in dict.fromkeys(texts):
        k = MAX_PASSAGES * (2 if hidden else 1)
        found = tools.library.search(text, k, scope=scope, words_only=none)
        rankings.append([hit.ref for hit in found.hits if hit.source_id not in hidden][:MAX_PASSAGES])
    scored = zip(own.retrieved_docs, own.doc_relevance_scores, strict=False)
    relevant = [doc for doc, score in scored if score >= MIN_RELEVANT_SCORE]
    others = [doc for doc in own.retrieved_docs if doc not in relevant]
    merged = {doc.id: doc for doc in [*relevant, *_fuse([others, _fuse(rankings)])]}
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


def _fuse(rankings: Sequence[Sequence[PassageRef]]) -> list[PassageRef]:
    docs = {doc.id: doc for ranking in rankings for doc in ranking}
    return [docs[name] for name, _ in fuse_rankings([[doc.id for doc in ranking] for ranking in rankings])]


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


def score_passages(tools: RunContext, question: str, docs: Sequence[PassageRef]) -> list[Passage]:
    """The passages, scored by the share of the question, or of the best clause of it, that each contains."""
    clauses = [parse_question(clause) for clause in list_clauses(question)]
    passages = load_passages(tools, docs)
    shares = [max(covered_share(one, p.text, f"{p.title} {p.heading}") for one in clauses) for p in passages]
    return [p.replace(score=round(share, 4)) for p, share in zip(passages, shares, strict=True)]


def rank_by_library(tools: RunContext, question: str, passages: Sequence[Passage]) -> CountedPassages:
    """The passages by how well they fit the question, best first, with the library's counts of its words."""
    counts = tools.library.count_terms(question)
    return CountedPassages(rank_passages(question, passages, len(passages), counts), counts)
