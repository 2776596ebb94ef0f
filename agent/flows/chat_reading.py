"""What a chat reads: the conversation's earlier turns, and the library's passages with their texts. Nothing is judged here."""

from __future__ import annotations

from collections.abc import Sequence

from agent.flows import moves
from agent.flows.chat_state import Chat, Doc, Spoken
from agent.roles.answerability import Answerable, judge, relevance
from agent.roles.grade import RELEVANT
from agent.state import Change, fold
from agent.text.followup import widened
from agent.text.fusion import fused
from agent.text.manners import heard
from agent.text.question import read
from agent.text.rarity import Counts
from agent.toolbox import Tools
from agent.types import Fact, Found, PageRef, Passage

FOUND, BEST = 10, 7
"""Passages of one search, and passages that are graded; how many of these a further search by rule cannot push out."""
DEMO = "demo"
"""The tag of invented sources, and the world they come from."""
MANY = 100_000
REMEMBERED = 3
"""Earlier turns whose evidence is at hand without looking it up again."""


def earlier(state: Chat, tools: Tools) -> list[Chat]:
    """The newest earlier turns of the conversation, newest first, as they ended."""
    runs = [turn.run_id for turn in reversed(state.talk) if turn.run_id][:REMEMBERED]
    return [fold(Chat(), tools.steps(run_id)) for run_id in runs]


def recalled(turns: Sequence[Chat]) -> Change:
    """The facts that earlier answers cite, and the passages these stand in."""
    facts: dict[str, Fact] = {}
    docs: dict[str, Doc] = {}
    for turn in turns:
        cited = {name for sentence in (turn.answer.sentences if turn.answer else []) for name in sentence.fact_ids}
        own = [fact for name, fact in turn.facts.items() if name in cited and fact.verified and fact.decision != "struck"]
        facts |= {fact.id: fact for fact in own if fact.id not in facts}
        docs |= {
            doc.id: doc
            for doc in [*turn.retrieved_docs, *turn.prior_docs]
            if doc.id not in docs and any(fact.page_id == doc.page_id and doc.start <= fact.start < doc.end for fact in own)
        }
    return {"prior": list(facts.values()), "prior_docs": list(docs.values())}


def wanted(state: Chat) -> str:
    """The question as it stands alone, with a person's notes."""
    return " ".join([state.asked or state.question, *moves.notes(state)])


def look_up(state: Chat, tools: Tools) -> Change:
    """Search the library, a follow-up also with more words of the conversation, and put it with what this turn found before."""
    query, invented = state.rewritten_query or wanted(state), hidden(state, tools)
    searches = [query] if state.queries else list(dict.fromkeys([query, widened(query, heard(state.talk))]))
    lists: list[list[Doc]] = []
    for words in searches:
        found = tools.holdings.search(words, 2 * FOUND if invented else FOUND, scope=state.settings.scope)
        lists.append([Doc.of(hit) for hit in found.hits if hit.source_id not in invented][:FOUND])
    kept = _within_pages(state, _merged(state, _by_ranks(lists)))[:FOUND]
    known = {page.page_id for page in state.pages.values()}
    pages = references([doc for doc in kept if doc.page_id not in known], tools.step, query)
    return {
        "retrieved_docs": kept, "doc_relevance_scores": [], "doc_reasons": [], "queries": [query], "pages": pages,
        "searched_by": _way(found),
    }  # fmt: skip


def _way(found: Found) -> str:
    """How was searched, said once: a note on what was left out says it itself."""
    return found.note if found.note.startswith("Searched by ") else f"By {found.by}. {found.note}".strip()


def _merged(state: Chat, new: list[Doc]) -> list[Doc]:
    """What was found before and what is found now. What a model found relevant stays in front, and the rest goes by the ranks.

    Without a model the first BEST stay: a rule's second search asks for less, and by ranks would push out what the first one found.
    """
    old = state.retrieved_docs
    if state.speakers.get("grade", Spoken()).by != "model":
        return _once([*old[:BEST], *new, *old[BEST:]])
    good = [doc for doc, score in zip(old, state.doc_relevance_scores, strict=False) if score >= RELEVANT]
    return _once([*good, *_by_ranks([[doc for doc in old if doc not in good], new])])


def _once(docs: Sequence[Doc]) -> list[Doc]:
    return list({doc.id: doc for doc in docs}.values())


def _by_ranks(lists: Sequence[Sequence[Doc]]) -> list[Doc]:
    docs = {doc.id: doc for found in lists for doc in found}
    return [docs[name] for name, _ in fused([[doc.id for doc in found] for found in lists])]


def references(docs: Sequence[Doc], step: int, query: str = "") -> list[PageRef]:
    """The pages these passages stand in, as pages that the run has read."""
    found_on = f"library: {query}" if query else "an earlier turn"
    first = {doc.page_id: doc for doc in reversed(docs)}
    return [
        PageRef(url=doc.url, page_id=doc.page_id, final_url=doc.url, title=doc.title, found_on=found_on, step=step)
        for doc in reversed(first.values())
    ]


def hidden(state: Chat, tools: Tools) -> set[str]:
    """The sources that are invented (the demo world's), unless that is what is asked: nothing in them is true."""
    scope = state.settings.scope
    if state.settings.world == DEMO or DEMO in scope.tags or scope.source_ids:
        return set()
    return {source.source_id for source in tools.holdings.sources(tag=DEMO, limit=MANY)}


def _within_pages(state: Chat, docs: Sequence[Doc]) -> list[Doc]:
    """The passages without those of pages that would be more than the run may read."""
    read_before = {page.page_id for page in state.pages.values()}
    allowed = set(read_before)
    for doc in docs:
        if doc.page_id not in allowed and len(allowed) < state.settings.max_pages:
            allowed.add(doc.page_id)
    return [doc for doc in docs if doc.page_id in allowed]


def texts(tools: Tools, docs: Sequence[Doc], scores: Sequence[float] = ()) -> list[Passage]:
    """The passages with their texts, in the order given; `scores` are theirs."""
    pages = {doc.page_id: tools.page(doc.page_id).text for doc in docs}
    given = list(scores) if len(scores) == len(docs) else [0.0] * len(docs)
    return [doc.passage(pages[doc.page_id], score) for doc, score in zip(docs, given, strict=True)]


def counts(tools: Tools, question: str) -> Counts:
    """How rare the question's words are in the library."""
    return tools.holdings.counts(list(read(question).weights))


def counted(tools: Tools, question: str, docs: Sequence[Doc]) -> list[Passage]:
    """The passages with the share of the question each holds as score."""
    return relevance(question, texts(tools, docs), counts(tools, question))


def estimate(tools: Tools, question: str, passages: Sequence[Passage]) -> Answerable:
    """How likely the passages answer the question, by counting words."""
    return judge(question, passages, counts(tools, question))
