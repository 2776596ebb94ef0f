"""What a chat reads: the conversation's earlier turns, and the library's passages with their texts. Nothing
is judged here."""

from __future__ import annotations

from collections.abc import Sequence

from agent.engine.context import RunContext
from agent.engine.run_state import RunState
from agent.engine.state import Change, fold
from agent.flows.chat.state import ChatRun, ChatState, StepJudge
from agent.flows.shared import fact_view
from agent.retrieval.answerability import Answerability, estimate_answer_likelihood, score_question_coverage
from agent.retrieval.query_rewriting import build_search_texts
from agent.retrieval.rank_fusion import fuse_rankings
from agent.retrieval.term_rarity import CollectionCounts
from agent.roles.chat.grade import MIN_RELEVANT_SCORE
from agent.text.question_analysis import parse_question
from agent.types import Fact, LibrarySearchResult, PageRef, Passage, PassageRef

MAX_PASSAGES, PROTECTED_PASSAGES = 10, 7
"""Passages of one search, and passages that are graded; how many of these a further search by rule cannot
push out."""
DEMO_TAG = "demo"
"""The tag of invented sources, and the world they come from."""
MAX_SOURCES = 100_000
REMEMBERED_TURNS = 3
"""Earlier turns whose evidence is at hand without looking it up again."""


def load_earlier_turns(state: ChatRun, tools: RunContext) -> list[ChatRun]:
    """The newest earlier turns of the conversation, newest first, as they ended."""
    runs = [turn.run_id for turn in reversed(state.substantive_turns) if turn.run_id][:REMEMBERED_TURNS]
    return [fold(RunState(own=ChatState()), tools.steps(run_id)) for run_id in runs]


def collect_cited_evidence(turns: Sequence[ChatRun]) -> Change:
    """The facts that earlier answers cite, and the passages these stand in."""
    facts: dict[str, Fact] = {}
    docs: dict[str, PassageRef] = {}
    for turn in turns:
        cited = {
            name for sentence in (turn.answer.sentences if turn.answer else []) for name in sentence.fact_ids
        }
        own = [
            fact
            for name, fact in turn.facts.items()
            if name in cited and fact.verified and fact.decision != "struck"
        ]
        facts |= {fact.id: fact for fact in own if fact.id not in facts}
        docs |= {
            doc.id: doc
            for doc in [*turn.own.retrieved_docs, *turn.own.prior_docs]
            if doc.id not in docs
            and any(fact.page_id == doc.page_id and doc.start <= fact.start < doc.end for fact in own)
        }
    return {"prior": list(facts.values()), "prior_docs": list(docs.values())}


def standalone_question(state: ChatRun) -> str:
    """The question as it stands alone, with a person's notes."""
    return " ".join([state.asked or state.question, *fact_view.note_texts(state)])


def retrieve_passages(state: ChatRun, tools: RunContext) -> Change:
    """Search the library, for a follow-up as typed also together with the previous question, and merge the
    results with what this turn found before."""
    query, invented = (
        state.own.rewritten_query or standalone_question(state),
        find_hidden_sources(state, tools),
    )
    is_first_search = not state.own.queries and query == state.question
    searches = build_search_texts(query, state.substantive_turns) if is_first_search else [query]
    lists: list[list[PassageRef]] = []
    for words in searches:
        found = tools.library.search(
            words, 2 * MAX_PASSAGES if invented else MAX_PASSAGES, scope=state.settings.scope
        )
        lists.append([hit.ref for hit in found.hits if hit.source_id not in invented][:MAX_PASSAGES])
    kept = _limit_pages(state, _merge_retrieved(state, _fuse_rankings(lists)))[:MAX_PASSAGES]
    known = {page.page_id for page in state.pages.values()}
    pages = build_page_refs([doc for doc in kept if doc.page_id not in known], tools.step, query)
    return {
        "retrieved_docs": kept,
        "doc_relevance_scores": [],
        "doc_reasons": [],
        "queries": [query],
        "pages": pages,
        "searched_by": _describe_search_method(found),
    }


def _describe_search_method(found: LibrarySearchResult) -> str:
    """How was searched, said once: a note on what was left out says it itself."""
    return found.note if found.note.startswith("Searched by ") else f"By {found.by}. {found.note}".strip()


def _merge_retrieved(state: ChatRun, new: list[PassageRef]) -> list[PassageRef]:
    """What was found before and what is found now. What a model found relevant stays in front, and the rest
    goes by the ranks.

    Without a model the first BEST stay: a rule's second search asks for less, and by ranks would push out
    what the first one found."""
    old = state.own.retrieved_docs
    if state.own.speakers.get("grade", StepJudge()).by != "model":
        return _deduplicate([*old[:PROTECTED_PASSAGES], *new, *old[PROTECTED_PASSAGES:]])
    good = [
        doc
        for doc, score in zip(old, state.own.doc_relevance_scores, strict=False)
        if score >= MIN_RELEVANT_SCORE
    ]
    return _deduplicate([*good, *_fuse_rankings([[doc for doc in old if doc not in good], new])])


def _deduplicate(docs: Sequence[PassageRef]) -> list[PassageRef]:
    return list({doc.id: doc for doc in docs}.values())


def _fuse_rankings(lists: Sequence[Sequence[PassageRef]]) -> list[PassageRef]:
    docs = {doc.id: doc for found in lists for doc in found}
    return [docs[name] for name, _ in fuse_rankings([[doc.id for doc in found] for found in lists])]


def build_page_refs(docs: Sequence[PassageRef], step: int, query: str = "") -> list[PageRef]:
    """The pages these passages stand in, as pages that the run has read."""
    found_on = f"library: {query}" if query else "an earlier turn"
    first = {doc.page_id: doc for doc in reversed(docs)}
    return [
        PageRef(
            url=doc.url, page_id=doc.page_id, final_url=doc.url, title=doc.title, found_on=found_on, step=step
        )
        for doc in reversed(first.values())
    ]


def find_hidden_sources(state: ChatRun, tools: RunContext) -> set[str]:
    """The sources that are invented (the demo world's), unless that is what is asked: nothing in them is
    true."""
    scope = state.settings.scope
    if state.settings.world == DEMO_TAG or DEMO_TAG in scope.tags or scope.source_ids:
        return set()
    return {source.source_id for source in tools.library.sources(tag=DEMO_TAG, limit=MAX_SOURCES)}


def _limit_pages(state: ChatRun, docs: Sequence[PassageRef]) -> list[PassageRef]:
    """The passages without those of pages that would be more than the run may read."""
    read_before = {page.page_id for page in state.pages.values()}
    allowed = set(read_before)
    for doc in docs:
        if doc.page_id not in allowed and len(allowed) < state.settings.max_pages:
            allowed.add(doc.page_id)
    return [doc for doc in docs if doc.page_id in allowed]


def load_passages(
    tools: RunContext, docs: Sequence[PassageRef], scores: Sequence[float] = ()
) -> list[Passage]:
    """The passages with their texts, in the order given; `scores` are theirs."""
    pages = {doc.page_id: tools.page(doc.page_id).text for doc in docs}
    given = list(scores) if len(scores) == len(docs) else [0.0] * len(docs)
    return [doc.to_passage(pages[doc.page_id], score) for doc, score in zip(docs, given, strict=True)]


def load_term_counts(tools: RunContext, question: str) -> CollectionCounts:
    """How rare the question's words are in the library."""
    return tools.library.count_terms(list(parse_question(question).weights))


def score_passages(tools: RunContext, question: str, docs: Sequence[PassageRef]) -> list[Passage]:
    """The passages with the share of the question each holds as score."""
    return score_question_coverage(question, load_passages(tools, docs), load_term_counts(tools, question))


def estimate_answerability(tools: RunContext, question: str, passages: Sequence[Passage]) -> Answerability:
    """How likely the passages answer the question, by counting words."""
    return estimate_answer_likelihood(question, passages, load_term_counts(tools, question))
