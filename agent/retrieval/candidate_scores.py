"""Scores how well a line of a passage answers a question: the share of the question's weight that it covers,
raised by having the shape that is asked for, by the question's word pairs and by the rank of its passage."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from agent.retrieval.asked_question import Asked
from agent.retrieval.candidates import Candidate
from agent.retrieval.passages import last_heading
from agent.retrieval.scorer import join_head
from agent.retrieval.shape_fit import fit_shape
from agent.text.tokens import stem_prefix, stem_words
from agent.types import Passage

HEADING_WEIGHT, TITLE_WEIGHT, NEAR_WEIGHT = 0.8, 0.6, 0.4
"""What a word counts that is not in the line: in the innermost heading or label, in the title or path, in
another line of the passage."""
HEADING_LETTERS = 5
"""Letters of a stem that a heading must share."""
SHAPE_WEIGHT, PAIR_WEIGHT, RANK_WEIGHT = 0.6, 0.3, 1.0
"""What is added to the covered share, as parts of it: for the shape, for all of the question's word pairs,
for being of the best passage. Set on all sets together (DECISIONS.md, "Retrieval")."""
WEAK_LINE = 0.5
"""Factor of a line that states nothing: a question, a fragment, an entry of an index."""
MIN_WORDS = 3
INDEX_WORDS, INDEX_COMMAS = 12, 0.25
"""Words from which on a line without a full stop is an entry of an index when this share of them ends in a
comma."""
_POINTER = re.compile(
    r"(?:see|siehe|voir|véase|se även|vedi|zie|(?:last\s+)?(?:updated|modified|reviewed|published|posted)"
    r"|zuletzt|stand|senast|uppdaterad|mis à jour|actualizado)\b",
    re.IGNORECASE,
)
"""How a line begins that points elsewhere or dates the page."""


@dataclass(frozen=True)
class ScoredCandidate:
    """A candidate and how well it answers (0..1)."""

    candidate: Candidate
    score: float


def score_candidates(
    asked: Asked, passage: Passage, candidates: Sequence[Candidate], rank: float
) -> list[ScoredCandidate]:
    """The candidates of one passage with their scores; `rank` is the passage's score as a share of the best
    one's."""
    near = _find_head_words(f"{last_heading(passage)} {passage.label}")
    far = _find_head_words(f"{passage.title} {passage.heading}")
    others = frozenset[str]().union(*(candidate.words for candidate in candidates))
    places = ((near, HEADING_WEIGHT), (far, TITLE_WEIGHT), (others, NEAR_WEIGHT))
    worth = {word: max((v for words, v in places if word in words), default=0.0) for word in asked.weights}
    worth |= {key: HEADING_WEIGHT for key, one in asked.codes.items() if one.search(join_head(passage))}
    total = sum(asked.weights.values()) or 1.0
    found = []
    for candidate in candidates:
        own = candidate.words | {key for key, one in asked.codes.items() if one.search(candidate.statement)}
        shape = fit_shape(asked, candidate)
        covered = sum(
            weight * (1.0 if word in own else max(worth[word], shape * (word in asked.frame)))
            for word, weight in asked.weights.items()
        )
        pairs = len(asked.pairs.intersection(pairwise(map(stem_prefix, candidate.stems))))
        extra = SHAPE_WEIGHT * shape + PAIR_WEIGHT * pairs / (len(asked.pairs) or 1) + RANK_WEIGHT * rank
        score = covered / total * (1 + extra) / (1 + SHAPE_WEIGHT + PAIR_WEIGHT + RANK_WEIGHT)
        found.append(ScoredCandidate(candidate, round(score * _rate_line(candidate), 4)))
    return found


def share_of_rare_words(asked: Asked, passage: Passage) -> float:
    """The share of the question's squared weight that a passage holds with its title and headings: a missing
    rare word costs most."""
    text = f"{join_head(passage)}\n{passage.text}"
    held = frozenset(map(stem_prefix, stem_words(text))) | _find_head_words(join_head(passage))
    return asked.share(
        held | asked.frame | {key for key, one in asked.codes.items() if one.search(text)}, power=2.0
    )


def _find_head_words(text: str) -> frozenset[str]:
    """The stem prefixes of a heading, and its shorter ones: "Treatment" is about what is treated."""
    words = stem_words(text)
    return frozenset(map(stem_prefix, words)) | {word[:HEADING_LETTERS] for word in words}


def _rate_line(candidate: Candidate) -> float:
    """1 for a line that states something, WEAK_LINE for others."""
    words = candidate.statement.split()
    if candidate.is_question or len(candidate.stems) < MIN_WORDS:
        return WEAK_LINE
    if len(words) <= INDEX_WORDS and _POINTER.match(candidate.statement):
        return WEAK_LINE
    is_open = not re.search(r"[.!:;。]$", candidate.body.rstrip())
    if candidate.passage.kind in ("prose", "definition") and len(words) > INDEX_WORDS and is_open:
        commas = sum(word.endswith(",") for word in words)
        return WEAK_LINE if commas > INDEX_COMMAS * len(words) else 1.0
    return 1.0
