"""Cuts passages into what can answer in one line: a sentence, a definition with its term, a table row, a list
with its introduction, a line of code. Knows passages, no question."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from agent.retrieval.passages import last_heading, split_sentences
from agent.text.tokens import stem_prefix, stem_words
from agent.types import Passage

ELLIPSIS = " … "
MAX_WORDS = 40
"""Words of one candidate (the issue's limit of a lead); a longer one is cut at a clause or word."""
MAX_STRETCHES = 5
"""Items of a list or lines of code in one candidate: a quote is verified up to six stretches."""
MAX_SENTENCES_AFTER_TERM = 12
"""Sentences of one definition that are looked at."""
_CLAUSE_END = re.compile(r"[,;:.)\]—–]$")
_ITEM_MARK = re.compile(r"^\s*(?:[-*•‣◦·–]|\d{1,2}[.)])\s+")


@dataclass(frozen=True)
class Candidate:
    """A line that may answer. `quote` is verbatim (stretches joined by "…"), `statement` what is shown,
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
    for n, sentence in enumerate(sentences[:MAX_SENTENCES_AFTER_TERM]):
        if not sentence:
            continue
        short = shorten(sentence, max(12, room))
        quote = short
        if has_term:
            between = " " if n == 0 else ELLIPSIS
            quote = passage.label + between + short
        yield quote, f"{label} — {short}" if label else short, sentence


def _cut_list(passage: Passage) -> Iterator[Cut]:
    """The list from its introduction on, then its items with it."""
    lines = [line.strip() for line in passage.text.split("\n") if line.strip()]
    intro = passage.label.strip()
    if lines and intro and " ".join(intro.split()).startswith(" ".join(lines[0].split())):
        rest = (
            passage.text[len(passage.label) :]
            if passage.text.startswith(passage.label)
            else "\n".join(lines[1:])
        )
        lines = [line.strip() for line in rest.split("\n") if line.strip()]
    items = [_ITEM_MARK.sub("", line) for line in lines]
    if not items:
        return
    is_intro_here = bool(intro) and passage.text.startswith(passage.label)
    taken, room = list[str](), MAX_WORDS - len(intro.split())
    for item in items:
        short = shorten(item, max(6, min(12, room)))
        if taken and (len(short.split()) > room or len(taken) == MAX_STRETCHES):
            break
        taken.append(short)
        room -= len(short.split())
    quote = ELLIPSIS.join([intro] * is_intro_here + taken)
    yield quote, " ".join(filter(None, [intro, "; ".join(taken)])), " ".join(items)
    for item in items:
        for sentence in split_sentences(passage.replace(text=item, kind="prose")) or [item]:
            short = shorten(sentence)
            yield short, short, sentence


def _cut_code(passage: Passage) -> Iterator[Cut]:
    label = passage.label.strip()
    is_label_here = bool(label) and passage.text.startswith(passage.label)
    text = passage.text[len(passage.label) :] if is_label_here else passage.text
    lines = [line.rstrip() for line in text.split("\n") if line.strip()]
    room = MAX_WORDS - len(label.split())
    taken = list[str]()
    for line in lines:
        if taken and (len(line.split()) > room or len(taken) == MAX_STRETCHES):
            break
        taken.append(line)
        room -= len(line.split())
    if not taken:
        return
    quote = ELLIPSIS.join([label] * is_label_here + [line.strip() for line in taken])
    yield quote, "\n".join(filter(None, [label, *taken])), text


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
