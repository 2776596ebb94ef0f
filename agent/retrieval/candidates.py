"""Cuts passages into what can answer in one line: a sentence, a definition with its term, a table row, a list
with its introduction, a line of code. Knows passages, no question."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from agent.retrieval.asked_question import Asked
from agent.retrieval.passages import last_heading, split_sentences
from agent.retrieval.scorer import join_head, stem_prefixes
from agent.text.answer_type import has_answer_type
from agent.text.normalization import ELLIPSIS, is_negation, normalize_text
from agent.text.tokens import (
    content_stems,
    find_function_words,
    fold,
    stem,
    stem_prefix,
    stem_words,
    tokenize,
)
from agent.types import Passage

MAX_WORDS = 40
"""Words of one candidate (what a lead may have at most); a longer one is cut at a clause or word."""
ITEM_WORDS = 12
"""Words of an item in a list; a longer one is cut, and "…" marks it."""
MAX_SENTENCES_AFTER_TERM = 12
"""Sentences of one definition that are looked at."""
_CLAUSE_END = re.compile(r"[,;:.)\]—–]$")
_ITEM = re.compile(r"(?m)^[^\S\n]*(?:(?:[-*•‣◦·–]|\d{1,2}[.)])\s+)?(\S.*?)[^\S\n]*$")
"""A line that is not blank, without the mark of a list item."""


@dataclass(frozen=True)
class Candidate:
    """A line that may answer. `quote` is one verbatim stretch of the page, `statement` what is shown,
    `body` the words that state something, without the term or header they are about."""

    passage: Passage
    quote: str
    statement: str
    body: str
    place: int
    """0 for the first of its passage."""

    @cached_property
    def stems(self) -> tuple[str, ...]:
        """The stems of its statement, in order."""
        return tuple(stem_words(self.statement))

    @cached_property
    def words(self) -> frozenset[str]:
        """The stem prefixes of what it states, with its term or header."""
        return frozenset(map(stem_prefix, self.stems))

    @property
    def is_question(self) -> bool:
        """Whether it asks instead of stating."""
        return self.statement.rstrip().endswith(("?", "？", "؟"))

    @property
    def length(self) -> int:
        """Words that are shown."""
        return len(self.statement.split())


def cut_candidates(passage: Passage) -> list[Candidate]:
    """The candidates of a passage in the order of its text."""
    cut = {"rows": _cut_rows, "definition": _cut_definition, "list": _cut_list, "code": _cut_code}
    above = {passage.label.strip(), last_heading(passage), passage.title}
    found = [one for one in cut.get(passage.kind, _cut_prose)(passage) if one[1].strip() not in above]
    return [Candidate(passage, quote, statement, body, n) for n, (quote, statement, body) in enumerate(found)]


Cut = tuple[str, str, str]
"""Quote, statement, body."""


def _cut_prose(passage: Passage) -> Iterator[Cut]:
    for sentence in split_sentences(passage):
        short = shorten(sentence)
        yield short, short, sentence


def _cut_rows(passage: Passage) -> Iterator[Cut]:
    for row in split_sentences(passage):
        if row != passage.label and sum(bool(cell.strip()) for cell in row.split("|")) > 1:
            yield row, describe_row(passage.label, row), row


def _cut_definition(passage: Passage) -> Iterator[Cut]:
    label = " ".join(passage.label.split())
    has_term = bool(passage.label) and passage.text.startswith(passage.label)
    text = passage.text[len(passage.label) :] if has_term else passage.text
    sentences = split_sentences(passage.replace(text=text)) or [text.strip()]
    room = MAX_WORDS - len(label.split())
    for sentence in sentences[:MAX_SENTENCES_AFTER_TERM]:
        if not sentence:
            continue
        short = shorten(sentence, max(12, room))
        follows = has_term and text.lstrip().startswith(short)
        quote = passage.text[: passage.text.index(text.lstrip()) + len(short)] if follows else short
        yield quote, f"{label} — {short}" if label else short, sentence


def _cut_list(passage: Passage) -> Iterator[Cut]:
    """The list from its introduction on, the beginnings of as many items as there is room for; then what
    stands before it, and its items."""
    text, at = passage.text, _end_of_label(passage)
    yield from _cut_before(passage, at)
    items = [(at + m.start(1), m.group(1)) for m in _ITEM.finditer(text[at:])]
    if not items:
        return
    label, taken = passage.label.strip(), list[str]()
    end, room = 0, MAX_WORDS - len(label.split())
    for start, item in items:
        # The beginning of an item; the item where the rest negates it
        most = max(6, min(ITEM_WORDS, room))
        short = shorten(item, most)
        has_negation = any(map(is_negation, normalize_text(item[len(short) :]).words))
        short = shorten(item) if has_negation else short
        if taken and len(short.split()) > room:
            break
        taken.append(short if short == item else f"{short} {ELLIPSIS}")
        end, room = start + len(short), room - len(short.split())
    quote = text[at - len(passage.label) if at else items[0][0] : end]
    bodies = [item for _, item in items]
    yield quote.strip(), " ".join(filter(None, [label, "; ".join(taken)])), " ".join(bodies)
    for item in bodies:
        for sentence in split_sentences(passage.replace(text=item, kind="prose")) or [item]:
            short = shorten(sentence)
            yield short, short, sentence


def _cut_code(passage: Passage) -> Iterator[Cut]:
    """The code's first lines under its introduction, and what stands before that."""
    text, at = passage.text, _end_of_label(passage)
    yield from _cut_before(passage, at)
    label, lines = passage.label.strip(), list[str]()
    end, room = 0, MAX_WORDS - len(label.split())
    for line in re.finditer(r"[^\n]*\S", text[at:]):
        if lines and len(line.group().split()) > room:
            break
        lines.append(line.group())
        end, room = at + line.end(), room - len(line.group().split())
    if lines:
        quote = text[at - len(passage.label) if at else 0 : end]
        yield quote.strip(), "\n".join(filter(None, [label, *lines])), text[at:]


def _end_of_label(passage: Passage) -> int:
    """Where the line that introduces a list or code ends in its text; 0 where it is not there."""
    at = passage.text.find(passage.label) if passage.label else -1
    return at + len(passage.label) if at >= 0 else 0


def _cut_before(passage: Passage, at: int) -> Iterator[Cut]:
    """The sentences before the introducing line."""
    before = passage.text[: max(0, at - len(passage.label))]
    yield from _cut_prose(passage.replace(text=before, kind="prose")) if before.strip() else ()


def shorten(text: str, most: int = MAX_WORDS) -> str:
    """The text, or its beginning of at most `most` words, up to the end of a clause in its second half where
    there is one."""
    words = list(re.finditer(r"\S+", text))
    if len(words) <= most:
        return text.strip()
    for n in range(most - 1, most // 2, -1):
        if _CLAUSE_END.search(words[n].group()):
            return text[words[0].start() : words[n].end()].rstrip(",;:—– ")
    return text[words[0].start() : words[most - 1].end()]


def describe_row(header: str, row: str) -> str:
    """A table row as "column: cell" pairs, a row of two cells without a header as "name: value"; else the row
    as it is."""
    cells, columns = [c.strip() for c in row.split("|")], [c.strip() for c in header.split("|")]
    if len(cells) == 2 and all(cells) and len(columns) == 1:
        return ": ".join(cells)
    if len(cells) != len(columns) or len(cells) < 2 or cells == columns:
        return row
    pairs = zip(columns, cells, strict=True)
    return "; ".join(f"{column}: {cell}" if column else cell for column, cell in pairs if cell)


# Whether a line has the shape that a question asks for: "X is …" or the entry of X for a definition, an
# option's name, a list, else a value of the type.


HALF = 0.6
"""The fit of a line that has a weaker sign of the shape."""
MAX_WORDS_BEFORE = 2
"""Words before X where a sentence begins with it ("The word X means …")."""
MIN_STEM, MAX_ENDING = 4, 2
"""Letters of a stem that may have an ending, and of the ending."""
_DEFINES = frozenset(
    "is are was were means mean refers denotes describes stands ist sind bedeutet bezeichnet heisst steht"
    " nennt est sont signifie designe es son significa ar betyder kallas".split()
)
"""Verbs that follow X where it is defined, folded."""
_COPULAS = frozenset("is are was were ist sind est sont es son ar".split())
_ARTICLES = frozenset(
    "a an the one any ein eine einer eines der die das un une le la les l des el los las uno una en"
    " ett".split()
)
"""Copulas, and what follows one that defines ("X is a …", not "X is created …"), folded."""


def fit_shape(asked: Asked, candidate: Candidate) -> float:
    """How well a line has the shape that is asked for (0..1)."""
    kind, passage, is_first = asked.shape.kind, candidate.passage, candidate.place == 0
    if kind == "definition":
        return _fit_definition(asked, candidate)
    if kind == "option":
        if passage.kind == "definition" and has_answer_type("option", passage.label):
            return 1.0 if is_first else HALF
        words = candidate.statement.split()
        new = " ".join(word for word in words if fold(word.strip(".,;:()")) not in asked.words)
        return HALF * has_answer_type("option", new)
    if kind == "list":
        is_list = passage.kind == "list" and is_first
        return 1.0 if is_list else HALF * has_answer_type("list", candidate.body)
    if kind in ("thing", "manner"):
        return HALF
    return float(has_answer_type(kind, candidate.body, asked.names))


def _fit_definition(asked: Asked, candidate: Candidate) -> float:
    if not asked.subject:
        return float(has_answer_type("definition", candidate.body))
    if candidate.passage.kind == "rows":
        cell = candidate.body.split("|")[0]
        is_named = _names(asked.subject, cell) and all(one.search(cell) for one in asked.codes.values())
        return float(is_named)
    label = candidate.passage.label if candidate.passage.kind == "definition" else ""
    if label and _names(asked.subject, label):
        return 1.0 if candidate.place == 0 else HALF
    # 1 when a sentence begins with "X is …", less when it has these words later
    words = tokenize(candidate.body)
    stems = [stem(word) for word in words]
    subject, size, best = asked.subject, len(asked.subject), 0.0
    for n in range(len(stems) - size + 1):
        if all(map(_is_same_word, subject, stems[n : n + size])):
            after = words[n + size : n + size + 3]
            if _DEFINES.intersection(after):
                tells = _COPULAS.intersection(after) and not _ARTICLES.intersection(after)
                before = set(words[:n]) - find_function_words(words[:n]) - asked.words
                best = max(best, HALF if tells or before or n > MAX_WORDS_BEFORE else 1.0)
    return best


def _names(subject: tuple[str, ...], label: str) -> bool:
    """Whether a term or cell is X, but for one more word and what is in brackets."""
    words = content_stems(re.sub(r"\([^)]*\)", " ", label))
    return len(words) <= len(subject) + 1 and all(
        any(_is_same_word(one, word) for word in words) for one in subject
    )


def _is_same_word(one: str, other: str) -> bool:
    """Whether two stems are one word, but for an ending."""
    short, long = sorted((one, other), key=len)
    return one == other or (
        len(short) >= MIN_STEM and len(long) - len(short) <= MAX_ENDING and long.startswith(short)
    )


# Scores how well a line of a passage answers a question: the share of the question's weight that it covers,
# raised by having the shape that is asked for and by the rank of its passage.


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
    above = stem_prefixes(join_head(passage))
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
    return asked.share(stem_prefixes(text) | asked.frame | codes, power=2.0)
