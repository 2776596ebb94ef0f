"""Scores how well a candidate line answers a question: how much of the question's weight it covers, and
whether it has the shape that is asked for. Knows a question and candidates, no run.

A word's weight is its inverse document frequency, so no list says which words matter."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from agent.retrieval.candidates import Candidate, head_words
from agent.retrieval.passages import last_heading
from agent.retrieval.scorer import CollectionCounts, robertson_idf
from agent.text.answer_type import Shape, detect_shape, has_answer_type
from agent.text.names import find_names
from agent.text.question_analysis import remove_urls
from agent.text.tokens import content_stems, fold, stem, stem_prefix, stem_words, tokenize
from agent.types import Passage

HEADING_WEIGHT, TITLE_WEIGHT, NEAR_WEIGHT = 0.8, 0.6, 0.4
SHAPE_WEIGHT = 0.6
PAIR_WEIGHT = 0.3
RANK_WEIGHT = 1.0
MIN_WEIGHT = 0.3

_VALUE = re.compile(
    r"\d|[\"'‘“„«][^\s\"'’”“»]+"
    r"|\b(?:true|false|on|off|yes|no|none|null|enabled|disabled|empty)\b"
    r"|\b[A-Z]{2,}\b|[\w/-]+[_/.][\w/-]+"
)
_DEFINES = frozenset(
    "is are was were means mean refers denotes describes stands ist sind bedeutet bezeichnet heisst steht"
    " nennt est sont signifie designe es son significa ar betyder kallas".split()
)


@dataclass(frozen=True, eq=False)
class Asked:
    """What a question asks: its shape, the weights of its words (by stem prefix), what it is about."""

    text: str
    shape: Shape
    weights: Mapping[str, float]
    subject: tuple[str, ...]
    """The stems of X in "what is X", in order."""
    sides: tuple[frozenset[str], ...]
    """The words of the two things compared."""
    pairs: frozenset[tuple[str, str]]
    names: frozenset[str]
    literals: Mapping[str, re.Pattern[str]]
    """What stands in the question as a code or letter, and how to find it."""

    @cached_property
    def total(self) -> float:
        return sum(self.weights.values()) or 1.0

    def share(self, words: frozenset[str] | set[str]) -> float:
        """The share of the question's weight that these words have."""
        return sum(weight for word, weight in self.weights.items() if word in words) / self.total


def analyze_question(question: str, passages: Sequence[Passage], counts: CollectionCounts | None) -> Asked:
    """The question with its words weighed over the collection of `counts`, or over these passages."""
    text = remove_urls(question) or question
    shape = detect_shape(text)
    stems = content_stems(text)
    weights = _weigh(stems, passages, counts)
    subject = (
        tuple(content_stems(_core(shape.subjects[0])))
        if shape.kind == "definition" and shape.subjects
        else ()
    )
    sides = (
        tuple(frozenset(map(stem_prefix, content_stems(s))) for s in shape.subjects)
        if shape.kind == "comparison"
        else ()
    )
    literals = find_literals(text)
    if literals:
        heaviest = max(weights.values(), default=1.0)
        weights |= dict.fromkeys(literals, heaviest)
    words = [stem_prefix(w) for w in stem_words(text)]
    pairs = frozenset((a, b) for a, b in pairwise(words) if a in weights and b in weights)
    names = frozenset(fold(name) for name in find_names(text))
    return Asked(text, shape, weights, subject, sides, pairs, names, literals)


_LITERAL = re.compile(r"(?<!\w)[\"'‘“„«`]([^\W_])[\"'’”“»`](?!\w)|(?<![\w'’.-])([B-HJ-Zb-hj-z])(?![\w'’.-])")


def find_literals(text: str) -> dict[str, re.Pattern[str]]:
    """The single letters of a question, which are no words: each with the pattern that finds it."""
    letters = {quoted or bare for quoted, bare in _LITERAL.findall(text)}
    return {f"={letter}": re.compile(rf"(?<![\w'’-]){re.escape(letter)}(?![\w'’])") for letter in letters}


_CORE = re.compile(r"[\"'‘“„«]([^\"'’”“»]+)[\"'’”“»]?|(?<!\w)(-{0,2}\w*[_\d]\w*|--?\w[\w-]*|[A-Z]{2,})(?!\w)")


def _core(subject: str) -> str:
    """Of "the device file ttyS0" what is quoted or looks like a code; else the whole."""
    found = _CORE.search(subject)
    return (found.group(1) or found.group(2)) if found else subject


def _weigh(
    stems: Sequence[str], passages: Sequence[Passage], counts: CollectionCounts | None
) -> dict[str, float]:
    if counts is None:
        held: Counter[str] = Counter()
        for p in passages:
            held.update(set(stem_words(f"{p.title} {p.heading} {p.label} {p.text}")) & set(stems))
        counts = CollectionCounts(len(passages), held)
    weights: dict[str, float] = {}
    for word in stems:
        idf = MIN_WEIGHT + robertson_idf(counts.passages, counts.document_frequencies.get(word, 0))
        weights[stem_prefix(word)] = max(idf, weights.get(stem_prefix(word), 0.0))
    return weights


@dataclass(frozen=True)
class Scored:
    candidate: Candidate
    score: float
    cover: float
    """The share of the question's weight in the candidate and what stands over it."""
    shape: float


def score_candidates(
    asked: Asked, passage: Passage, candidates: Sequence[Candidate], rank: float
) -> list[Scored]:
    """The candidates of one passage with their scores."""
    near, far = head_words(passage)
    here = frozenset().union(*(c.words for c in candidates)) if candidates else frozenset()
    found = []
    for c in candidates:
        own = c.words | {key for key, p in asked.literals.items() if p.search(c.statement)}
        cover = (
            sum(
                weight
                * (
                    1.0
                    if w in own
                    else HEADING_WEIGHT
                    if w in near
                    else TITLE_WEIGHT
                    if w in far
                    else NEAR_WEIGHT
                    if w in here
                    else 0.0
                )
                for w, weight in asked.weights.items()
            )
            / asked.total
        )
        shape = fit_shape(asked, c)
        prefixes = [stem_prefix(w) for w in c.stems]
        pairs = len(asked.pairs.intersection(pairwise(prefixes))) / (len(asked.pairs) or 1)
        score = cover * (1 + SHAPE_WEIGHT * shape + PAIR_WEIGHT * pairs + RANK_WEIGHT * rank)
        score /= 1 + SHAPE_WEIGHT + PAIR_WEIGHT + RANK_WEIGHT
        score *= quality(c)
        found.append(Scored(c, score, cover, shape))
    return found


def quality(c: Candidate) -> float:
    """1 for a line that states something, less for a question, a fragment, or an entry of an index."""
    text = c.statement.rstrip()
    if text.endswith("?") or c.length < 3 or text.lower().startswith(("see also", "siehe auch")):
        return 0.5
    words = text.split()
    if (
        c.passage.kind in ("prose", "definition")
        and len(words) > 12
        and not re.search(r"[.!:;。]$", c.body.rstrip())
    ):
        commas = sum(word.endswith(",") for word in words)
        if commas > 0.25 * len(words) or len(c.passage.label.split()) > 15:
            return 0.4
    return 1.0


def fit_shape(asked: Asked, c: Candidate) -> float:
    """How well a candidate has the shape that is asked for (0..1)."""
    kind = asked.shape.kind
    fits = _FITS.get(kind)
    if fits:
        return fits(asked, c)
    if kind in ("thing", "manner"):
        return 0.5
    return float(has_answer_type(kind, c.body, asked.names))


def _fit_default(asked: Asked, c: Candidate) -> float:
    if not has_answer_type("default", c.statement):
        return 0.0
    rest = " ".join(w for w in c.statement.split() if fold(w.strip(".,;:()")) not in fold(asked.text))
    return 1.0 if _VALUE.search(rest) else 0.5


def _fit_definition(asked: Asked, c: Candidate) -> float:
    if not asked.subject:
        return float(has_answer_type("definition", c.body))
    if c.passage.kind == "rows" and _is_about(asked.subject, c.body.split("|")[0]):
        return 1.0
    if c.passage.label and _is_about(asked.subject, c.passage.label):
        return 1.0 if c.place == 0 else 0.4
    best = _find_defining_words(asked.subject, c.body)
    if best < HEADED and c.place == 0 and _is_about(asked.subject, last_heading(c.passage)):
        best = HEADED
    return best


HEADED = 0.8
_CALLS = frozenset(
    "called known named bezeichnet nennt genannt appele appelee denomina llama llamado kallas".split()
)


def _find_defining_words(subject: tuple[str, ...], body: str) -> float:
    """1 when a sentence begins with "X is …", less when it has these words later, or says "… called X"."""
    words = tokenize(body)
    stems = [stem(word) for word in words]
    size, best = len(subject), 0.0
    for n in range(len(stems) - size + 1):
        if not all(map(is_same_word, subject, stems[n : n + size])):
            continue
        if _DEFINES.intersection(words[n + size : n + size + 3]):
            best = max(best, 1.0 if n <= 2 else 0.5)
        if _CALLS.intersection(words[max(0, n - 4) : n]):
            best = max(best, 0.7)
    return best


def is_same_word(one: str, other: str) -> bool:
    """Whether two stems are one word, but for an ending of two letters."""
    return one == other or (
        min(len(one), len(other)) >= 4
        and abs(len(one) - len(other)) <= 2
        and (one.startswith(other) or other.startswith(one))
    )


def _is_about(subject: tuple[str, ...], label: str) -> bool:
    words = content_stems(re.sub(r"\([^)]*\)", " ", label))
    return len(words) <= len(subject) + 1 and all(any(is_same_word(x, w) for w in words) for x in subject)


def _fit_option(asked: Asked, c: Candidate) -> float:
    if c.passage.kind == "definition" and has_answer_type("option", c.passage.label):
        return 1.0
    rest = " ".join(w for w in c.statement.split() if fold(w.strip(".,;:()")) not in fold(asked.text))
    return 0.6 * has_answer_type("option", rest)


def _fit_howto(asked: Asked, c: Candidate) -> float:
    if c.passage.kind in ("code", "list"):
        return 1.0
    return 0.6 * has_answer_type("option", c.statement)


def _fit_comparison(asked: Asked, c: Candidate) -> float:
    shared = frozenset.intersection(*asked.sides) if asked.sides else frozenset()
    both = [len((side - shared) & c.words) / (len(side - shared) or 1) for side in asked.sides]
    fit = min(both, default=0.5)
    return fit * (1.0 if _CONTRAST.search(c.statement) else 0.6)


_CONTRAST = re.compile(
    r"\b(?:while|whereas|unlike|differ\w*|contrast|instead|rather than|but|both|than|versus|vs"
    r"|während|hingegen|dagegen|im gegensatz|unter\w*schied\w*|anders als|sondern|aber"
    r"|tandis que|alors que|diff[eé]r\w*|contrairement|mientras|a diferencia|en cambio"
    r"|medan|till skillnad|skill\w*)\b|而|不同|بينما",
    re.IGNORECASE,
)


def _fit_list(asked: Asked, c: Candidate) -> float:
    if c.passage.kind == "list" and c.place == 0:
        return 1.0
    return 0.6 * has_answer_type("list", c.body)


_FITS = {
    "default": _fit_default,
    "definition": _fit_definition,
    "option": _fit_option,
    "howto": _fit_howto,
    "comparison": _fit_comparison,
    "list": _fit_list,
}
