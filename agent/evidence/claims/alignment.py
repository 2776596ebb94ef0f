"""The sentence of the quotes that a claim is closest to, and how their content words match, in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property

from agent.evidence.claims.words import ReadText, Word
from agent.text.normalization import ELLIPSIS, is_negation
from agent.text.tokens import is_stopword, stem

_MAX_WORDS = 300
"""Content words of a claim that are aligned; a sentence is at most 600 characters long."""


@dataclass(frozen=True)
class Alignment:
    """A claim's words beside those of the closest sentence. The lists of content are (stem, word) pairs."""

    claim: tuple[Word, ...]
    sentence: tuple[Word, ...]
    text: str
    """The sentence as it is written."""

    @cached_property
    def claimed(self) -> list[tuple[str, Word]]:
        """The claim's content words."""
        return list_content(self.claim)[:_MAX_WORDS]

    @cached_property
    def quoted(self) -> list[tuple[str, Word]]:
        """The sentence's content words."""
        return list_content(self.sentence)[:_MAX_WORDS]

    @cached_property
    def share(self) -> float:
        """The share of the claim's content that the sentence has, in any order."""
        claimed = {stemmed for stemmed, _ in self.claimed}
        return len(claimed & {stemmed for stemmed, _ in self.quoted}) / len(claimed) if claimed else 0.0

    @cached_property
    def edits(self) -> list[tuple[str, int, int, int, int]]:
        """What turns the sentence's content into the claim's, as opcodes of `SequenceMatcher`."""
        sentence, claim = [[s for s, _ in side] for side in (self.quoted, self.claimed)]
        codes = SequenceMatcher(None, sentence, claim, autojunk=False).get_opcodes()
        return [code for code in codes if code[0] != "equal"]

    @cached_property
    def in_order(self) -> int:
        """How many of the claim's content words the sentence has in the same order."""
        return len(self.claimed) - sum(code[4] - code[3] for code in self.edits)

    @property
    def changed_words(self) -> tuple[str, str]:
        """The content words that only the claim has, and that only the sentence has, as they are written."""
        claimed = [w.text for _, _, _, start, end in self.edits for _, w in self.claimed[start:end]]
        quoted = [w.text for _, start, end, _, _ in self.edits for _, w in self.quoted[start:end]]
        return " … ".join(claimed), " … ".join(quoted)


def align(claim: ReadText, quotes: Sequence[ReadText]) -> Alignment | None:
    """The claim beside the sentence that shares most of its content; None without any sentence."""
    wanted = {stemmed for stemmed, _ in list_content(claim.words)}
    best: tuple[int, int, ReadText, tuple[int, int], tuple[Word, ...]] | None = None
    for quote in quotes:
        for span, words in split_sentences(quote):
            shared = len(wanted & {stemmed for stemmed, _ in list_content(words)})
            if best is None or (shared, -len(words)) > best[:2]:
                best = shared, -len(words), quote, span, words
    if best is None:
        return None
    return Alignment(claim.words, best[4], best[2].text[slice(*best[3])])


def split_sentences(quote: ReadText) -> list[tuple[tuple[int, int], tuple[Word, ...]]]:
    """The sentences of a quote: offsets and words."""
    found, n = [], 0
    for start, end in quote.sentences:
        while n < len(quote.words) and quote.words[n].start < start:
            n += 1
        first = n
        while n < len(quote.words) and quote.words[n].start < end:
            n += 1
        found.append(((start, end), quote.words[first:n]))
    return found


def list_content(words: Sequence[Word]) -> list[tuple[str, Word]]:
    """The content words with their stems: no function words, negations, possessive marks."""
    return [
        (stem(word.key), word)
        for word in words
        if word.key not in ("'s", ELLIPSIS) and not is_negation(word.key) and not is_stopword(word.key)
    ]
