"""What of a question stands nowhere: options ("--sort-by-size"), identifiers ("max_wal_threads"), codes
("E17") and proper names. A question about a thing that no passage names is not answered.

Never a verb, a function word or another form of a word: those are spelled in many ways, these in one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent.retrieval.scorer import CollectionCounts
from agent.text.identifiers import find_codes, find_unmistakable_codes, is_same_code
from agent.text.names import find_proper_names
from agent.text.tokens import find_function_words, fold, stem, stem_prefix, tokenize
from agent.types import Passage

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
    if (codes := find_unmistakable_codes(question)) and not _has_code(codes, texts):
        missing += codes
    missing += [name for name in _find_asked_names(question) if not _stands(name, whole, counts)]
    return tuple(dict.fromkeys(missing))


def _has_code(wanted: Sequence[str], texts: Sequence[str]) -> bool:
    held = {code for text in texts for code in find_codes(text)}
    return any(is_same_code(code, other) for code in wanted for other in held)


def _find_asked_names(question: str) -> list[str]:
    """The names of a question, without a capital that only begins it."""
    if _is_german(question):  # every noun has a capital
        return []
    return [
        name.text
        for name in find_proper_names(question)
        if not _BEGINNING.search(question[: name.start])
        and len(name.text) >= MIN_NAME_LETTERS
        and not any(letter.isdigit() for letter in name.text)
    ]


def _is_german(question: str) -> bool:
    """Whether most function words of a text are German."""
    words = tokenize(question)
    return bool(find_function_words(words, "de")) and find_function_words(words, "de") == find_function_words(
        words
    )


def _stands(name: str, whole: str, counts: CollectionCounts | None) -> bool:
    """Whether all words of a name stand somewhere, in any form."""
    words = [word for word in tokenize(name) if len(word) > 1]
    return all(
        (counts is not None and counts.document_frequencies.get(stem(word), 0) > 0)
        or re.search(rf"(?<!\w)(?:{re.escape(stem_prefix(stem(word)))}|{re.escape(word)})", whole)
        for word in words
    )
