"""Cuts passages into what can answer in one line: a sentence, a definition with its term, a table row, a list
with its introduction, a line of code. Knows passages, no question."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from agent.retrieval.passages import last_heading, split_sentences
from agent.text.tokens import (
    stem_prefix,
    stem_words,
)
from agent.types import Passage

MAX_WORDS = 40
"""Words of one candidate (what a lead may have at most); a longer one is cut at a clause or word."""
MAX_SENTENCES_AFTER_TERM = 12
"""Sentences of one definition that are looked at."""
_CLAUSE_END = re.compile(r"[,;:.)\]—–]$")


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
    cut = {"rows": _cut_rows, "definition": _cut_definition}
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
