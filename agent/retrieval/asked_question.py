"""A question as retrieval sees it: the shape that is asked for, its words with weights, what it is about.

A word's weight is its inverse document frequency: no list says which words matter. Knows no run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.retrieval.scorer import REFERENCE_PASSAGES, CollectionCounts, compute_idf, count_words, join_head
from agent.text.answer_type import Shape, detect_shape
from agent.text.identifiers import find_codes, find_unmistakable_codes, is_same_code
from agent.text.names import find_names, find_proper_names
from agent.text.question_analysis import strip_question
from agent.text.tokens import (
    content_stems,
    find_function_words,
    fold,
    has_unspaced_script,
    stem,
    stem_prefix,
    stem_words,
    tokenize,
)
from agent.text.word_lists import load_words
from agent.types import Passage

# What of a question stands nowhere: options ("--sort-by-size"), identifiers ("max_wal_threads"), codes
# ("E17") and proper names. A question about a thing that no passage names is not answered.
#
# Never a verb, a function word or another form of a word: those are spelled in many ways, these in one.


_IDENTIFIER = re.compile(
    r"(?<![\w-])(?:--?[A-Za-z][\w-]*\w|\w*[^\W\d_]_\w+|[a-z]+[A-Z]\w+|[A-Z][a-z0-9]+[A-Z]\w+|[A-Za-z]\w*\.[a-z_]\w+)"
    r"(?![\w-])"
)
"""An option, snake_case, camelCase, CamelCase, a dotted name."""
_BEGINNING = re.compile(r"(?:^|[.?!:])\s*$|\w$")
"""What stands before a capital that begins a sentence, or stands inside a word."""
MIN_NAME_LETTERS = 3
"""Shorter ones are rather codes of a table than names."""


def find_missing_terms(
    question: str, passages: Sequence[Passage], counts: CollectionCounts | None = None
) -> tuple[str, ...]:
    """The identifiers, codes and names of the question of which no passage holds every word. `counts` tell
    which words stand anywhere in the collection."""
    texts = [f"{p.title}\n{p.heading}\n{p.label}\n{p.text}" for p in passages]
    whole = fold("\n".join(texts))
    missing = [
        found.group()
        for found in _IDENTIFIER.finditer(question)
        if not re.search(rf"(?<![\w-]){re.escape(fold(found.group()))}(?!\w)", whole)
    ]
    if codes := find_unmistakable_codes(question):
        held = {code for text in texts for code in find_codes(text)}
        if not any(is_same_code(code, other) for code in codes for other in held):
            missing += codes
    for name in _find_asked_names(question):  # all of its words must stand somewhere, in any form
        words = [word for word in tokenize(name) if len(word) > 1]
        if not all(
            (counts is not None and counts.document_frequencies.get(stem(word), 0) > 0)
            or re.search(rf"(?<!\w)(?:{re.escape(stem_prefix(stem(word)))}|{re.escape(word)})", whole)
            for word in words
        ):
            missing.append(name)
    return tuple(dict.fromkeys(missing))


def _find_asked_names(question: str) -> list[str]:
    """The names of a question, without a capital that only begins it."""
    words = tokenize(question)
    german = find_function_words(words, "de")
    if german and german == find_function_words(words):  # every noun has a capital
        return []
    return [
        name.text
        for name in find_proper_names(question)
        if not _BEGINNING.search(question[: name.start])
        and len(name.text) >= MIN_NAME_LETTERS
        and not any(letter.isdigit() for letter in name.text)
    ]


CODE_WEIGHT = 2.0
"""What a code weighs beside the rarest word: a verb that no page has ("fix E17") does not outweigh it.
Our own judgement: no question set asks for one."""
_LETTER = re.compile(r"(?<!\w)[\"'‘“„«`]([^\W_])[\"'’”“»`](?!\w)|(?<![\w'’.-])([B-HJ-Zb-hj-z])(?![\w'’.-])")
_CORE = re.compile(r"[\"'‘“„«]([^\"'’”“»]+)[\"'’”“»]?|(?<!\w)(-{0,2}\w*[_\d]\w*|--?\w[\w-]*|[A-Z]{2,})(?!\w)")


@dataclass(frozen=True, eq=False)
class Asked:
    """What a question asks: its shape, the weights of its words by stem prefix, and what it is about."""

    shape: Shape
    weights: Mapping[str, float]
    codes: Mapping[str, re.Pattern[str]]
    """Codes and single letters of the question ("what does 'H' mean", "E17"), by their name in `weights`, and
    how to find one; those that no passage holds are left out (see `find_missing_terms`)."""
    subject: tuple[str, ...]
    """The stems of X in "what is X", in order."""
    frame: frozenset[str]
    """The stem prefixes of the words that name the shape: a line that has the shape need not hold them."""
    words: frozenset[str]
    """All words of the question, folded."""
    names: frozenset[str]

    def share(self, words: frozenset[str], power: float = 1.0) -> float:
        """The share of the question's weight that these words have; with a power above 1 the rare words count
        for more."""
        total = sum(float(weight**power) for weight in self.weights.values()) or 1.0
        return sum(float(weight**power) for word, weight in self.weights.items() if word in words) / total


def analyze_question(question: str, passages: Sequence[Passage], counts: CollectionCounts | None) -> Asked:
    """The question with its words weighed over the collection of `counts`, or over these passages."""
    text = strip_question(question) or question
    shape = detect_shape(text)
    asked_codes = frozenset(find_unmistakable_codes(text))
    chatter = frozenset(map(stem, load_words("chatter")))
    if shape.subjects and has_unspaced_script(text):  # pairs of characters span the words of the frame
        text = " ".join(shape.subjects)
    content = [word for word in content_stems(text) if word not in asked_codes]
    stems = [word for word in content if word not in chatter] or content
    weights: dict[str, float] = {}
    for word, idf in compute_idf(stems, counts or count_at_hand(stems, passages)).items():
        weights[stem_prefix(word)] = max(idf, weights.get(stem_prefix(word), 0.0))
    texts = [f"{join_head(passage)}\n{passage.text}" for passage in passages]
    letters = {quoted or bare for quoted, bare in _LETTER.findall(text)}
    found = {
        f"={letter}": re.compile(rf"(?<![\w-])(?<!\w['’]){re.escape(letter)}(?!\w|['’]\w)")
        for letter in letters
    }
    for code in find_unmistakable_codes(text):
        number = code.lstrip("abcdefghijklmnopqrstuvwxyz")
        begin = code.removesuffix(number) or "[a-z]{0,8}"
        found[f"={code}"] = re.compile(rf"(?<![\w.,]){begin}[-_ ]?{number}(?![\w])", re.IGNORECASE)
    codes = {key: one for key, one in found.items() if any(map(one.search, texts))}
    weights |= dict.fromkeys(codes, CODE_WEIGHT * max(weights.values(), default=1.0))
    frame = frozenset(stem_prefix(word) for word in stem_words(shape.frame)) & weights.keys()
    return Asked(
        shape=shape,
        weights=weights,
        codes=codes,
        subject=_find_subject(shape),
        frame=frame if len(frame) < len(weights) else frozenset(),
        words=frozenset(fold(text).split()) | frozenset(tokenize(text)),
        names=frozenset(fold(name) for name in find_names(text)),
    )


def count_at_hand(stems: Sequence[str], passages: Sequence[Passage]) -> CollectionCounts:
    """Words counted over the passages at hand, as the best of a collection of `REFERENCE_PASSAGES`."""
    return CollectionCounts(max(REFERENCE_PASSAGES, len(passages)), count_words(stems, passages))


def _find_subject(shape: Shape) -> tuple[str, ...]:
    """Of "the device file ttyS0" what is quoted or looks like a code, else all words."""
    if shape.kind != "definition" or not shape.subjects:
        return ()
    found = _CORE.search(shape.subjects[0])
    core = (found[1] or found[2]) if found else shape.subjects[0]
    return () if find_function_words(tokenize(core)) >= set(tokenize(core)) else tuple(content_stems(core))
