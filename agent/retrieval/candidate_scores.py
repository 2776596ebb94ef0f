"""Scores how well a line of a passage answers a question: the share of the question's weight that it covers,
raised by having the shape that is asked for and by the rank of its passage."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent.retrieval.asked_question import Asked
from agent.retrieval.candidates import Candidate
from agent.retrieval.scorer import join_head
from agent.retrieval.shape_fit import fit_shape
from agent.text.tokens import stem_prefix, stem_words
from agent.types import Passage

TITLE_WEIGHT, NEAR_WEIGHT = 0.8, 0.4
"""What a word counts that is not in the line: in the title, heading path or label, or naming the shape that
the line has ("price" in "It costs 310 kronor"); in another line of the passage."""
SHAPE_WEIGHT, RANK_WEIGHT = 0.6, 1.0
"""What is added to the covered share, as parts of it: for the shape, for being of the best passage. Set on
all sets together (DECISIONS.md, "Retrieval")."""


@dataclass(frozen=True)
class ScoredCandidate:
    """A candidate, how well it answers (0..1), and how well it has the shape asked for (0..1)."""

    candidate: Candidate
    score: float
    shape: float


def score_candidates(
    asked: Asked, passage: Passage, candidates: Sequence[Candidate], rank: float
) -> list[ScoredCandidate]:
    """The candidates of one passage with their scores; `rank` is the passage's score as a share of the best
    one's."""
    above = _find_words(join_head(passage))
    others = frozenset[str]().union(*(candidate.words for candidate in candidates))
    worth = {
        word: TITLE_WEIGHT if word in above else NEAR_WEIGHT * (word in others) for word in asked.weights
    }
    worth |= {key: TITLE_WEIGHT for key, one in asked.codes.items() if one.search(join_head(passage))}
    total = sum(asked.weights.values()) or 1.0
    found = []
    for candidate in candidates:
        own = candidate.words | {key for key, one in asked.codes.items() if one.search(candidate.statement)}
        shape = fit_shape(asked, candidate)
        held = worth | {word: max(worth.get(word, 0.0), TITLE_WEIGHT * shape) for word in asked.frame}
        covered = sum(weight * (1.0 if word in own else held[word]) for word, weight in asked.weights.items())
        extra = SHAPE_WEIGHT * shape + RANK_WEIGHT * rank
        score = covered / total * (1 + extra) / (1 + SHAPE_WEIGHT + RANK_WEIGHT)
        found.append(ScoredCandidate(candidate, round(score, 4), shape))
    return found


def share_of_rare_words(asked: Asked, passages: Iterable[Passage]) -> float:
    """The share of the question's squared weight that passages hold with their titles and headings: a missing
    rare word costs most."""
    text = "\n".join(f"{join_head(passage)}\n{passage.text}" for passage in passages)
    codes = {key for key, one in asked.codes.items() if one.search(text)}
    return asked.share(_find_words(text) | asked.frame | codes, power=2.0)


def _find_words(text: str) -> frozenset[str]:
    return frozenset(map(stem_prefix, stem_words(text)))
