"""Which passages of a page a model is shown: the best for what is asked and for the search that led there,
with their neighbours, within a number of tokens. A short page is shown whole.

Knows no model and no run: what was shown before is given, and what is shown now is returned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate

from agent.retrieval.passages import split_passages
from agent.retrieval.scorer import RRF_K, rank_passages
from agent.types import Page, Passage

CHARS_PER_TOKEN = 4
"""The usual estimate for European languages; only budgets are measured by it."""
MIN_TOKENS = 450
"""Tokens for the best passages alone, however few there are in all: two of the longest."""
Spans = Sequence[tuple[int, int]]


def choose_passages(
    queries: Sequence[str],
    pages: Mapping[str, Page],
    *,
    tokens: int,
    shown: Mapping[str, Spans] | None = None,
    before: Mapping[str, Spans] | None = None,
    first: Mapping[str, str] | None = None,
) -> dict[str, list[Passage]]:
    """What to show of each page (by its id), in the order of its text, for these questions and searches,
    within `tokens` a page on the average. Nothing that was `shown` is shown again; what was shown `before`,
    for something else, only where there is room beside the rest. `first`: what a page is read for, by its
    id; else the first of the queries.

    A page gets its share of the tokens; what a short page leaves is given to the others. Passages are chosen
    by their ranks for all queries, the best with the other pieces of their list or table and with the
    passages before and after them under the same heading."""
    unread = {
        name: split_unread(
            split_passages(page, name), (shown or {}).get(name, ()), (before or {}).get(name, ())
        )
        for name, page in pages.items()
    }
    room, chosen = tokens * len(pages), dict[str, list[Passage]]()
    for n, name in enumerate(sorted(pages, key=lambda name: sum(map(_count_tokens, unread[name])))):
        share, (new, old) = room // (len(pages) - n), unread[name]
        asked = [*filter(None, [(first or {}).get(name)]), *queries]
        reading = _read_page(asked, new, share)
        left = share - _count_tokens(reading)
        more = _read_page(asked, old, left) if not new or left >= MIN_TOKENS else []
        chosen[name] = sorted([*reading, *more], key=lambda passage: passage.start)
        room -= _count_tokens(chosen[name])
    return {page_id: chosen[page_id] for page_id in pages}


def add_spans(spans: Spans, more: Spans) -> list[tuple[int, int]]:
    """Stretches of a text joined with others: rising, apart from each other."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted([*spans, *more]):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def is_covered(start: int, end: int, spans: Spans) -> bool:
    """Whether a stretch of a text lies within one of these."""
    return any(first <= start and end <= last for first, last in spans)


def split_unread(
    passages: Sequence[Passage], shown: Spans, before: Spans
) -> tuple[list[Passage], list[Passage]]:
    """The passages not `shown` that say more than a title: never shown, and those shown `before`."""
    titles = {p.id for p in passages if p.text.strip() in (p.title, p.heading.split(" › ")[-1])}
    left = [p for p in passages if not is_covered(p.start, p.end, shown) and p.id not in titles]
    old = {passage.id for passage in left if is_covered(passage.start, passage.end, before)}
    return [p for p in left if p.id not in old], [p for p in left if p.id in old]


def join_adjacent(passages: Sequence[Passage], text: str) -> list[Passage]:
    """Passages of one page with the text of it, in its order: those that follow one another under the same
    heading as one, but for rows of tables."""
    joined: list[Passage] = []
    for passage in passages:
        last = joined[-1] if joined else None
        is_same = last is not None and last.heading == passage.heading and not (last.rows or passage.rows)
        if last and is_same and not text[last.end : passage.start].strip():
            joined[-1] = last.replace(text=text[last.start : passage.end], end=passage.end)
        else:
            joined.append(passage)
    return joined


def _read_page(queries: Sequence[str], passages: Sequence[Passage], tokens: int) -> list[Passage]:
    """The best passages for half of the tokens, then what belongs to these, then the next best ones."""
    if _count_tokens(passages) <= tokens:
        return list(passages)
    ranked = _rank_by_all(queries, passages)
    costs = accumulate(_count_tokens([passage]) for passage in ranked)
    first = min(tokens, max(tokens // 2, MIN_TOKENS))
    chosen = [passage for passage, cost in zip(ranked, costs, strict=True) if cost <= first] or ranked[:1]
    order = {passage.id: n for n, passage in enumerate(passages)}
    around = [beside for passage in chosen for beside in _list_neighbours(passages, order[passage.id])]
    chosen = _take(_take(chosen, around, tokens), ranked, tokens)
    return sorted(chosen, key=lambda passage: passage.start)


def _take(chosen: Sequence[Passage], more: Sequence[Passage], tokens: int) -> list[Passage]:
    """The chosen passages and, in their order, those of `more` that fit beside them."""
    kept, names, room = list(chosen), {passage.id for passage in chosen}, tokens - _count_tokens(chosen)
    for passage in more:
        cost = _count_tokens([passage])
        if passage.id not in names and cost <= room:
            kept.append(passage)
            names.add(passage.id)
            room -= cost
    return kept


def _rank_by_all(queries: Sequence[str], passages: Sequence[Passage]) -> list[Passage]:
    """The passages by their ranks for all queries: the best of the first query, the best of each other one,
    then the rest; those that no query's word stands in last."""
    votes: dict[str, float] = {}
    asked = list(dict.fromkeys(queries))
    for n, query in enumerate(asked):
        for rank, passage in enumerate(rank_passages(query, passages, len(passages))):
            best = float(rank == 0) * (1 if n else len(asked))
            vote = best + 1 / (RRF_K + rank) if passage.score else 0.0
            votes[passage.id] = votes.get(passage.id, 0.0) + vote
    return sorted(passages, key=lambda passage: -votes.get(passage.id, 0.0))


def _list_neighbours(passages: Sequence[Passage], at: int) -> list[Passage]:
    """The other pieces of a passage's list or table; then its neighbours under the same heading."""
    here = passages[at]
    same = [
        passage
        for passage in passages
        if here.label
        and here.kind in ("rows", "list", "definition")
        and (passage.kind, passage.heading, passage.label) == (here.kind, here.heading, here.label)
    ]
    return [*same, *(p for p in passages[max(0, at - 1) : at + 2] if p.heading == here.heading)]


def _count_tokens(passages: Sequence[Passage]) -> int:
    chars = sum(len(p.text) + len(p.heading) + len(p.label) for p in passages)
    return -(-chars // CHARS_PER_TOKEN)
