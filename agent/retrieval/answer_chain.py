"""The lines that continue a lead: what stands on the page of a thing that a shown line names ("directed by
X", then a line of the page about X). Knows lines, no run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from agent.retrieval.asked_question import Asked
from agent.retrieval.candidate_scores import ScoredCandidate
from agent.retrieval.link_scoring import contains_phrase, is_title_named
from agent.text.names import find_names
from agent.text.tokens import fold

MAX_CHAINED = 40
"""Lines that the rest of a question is looked for in, the best ones."""


class Chain(NamedTuple):
    """The lines that continue a lead, in order, and the first of them that was led to by its page's title and
    has the shape asked for."""

    lines: list[ScoredCandidate]
    answering: ScoredCandidate | None


def find_chain(
    asked: Asked, lead: ScoredCandidate, lines: Sequence[ScoredCandidate], most: int, *, takes_several: bool
) -> Chain:
    """Up to `most` lines that continue the lead: of the pages whose title a line before names, the one with
    the shape asked for and most of the question's weight that none before holds. Of a question that takes
    several pages also a line with some of that weight and a name from a line before; where nothing is named,
    the line with most of that weight."""
    chain, left, answering = [lead], [line for line in lines if line is not lead], None
    held, linked = set(lead.candidate.words), _find_linked(lead, lines)
    names = _find_new_names(asked, lead) if takes_several else set()
    while len(chain) <= most:
        new = {id(line): asked.share(line.candidate.words - held) for line in left}
        links = [line for line in left if line.candidate.passage.page_id in linked]
        pages = {line.candidate.passage.page_id for line in chain}
        links += [
            line
            for line in left
            if new[id(line)]
            and line.candidate.passage.page_id not in linked | pages
            and any(contains_phrase(line.candidate.statement, name) for name in names)
        ]
        if links:
            best = max(links, key=lambda line: (line.shape + new[id(line)], line.score))
            answering = answering or (best if best.shape == 1.0 else None)
        else:
            rest = [line for line in left[:MAX_CHAINED] if takes_several and new[id(line)]]
            if not rest:
                break
            best = max(rest, key=lambda line: (new[id(line)], line.score))
        chain.append(best)
        left.remove(best)
        held |= best.candidate.words
        linked |= _find_linked(best, lines)
        names |= _find_new_names(asked, best) if takes_several else set()
    return Chain(chain[1:], answering)


def _find_linked(line: ScoredCandidate, lines: Sequence[ScoredCandidate]) -> set[str]:
    """The pages with another title than a line's own that it names."""
    own, text = line.candidate.passage.title, line.candidate.statement
    titles = {other.candidate.passage.page_id: other.candidate.passage.title for other in lines}
    return {page for page, title in titles.items() if title != own and is_title_named(text, title)}


def _find_new_names(asked: Asked, line: ScoredCandidate) -> set[str]:
    """The names of several words in a line that the question does not hold."""
    found = find_names(line.candidate.statement)
    return {name for name in found if " " in name and fold(name) not in asked.names}
