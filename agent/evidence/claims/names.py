"""Names of a claim that neither its quotes nor the titles and the question around them give, and two names
that it joins while its quotes keep them apart: "Berg built Dale Bridge" on a quote of Berg, from the page
"Nord Bridge", and another of Lund, from the page "Dale Bridge"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations, permutations

from agent.evidence.claims.words import Alignment, ReadText, read_text
from agent.text.names import ProperName, find_proper_names
from agent.text.tokens import fold, is_stopword, stem
from agent.types import ClaimFinding

_MIN_PREFIX = 4
"""Letters that a name shares with its adjective at least ("Belgium", "Belgian")."""
_MIN_HOST_NAME = 6
"""Letters of a name that is recognised in a host name."""
_ACRONYM = re.compile(r"\b(?:[A-Z]\.\s?){2,}|\b[A-Z]{2,6}\b")
_GERMAN = frozenset("und ist der das den ein eine nicht im zur zum wird wurde mit sind sich".split())
_ENGLISH = frozenset("the of and was is in to".split()) - {"in"}
"""German function words: German writes every noun with a capital."""
_MAX_NAMES = 12
_APPOSITION = re.compile(r"^,\s(?=(?:the|an?|who|which|whose)\b)")
_INSERTED = re.compile(r"^,\s(?:the|an?|who|which|whose)\b[^,;.]*,(?=\s\w)")
_KEEPS_APART = re.compile(
    r"[,;:.!?()|\n–—]|\b(?:and|or|nor|but|while|whereas|than|like|unlike|as|before|after|since|until|both"
    r"|not|also|too)\b",
    re.IGNORECASE,
)
"""What between two names says that they are not one statement's, or are compared."""


def find_other_names(
    claim: ReadText,
    quotes: Sequence[ReadText],
    context: ReadText,
    alignment: Alignment | None,
    nearby: ReadText | None = None,
) -> list[ClaimFinding]:
    """A doubt for each name that is not given, with the names that stand in the closest sentence instead.

    Where none stands instead, a name is given by the text `nearby`, too."""
    if _GERMAN.intersection(claim.keys) and not _ENGLISH.intersection(claim.keys):
        return []
    sources = [*quotes, context]
    known = KnownNames(sources, _squeeze(context.text))
    values = [(v.start, v.end) for side in (claim.dates, claim.times, claim.quantities) for v in side]
    missing = [
        name
        for name in find_proper_names(claim.text)
        if not any(start < name.end and name.start < end for start, end in values)
        and (  # not one word at the beginning of a sentence, where every word has a capital
            " " in name.text or not any(at <= name.start <= at + 1 for at, _ in claim.sentences)
        )
        and not known.has(name)
    ]
    said = {stem(key) for key in claim.keys}
    instead = [
        name.text
        for name in find_proper_names(alignment.text if alignment else "")
        if not all(stem(fold(word)) in said for word in name.words)
    ]
    if nearby and not instead:
        given = KnownNames([*sources, nearby], _squeeze(context.text))
        missing = [name for name in missing if not given.has(name)]
    return [
        ClaimFinding(kind="name", claimed=text, quoted=", ".join(dict.fromkeys(instead[:3])))
        for text in dict.fromkeys(name.text for name in missing)
    ]


class KnownNames:
    """What the sources name: words, adjectives of names, surnames alone, acronyms with what they stand for;
    and the context without spaces, for names in hosts."""

    def __init__(self, sources: Sequence[ReadText], squeezed: str = "") -> None:
        self.squeezed = squeezed
        self.stems = {stem(key) for source in sources for key in source.keys}
        names = [name for source in sources for name in find_proper_names(source.text)]
        self.parts = [part.lower() for name in names for part in re.split(r"[\s-]", name.text)]
        self.prefixes = {part[:n] for part in self.parts for n in range(_MIN_PREFIX - 1, len(part) + 1)}
        self.alone = {stem(name.text.lower()) for name in names if " " not in name.text}
        self.initials = {_initials(name.text) for name in names}
        self.acronyms = {
            re.sub(r"[^A-Z]", "", match.group())
            for source in sources
            for match in _ACRONYM.finditer(source.text)
        }

    def has(self, name: ProperName) -> bool:
        """Is the name given, in full, by its surname, as an acronym or as an adjective?"""
        words = [w for w in re.split(r"[\s-]|['’]s\b", name.text) if w[:1].isupper() and not is_stopword(w)]
        if all(self._has_word(word) for word in words):
            return True
        if stem(words[-1].lower()) in self.alone:
            return True
        if len(_squeeze(name.text)) >= _MIN_HOST_NAME and _squeeze(name.text) in self.squeezed:
            return True
        return _initials(name.text) in self.acronyms

    def _has_word(self, word: str) -> bool:
        bare = re.sub(r"[^\w]", "", word.lower())
        if len(bare) < 2 or any(c.isdigit() for c in bare) or stem(fold(bare)) in self.stems:
            return True
        if word.isupper() and (bare.upper() in self.acronyms or bare.upper() in self.initials):
            return True
        return bare[: max(_MIN_PREFIX, len(bare) - 3)] in self.prefixes


def _squeeze(text: str) -> str:
    """Letters and digits alone, as a host name writes a name."""
    return re.sub(r"[\W_]", "", text.lower())


def _initials(name: str) -> str:
    return "".join(word[0] for word in re.split(r"[\s-]", name) if word[:1].isupper())


def find_borrowed_names(claim: ReadText, question: ReadText, given: ReadText) -> list[ClaimFinding]:
    """A doubt for each name that only the question has, while the quotes and what stands around them
    (`given`) have another of the same kind: "Dale Bridge" on a page "Nord Bridge"."""
    if not question.words:
        return []
    known, asked = KnownNames([given]), KnownNames([question])
    others = {name.text: name.words for name in find_proper_names(given.text)}
    return [
        ClaimFinding(kind="name", claimed=name.text, quoted=other)
        for name in find_proper_names(claim.text)
        if len(name.words) > 1 and asked.has(name) and not known.has(name)
        for other in [
            text
            for text, words in others.items()
            if name.words & words and name.words - words and words - name.words
        ][:1]
    ]


def find_joined_names(
    claim: ReadText, quotes: Sequence[str], sources: Sequence[str], nearby: Sequence[str]
) -> list[ClaimFinding]:
    """A doubt for each two names in one clause of which no quote, with its page's title and the text around
    it, has both.

    None where a quote leads from one to the other: a name in it is the title of the other's page."""
    if len(quotes) < 2 or len(sources) != len(quotes):
        return []
    around = nearby if len(nearby) == len(quotes) else [""] * len(quotes)
    pages = [f"{source}\n{quote}" for source, quote in zip(sources, quotes, strict=True)]
    known = [KnownNames([read_text(page), read_text(near)]) for page, near in zip(pages, around, strict=True)]
    found = []
    names = find_proper_names(claim.text)
    for one, other in combinations(names[:_MAX_NAMES], 2):
        between = claim.text[one.end : other.start]
        apart = (_APPOSITION.sub("", between), _INSERTED.sub(" ", between))  # one may be in apposition
        if not any(part.strip() and not _KEEPS_APART.search(part) for part in apart):
            continue
        with_one, with_other = ({n for n, k in enumerate(known) if k.has(name)} for name in (one, other))
        if not with_one or not with_other or with_one & with_other:
            continue
        titled = [
            ({name.text.lower() for name in find_proper_names(sources[i])}, pages[i].lower())
            for i in with_one | with_other
        ]
        is_linked = any(
            title in page for (titles, _), (_, page) in permutations(titled, 2) for title in titles
        )
        if not is_linked:
            found.append(ClaimFinding(kind="roles", claimed=f"{one.text} … {other.text}"))
    return found
