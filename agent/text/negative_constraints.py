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
"""Words that are as often part of a topic ("cheese without rennet"): they open a refusal only behind a comma
or before an address."""
_CONTRAST = re.compile(_PATTERNS["contrast"], re.IGNORECASE)
_FRAME_STEMS = frozenset(map(stem, load_words("exclusion_frame")))
_NEGATION = re.compile(rf"\b(?:{_PATTERNS['negation']})\b", re.IGNORECASE)
_HOST = re.compile(r"(?<![\w@/.-])((?:[a-z0-9-]+\.)+[a-z]{2,})(?![\w/-])", re.IGNORECASE)


def split_negative_constraints(text: str) -> tuple[str, list[str]]:
    """A text without its refusals, and the refusals, each from its opening word on."""
    wanted: list[str] = []
    refused: list[str] = []
    text = "\n".join(" ".join(line.split()) for line in text.splitlines())
    for sentence in _SENTENCE.split(text):
        while found := _find_opening(sentence):
            end = _find_end(sentence, found.end())
            wanted.append(sentence[: found.start()])
            refused.append(sentence[found.start("word") : end].strip(" ,.;!?"))
            sentence = sentence[end:].lstrip(" ,")
        wanted.append(sentence)
    return " ".join(part.strip() for part in wanted if part.strip()), refused


def keep_topic_constraints(refused: list[str]) -> list[str]:
    """The refusals that name no address and no host: what they mean takes a reader."""
    return [part for part in refused if not find_excluded_sites([part])]


def is_unwanted(refusal: str, *texts: str) -> bool:
    """Do all the words that say what a refusal is about stand in one of these texts (a title, a writer's
    name)?"""
    matter = set(content_stems(refusal)) - _FRAME_STEMS
    return bool(matter) and any(matter <= set(stem_words(text)) for text in texts)


def _find_opening(sentence: str) -> re.Match[str] | None:
    """What opens the first refusal of a sentence: its `word`, and the comma and "and" before that."""
    for match in _CONSTRAINT_OPENING.finditer(sentence):
        apart = not sentence[: match.start()].strip() or "," in sentence[match.start() : match.start("word")]
        if (
            not _AMBIGUOUS_OPENING.fullmatch(match["word"])
            or apart
            or find_excluded_sites([sentence[match.start("word") :]])
        ):
            return match
    return None


def _find_end(sentence: str, behind: int) -> int:
    """Where a refusal that was opened before `behind` ends: where the sentence turns, or refuses something
    else."""
    ends = [turn.start() for turn in [_CONTRAST.search(sentence, behind)] if turn]
    for match in _CONSTRAINT_OPENING.finditer(sentence, behind):
        if (
            not _AMBIGUOUS_OPENING.fullmatch(match["word"])
            or sentence[match.start() : match.start("word")].strip()
        ):
            ends.append(match.start())
            break
    return min(ends, default=len(sentence))


def find_exclusion_sentences(note: str) -> list[str]:
    """The sentences of a note that refuse an address or a site."""
    return [
        part
        for part in _SENTENCE.split(note)
        if _NEGATION.search(part) and (find_urls(part) or _find_hosts(part))
    ]


def remove_exclusion_sentences(note: str) -> str:
    """The note without the sentences that refuse."""
    refused = find_exclusion_sentences(note)
    return " ".join(part for part in _SENTENCE.split(note) if part not in refused).strip()


def find_excluded_sites(notes: Iterable[str]) -> list[str]:
    """The canonical addresses and the hosts that the notes forbid, in order."""
    found: list[str] = []
    for note in notes:
        for part in find_exclusion_sentences(note):
            found += [canonicalize(url) for url in find_urls(part)] + _find_hosts(part)
    return list(dict.fromkeys(found))


def is_excluded(url: str, forbidden: Iterable[str]) -> bool:
    """Is the address one of the forbidden, or on a forbidden host or below it?"""
    name, spelled = host(url), canonicalize(url)
    return any(spelled == entry or name == entry or name.endswith(f".{entry}") for entry in forbidden)


def _find_hosts(text: str) -> list[str]:
    for url in find_urls(text):
        text = text.replace(url, " ")
    return [match.group(1).lower() for match in _HOST.finditer(text)]
