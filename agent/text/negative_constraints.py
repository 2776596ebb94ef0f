"""What a request excludes: "news about X, not from a.example; leave out threads about dividends".

An exclusion begins at a word such as "leave out" and ends with its sentence or at "but …"; a "not" inside a
request ("what members do not like") is none. A sentence with a negation excludes the addresses and hosts in
it. A site that is only described ("the wiki") is left to a model."""

from __future__ import annotations

import re
from collections.abc import Iterable

from agent.text.tokens import content_stems, stem, stem_words
from agent.text.urls import canonicalize, find_urls, host
from agent.text.word_lists import load_words, read_patterns

_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_PATTERNS = read_patterns("exclusions")
_CONSTRAINT_OPENING = re.compile(
    r"(?:,\s*|\s+)?(?:\b(?:and|but|und|och|et|y|aber|men|mais|pero)\s+)?(?:please\s+)?"
    rf"\b(?P<word>{_PATTERNS['opening'].replace('{item}', '(?:' + _PATTERNS['item'] + ')')})\b",
    re.IGNORECASE,
)
_AMBIGUOUS_OPENING = re.compile(r"(?:without|ohne|utan|sans|sin)$", re.IGNORECASE)
"""Words that are as often part of a topic ("cheese without rennet"): they open an exclusion only after a
comma or before an address."""
_CONTRAST = re.compile(_PATTERNS["contrast"], re.IGNORECASE)
_FRAME_STEMS = frozenset(map(stem, load_words("exclusion_frame")))
_NEGATION = re.compile(rf"\b(?:{_PATTERNS['negation']})\b", re.IGNORECASE)
_HOST = re.compile(r"(?<![\w@/.-])((?:[a-z0-9-]+\.)+[a-z]{2,})(?![\w/-])", re.IGNORECASE)


def split_negative_constraints(text: str) -> tuple[str, list[str]]:
    """A text without its exclusions, and the exclusions, each from its opening word on."""
    wanted: list[str] = []
    excluded: list[str] = []
    text = "\n".join(" ".join(line.split()) for line in text.splitlines())
    for sentence in _SENTENCE.split(text):
        while opening := _find_opening(sentence):
            # The end of an exclusion whose opening ends at `start`: at a contrast, or at the next
            # exclusion
            start = opening.end()
            ends = [contrast.start() for contrast in [_CONTRAST.search(sentence, start)] if contrast]
            for match in _CONSTRAINT_OPENING.finditer(sentence, start):
                has_joint = sentence[match.start() : match.start("word")].strip()
                if has_joint or not _AMBIGUOUS_OPENING.fullmatch(match["word"]):
                    ends.append(match.start())
                    break
            end = min(ends, default=len(sentence))
            wanted.append(sentence[: opening.start()])
            excluded.append(sentence[opening.start("word") : end].strip(" ,.;!?"))
            sentence = sentence[end:].lstrip(" ,")
        wanted.append(sentence)
    return " ".join(part.strip() for part in wanted if part.strip()), excluded


def keep_topic_constraints(exclusions: list[str]) -> list[str]:
    """The exclusions that name no address and no host."""
    return [exclusion for exclusion in exclusions if not find_excluded_sites([exclusion])]


def is_unwanted(exclusion: str, *texts: str) -> bool:
    """Does one of these texts (a title, an author) have all words that say what is excluded?"""
    topic = set(content_stems(exclusion)) - _FRAME_STEMS
    return bool(topic) and any(topic <= set(stem_words(text)) for text in texts)


def _find_opening(sentence: str) -> re.Match[str] | None:
    """The opening of a sentence's first exclusion: its `word`, and the comma and "and" before."""
    for match in _CONSTRAINT_OPENING.finditer(sentence):
        before, rest = sentence[: match.start("word")], sentence[match.start("word") :]
        is_separate = not sentence[: match.start()].strip() or "," in before[match.start() :]
        is_ambiguous = _AMBIGUOUS_OPENING.fullmatch(match["word"])
        if not is_ambiguous or is_separate or find_excluded_sites([rest]):
            return match
    return None


def remove_exclusion_sentences(note: str) -> str:
    """The note without the sentences that exclude an address or a site."""
    return " ".join(part for part in _SENTENCE.split(note) if not _find_sites(part)).strip()


def find_excluded_sites(notes: Iterable[str]) -> list[str]:
    """The canonical addresses and the hosts that the notes exclude, in order."""
    found = (site for note in notes for part in _SENTENCE.split(note) for site in _find_sites(part))
    return list(dict.fromkeys(found))


def is_excluded(url: str, excluded: Iterable[str]) -> bool:
    """Is the address excluded, or on an excluded host or below it?"""
    name, spelled = host(url), canonicalize(url)
    return any(spelled == entry or name == entry or name.endswith(f".{entry}") for entry in excluded)


def _find_sites(sentence: str) -> list[str]:
    """The canonical addresses and the hosts of a sentence with a negation."""
    if not _NEGATION.search(sentence):
        return []
    urls = find_urls(sentence)
    for url in urls:
        sentence = sentence.replace(url, " ")
    return [*map(canonicalize, urls), *(match.group(1).lower() for match in _HOST.finditer(sentence))]
