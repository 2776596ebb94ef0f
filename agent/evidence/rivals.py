"""Different answers of different sources to one question: what the facts that bear on it most give for the very thing that is asked.

`compare` sets any two statements against each other and so has to ask for nearly the same wording. Here the question says what is
to be compared: the facts that speak of its subject and bear on it, of different sites. Two of them give different answers when

* they are one text but for a few words in one place (an altered copy), with the same words beside that place, or
* the date, figure, person or place that the question's own words lead to in each differs (`slots`), and neither statement holds the other.

No rivals: a value within the other (1912 and April 1912, York and New York City), figures of different dates (a series), a fact that
names both values, two spellings of one word, and facts of one site. Knows facts and the question's words, no run. The work is that of
the `POOL` best facts, however many a run has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from rapidfuzz.distance import Levenshtein

from agent import urls
from agent.evidence import dates, numbers
from agent.evidence.compare import Clash, Kind, alike_spelled, series
from agent.evidence.slots import STEM, Asked, answer
from agent.evidence.spelling import negated, row
from agent.evidence.values import SMALL_WORDS, read
from agent.types import Fact

POOL = 40
"""Facts that are compared, those that bear most on the question."""
BEARS = 0.3
"""Least relevance of a fact that may give an answer."""
COVERED, COVERED_HOPS = 0.75, 0.6
"""Least share of the question's content words that a fact holds, its page's title counted in: when the question names nobody; when it
does, but takes more than one page."""
LEAST = 2
"""Content words that a question has when it names nobody; with fewer, too many things have them all."""
SAME_AROUND, SAME_CONTENT = 4, 2
"""Words, and content words, that two altered copies share right beside the place where they differ."""
LONGEST, AROUND = 5, 10
"""Words a differing place has at most, and words beside it that are looked at, to each side."""

_PAUSE = re.compile(r"[,;:.()|]")
_BROKEN = re.compile(r"[;:()|=\"“”\[\]]")
_OPEN = ("thing", "definition", "manner")


@dataclass(frozen=True)
class Rival:
    """Two facts, the older first, and what each gives for an answer."""

    left: Fact
    right: Fact
    clash: Clash


def rivals(facts: Sequence[Fact], question: Asked) -> Iterator[Rival]:
    """Every pair of facts of different sites that answer the question differently."""
    able = (fact for fact in facts if fact.relevance >= BEARS and fact.url and _speaks(fact, question))
    pool = sorted(able, key=lambda fact: (-fact.relevance, fact.step, fact.id))[:POOL]
    pool.sort(key=lambda fact: (fact.step, fact.id))
    for j, b in enumerate(pool):
        for a in pool[:j]:
            if urls.site(a.url) == urls.site(b.url) or a.statement == b.statement:
                continue
            clash = differ(a.statement, b.statement, question)
            if clash:
                yield Rival(a, b, clash)


def _speaks(fact: Fact, question: Asked) -> bool:
    """Is a fact about what the question names, and does it hold enough of its words?"""
    told = frozenset(row(f"{fact.title} {fact.subject} {fact.statement}").words)
    if not question.figures <= told or not question.names <= {w.removesuffix("'s") for w in told}:
        return False
    if question.names and not question.hops:
        return True
    if not question.names and len(question.words) < LEAST:
        return False
    starts = {w[:STEM] for w in told}
    return len(question.words & starts) >= (COVERED_HOPS if question.names else COVERED) * len(question.words)


def differ(a: str, b: str, question: Asked) -> Clash | None:
    """How two statements answer a question differently, or None."""
    if series(read(a), read(b)):
        return None
    return _altered(a, b, question) or _against(answer(a, question), answer(b, question), a, b, question)


@dataclass(frozen=True)
class _Cut:
    """A statement in words, each as it is compared and with its place."""

    text: str
    words: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]


@lru_cache(maxsize=4096)
def _cut(text: str) -> _Cut:
    told = row(text)
    kept = [n for n, word in enumerate(told.words) if any(c.isalnum() for c in word) or word == "%"]
    return _Cut(text, tuple(told.words[n] for n in kept), tuple(told.starts[n] for n in kept), tuple(told.ends[n] for n in kept))


@dataclass(frozen=True)
class _Place:
    """Where two rows of words differ: from i to j in one, from k to m in the other; `start` and `end` bound the same words around it."""

    start: int
    i: int
    j: int
    end: int
    k: int
    m: int


def _altered(a: str, b: str, question: Asked) -> Clash | None:
    """One text but for a place or two: the words that stand in the first place that answers the question; in brackets only if no other does."""
    left, right = _cut(a), _cut(b)
    asides: list[Clash] = []
    for here in _places(left.words, right.words):
        if not _framed(here, left):
            continue
        mine, theirs = _widened(left, *_leading(left, here.i, here.j)), _widened(right, *_leading(right, here.k, here.m))
        clash = _against(mine, theirs, a, b, question)
        if clash and not (_aside(left, here.i) and _aside(right, here.k)):
            return clash
        asides += [clash] if clash else []
    return asides[0] if asides else None


def _places(left: tuple[str, ...], right: tuple[str, ...]) -> Iterator[_Place]:
    """The places between runs of the same words, where both rows have words of their own."""
    edges = [(b.src_start, b.src_end, b.dest_start, b.dest_end) for b in Levenshtein.opcodes(left, right) if b.tag == "equal"]
    for (start, i, _, k), (j, end, m, _) in pairwise([*edges, (len(left), len(left), len(right), len(right))]):
        if i < j and k < m:
            yield _Place(max(start, i - AROUND), i, j, min(end, j + AROUND), k, m)


def _framed(here: _Place, left: _Cut) -> bool:
    """Do enough of the same words stand right beside the place? Where it is long, before it."""
    around = left.words[here.start : here.i]
    if max(here.j - here.i, here.m - here.k) <= LONGEST:
        around += left.words[here.j : here.end]
    return here.start < here.i and len(around) >= SAME_AROUND and sum(w not in SMALL_WORDS for w in around) >= SAME_CONTENT


def _leading(cut: _Cut, i: int, j: int) -> tuple[int, int]:
    """A place; when it is long, only its first words up to a pause."""
    if j - i <= LONGEST:
        return i, j
    end = i + 1
    while end < i + LONGEST and not _PAUSE.search(cut.text[cut.ends[end - 1] : cut.starts[end]]) and cut.words[end] not in SMALL_WORDS:
        end += 1
    return i, end


def _widened(cut: _Cut, i: int, j: int) -> str:
    """The words of a place without the small ones at its ends, with the rest of the date or name they are part of; "" when it is no one thing."""
    while i < j and cut.words[i] in SMALL_WORDS:
        i += 1
    while i < j and cut.words[j - 1] in SMALL_WORDS:
        j -= 1
    if i == j:
        return ""
    start, end = cut.starts[i], cut.ends[j - 1]
    said = read(cut.text)
    wholes = [(d.start, d.end) for d in said.dates] + [(q.start, q.end) for q in said.quantities]
    wholes += [(n.start, n.end) for n in said.names if len(n.text.split()) <= LONGEST]
    first, last = next(((s, e) for s, e in wholes if s < end and start < e), (start, end))
    start, end = min(start, first), max(end, last)
    value = cut.text[start:end]
    return "" if _BROKEN.search(value) else value


def _aside(cut: _Cut, i: int) -> bool:
    """Does a word stand in brackets, as what tells two things of one name apart does?"""
    before = cut.text[: cut.starts[i]]
    return before.count("(") > before.count(")")


def _against(left: str, right: str, a: str, b: str, question: Asked) -> Clash | None:
    """Do these two values, of the statements `a` and `b`, exclude each other as answers of the kind that is asked for?"""
    if not left or not right or question.kind == "reason":
        return None
    kind, unit = _kind(left, right)
    if kind == "date":
        apart = not any(dates.agree(x, y) for x in _dates(left) for y in _dates(right))
        return Clash("date", left, right) if apart and question.kind == "date" else None
    if kind == "number":
        apart = not any(numbers.agree(x, y) for x in numbers.quantities(left) for y in numbers.quantities(right))
        fits = question.kind == "number" or (unit and question.kind in _OPEN)
        return Clash("number", left, right, unit) if apart and fits and _one_unit(left, right) else None
    return Clash("name", left, right) if question.kind not in ("date", "number") and _exclude(left, right, a, b, question) else None


def _kind(left: str, right: str) -> tuple[Kind, str]:
    if _dates(left) and _dates(right):
        return "date", ""
    mine, theirs = numbers.quantities(left), numbers.quantities(right)
    return ("number", mine[0].unit) if mine and theirs else ("name", "")


def _dates(text: str) -> list[dates.Date]:
    return dates.dates(text) or dates.dates(f"in {text}.")


def _one_unit(left: str, right: str) -> bool:
    """Do two figures count the same? Ordinals tell things apart and are no figures."""
    units = {figure.unit for figure in (*numbers.quantities(left), *numbers.quantities(right))}
    return "th" not in units and len(units - {""}) <= 1


def _exclude(left: str, right: str, a: str, b: str, question: Asked) -> bool:
    """Are two values in words quite other words, neither told in the other's statement nor in the question?"""
    mine, theirs = _content(left), _content(right)
    if not mine or not theirs or mine <= theirs or theirs <= mine or (mine | theirs) & (question.names | question.figures):
        return False
    if f" {' '.join(_cut(left).words)} " in f" {' '.join(_cut(b).words)} " or f" {' '.join(_cut(right).words)} " in f" {' '.join(_cut(a).words)} ":
        return False
    if any({w[:STEM] for w in said} <= question.words for said in (mine, theirs)):
        return False
    if question.kind in ("person", "place") and not (_named(left) and _named(right)):
        return False
    if question.kind == "place" and left.count(",") != right.count(","):  # the one may lie in the other
        return False
    return not alike_spelled(left, right)


def _content(text: str) -> frozenset[str]:
    return frozenset(w.removesuffix("'s") for w in row(text).words if w not in SMALL_WORDS and not negated(w) and any(c.isalnum() for c in w))


def _named(text: str) -> bool:
    return any(word[:1].isupper() for word in text.split())
