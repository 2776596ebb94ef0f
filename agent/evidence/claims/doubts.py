"""Plain differences of a claim from the closest sentence of its quotes, which a judge should look at.

* negation: one side is denied, the other not; a veto where the words are otherwise like;
* roles: two names that change places ("Berg bought Dale", "Dale bought Berg");
* quantifier: "all", "only", "most" in the claim alone, "most", "some" in the quote alone, or a near copy that
  adds or replaces one or two words, or leaves one out after "all", "none" or "few";
* modality: "may", "reportedly", "plans to" in the quote alone;
* comparative, antonym: words of opposite meaning in each other's place (`opposites.txt`, or "un-", "in-").

A word of the quote counts only where it governs words that the claim has too."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from itertools import compress, pairwise, takewhile

from agent.evidence.claims.quoted import is_restrictable
from agent.evidence.claims.words import Alignment, ReadText, Word, list_content, read_text, split_sentences
from agent.text.date_intervals import MONTH_NAMES
from agent.text.normalization import is_negation
from agent.text.tokens import is_stopword, stem
from agent.text.word_lists import read_patterns, read_rows
from agent.types import ClaimFinding, FindingKind

MAX_CHANGES = 2
"""Content words by which a near copy differs at most; at least half of the shorter side is the same."""
MAX_SHORT = 10
"""Content words of a sentence in which one other word changes much.

Both were chosen on 3,541 public examples (DECISIONS.md, "Claim check")."""
_LIGHT_WORDS = (
    "make made do done get got give given gave take took taken go gone come came put down up away back"
)
_LIGHT = frozenset(map(stem, _LIGHT_WORDS.split()))
"""Light verbs and particles, which add little ("is made", "written down")."""
_ARTICLES = frozenset({"a", "an", "the"})
_PRONOUNS = frozenset("it he she they this that these those".split())
_COORDINATION = frozenset({"and", "or", "nor"})
_ONLY_SOME = frozenset("only solely few fewer less least most".split())
"""Words that say another thing of a list than of its members."""
MIN_SHARE = 0.4
"""Least share of the claim's content in a sentence that speaks of the same."""
MIN_WEAKENED_SHARE = 0.5
"""The same for a quote that "may" or "most" makes weaker."""
MIN_LIKE = 0.8
"""Least share of the claim's content, in order, in a sentence of otherwise like words."""
MIN_SAME_WORDS = 0.7
"""Least share of the claim's content in a sentence whose roles are compared.

These were chosen on 3,541 public examples (DECISIONS.md, "Claim check")."""
MAX_DENIED = 5
"""Content words after a negation that it denies at most ("no batteries, wear or damage by fire")."""
_MAX_DENIED_WORDS = 14
_CLAUSE_ENDS = frozenset("but although though while whereas because since until unless than".split())
_JOINTS = _CLAUSE_ENDS | {"and", "or", "nor"}
_STOP, _COMMA = re.compile(r"[.;:!?\n(]"), re.compile(r"[.,;:!?\n()]")
_CALENDAR = frozenset(f"{MONTH_NAMES}|monday|tuesday|wednesday|thursday|friday|saturday|sunday".split("|"))
_BE = frozenset("is are was were be been being".split())
_MAX_PLACES = 60
"""Words of a claim among which changed places are looked for."""
_SCOPE = 2
"""Content words after a negation or quantifier that it governs."""
_NEAR = 3
"""Words on each side among which two opposites share a word."""
_MODAL = frozenset({"possible", "reported", "planned"})
_MARKS = {name: frozenset(words.split()) for name, words in read_patterns("claim_marks").items()}
"""The words of each class."""
_STRONG = frozenset({"universal", "only", "most", "fraction"})
"""Classes that claim more than a quote without them."""
_WEAK = frozenset({"most", "some", *_MODAL})
"""Classes that claim less than a statement without them."""
_DENIAL_WORDS = (
    "lack fail refuse deny free absence unable zero instead except avoid prevent ban stop prohibit forbid"
    " exclude without closed shut"
)
_DENIALS = frozenset(map(stem, _DENIAL_WORDS.split()))
"""Words that deny without being a negation."""
_STAYS = frozenset(map(stem, "stay remain keep unchanged".split()))
"""Words that say that nothing changes."""
_FREE = frozenset({stem("free"), stem("none"), stem("nothing")})
"""Words that say that there is nothing of a thing."""
_PRICES = frozenset(map(stem, "cost price charge fee pay paid fare admission".split()))
"""Words that say that a thing has a price."""
_ONLY = frozenset("only just merely simply".split())
_PREFIXES = ("un", "in", "im", "dis", "non", "ir", "il", "mis")
_COMPARATIVE_WORDS = "more less fewer greater smaller higher lower larger faster slower longer shorter"
_COMPARATIVES = frozenset(map(stem, _COMPARATIVE_WORDS.split()))


def find_changed_words(
    alignment: Alignment, context: ReadText, around: Sequence[ReadText]
) -> Iterator[ClaimFinding]:
    """One or two content words that differ in an otherwise same sentence: added ones where it is short, left
    out ones where the claim speaks of all, none or few. Words of the context (titles), or `around` the
    sentence, may be added, or stand for "these medications"."""
    known, given = ({stem(key) for text in texts for key in text.keys} for texts in ([context], around))
    added = len(alignment.claimed) - alignment.in_order
    dropped = len(alignment.quoted) - alignment.in_order
    least = min(len(alignment.claimed), len(alignment.quoted))
    if not 0 < added + dropped <= MAX_CHANGES or 2 * alignment.in_order < least:
        return
    keys = [word.key for word in alignment.claim]
    is_restricted = any(is_restrictable(keys, n) for n in range(len(keys)))
    said, there = ({stemmed for stemmed, _ in side} for side in (alignment.claimed, alignment.quoted))
    new, dropped_words, groups = said - there, there - said - _find_spare(alignment), _read_synonyms()
    same = [(a, b) for a in new for b in dropped_words if groups.get(a, set()) & groups.get(b, set())]
    new, dropped_words = new - {one for one, _ in same}, dropped_words - {other for _, other in same}
    if new and new <= known | given:
        words = alignment.sentence
        dropped_words -= {stem(b.key) for a, b in pairwise(words) if a.key in ("this", "these")}
    if not dropped_words:
        new -= known | given
    if not (is_restricted and dropped_words) and (not new or (not dropped_words and new <= _LIGHT)):
        return
    is_short = max(len(alignment.claimed), len(alignment.quoted)) <= MAX_SHORT
    if is_restricted or (is_short and any(one[0].isalpha() and one not in known for one in new)):
        edits = alignment.edits
        claimed = [w.text for _, _, _, start, end in edits for _, w in alignment.claimed[start:end]]
        quoted = [w.text for _, start, end, _, _ in edits for _, w in alignment.quoted[start:end]]
        kind: FindingKind = "antonym" if claimed and quoted and not is_restricted else "quantifier"
        yield ClaimFinding(kind=kind, claimed=" … ".join(claimed), quoted=" … ".join(quoted))


def _find_spare(alignment: Alignment) -> set[str]:
    """Words of the sentence that a claim may leave out although it denies, or speaks of all: a subject for
    which it has a pronoun, and one member of a list."""
    words = alignment.sentence
    keys = [word.key for word in alignment.claim]
    spare = set[str]()
    if keys[0] in _PRONOUNS:
        subject = takewhile(lambda word: word.key not in keys, (w for w in words if w.key not in _ARTICLES))
        spare |= {stem(word.key) for word in subject}
    if not _ONLY_SOME.intersection(keys):
        for n, word in enumerate(words[:-1]):
            after = words[n + 1]
            if word.key in _COORDINATION and _ends_item(words, n + 1):
                spare.add(stem(after.key))
            elif after.key in _COORDINATION or (_ends_item(words, n) and not is_stopword(after.key)):
                spare.add(stem(word.key))
    return spare


def _ends_item(words: Sequence[Word], n: int) -> bool:
    """Does punctuation or a function word, or nothing, follow word `n`?"""
    following = words[n + 1 : n + 2]
    return not following or following[0].start - words[n].end > 1 or is_stopword(following[0].key)


@cache
def _read_synonyms() -> Mapping[str, set[int]]:
    """The groups of each stem."""
    groups: dict[str, set[int]] = defaultdict(set)
    for n, row in enumerate(read_rows("synonyms")):
        for word in row.split():
            groups[stem(word)].add(n)
    return groups


def find_doubts(
    quotes: Sequence[ReadText],
    alignment: Alignment,
    context: ReadText,
    nearby: ReadText | None = None,
    before: str = "",
) -> list[ClaimFinding]:
    """The differences of a claim from its closest sentence; what the context, the quotes or the text `before`
    name may be added, and what is denied `nearby` is denied. A negation in otherwise like words is a veto."""
    around = [*quotes, nearby] if nearby else quotes
    opposites = list(_compare_opposites(alignment))
    found = [
        *_compare_negation(alignment, quotes, around, may_veto=not opposites),
        *_compare_marks(alignment, quotes),
        *opposites,
        *_compare_roles(alignment),
    ]
    return found or list(find_changed_words(alignment, context, [*quotes, read_text(before)]))


def _compare_negation(
    alignment: Alignment, quotes: Sequence[ReadText], around: Sequence[ReadText], may_veto: bool
) -> Iterator[ClaimFinding]:
    """What is denied on one side only; no veto beside opposites ("under 16 not", "over 16")."""
    said, there = (_stems(side) for side in (alignment.claimed, alignment.quoted))
    all_claimed, all_quoted = _leave_out_common(alignment)
    claimed = [n for n in all_claimed if not _is_addition(alignment.claim, n, alignment.sentence)]
    quoted = [
        n
        for n in all_quoted
        if _governs(alignment.sentence, n, said) and not _is_addition(alignment.sentence, n, alignment.claim)
    ]
    if not claimed and not quoted:
        if _find_negations(alignment.claim, is_answer=True):
            return
        yield from _find_denied_words(alignment, around)
        yield from _find_free(alignment, quotes)
        return
    if claimed and all_quoted:
        return
    denied = {stemmed for n in claimed for stemmed, _ in list_content(alignment.claim[n + 1 : n + 8])[:1]}
    everywhere = {stemmed for quote in quotes for stemmed, _ in list_content(quote.words)}
    if not quoted and (
        _denies(there, said)
        or bool(_FREE & everywhere)
        or any(  # a sentence that shares two words with the claim says that nothing changes
            _STAYS & stems and len(stems & said) > 1
            for quote in quotes
            for _, words in split_sentences(quote)
            for stems in [_stems(list_content(words))]
        )
        or any(  # another sentence of the quotes denies it, too
            _governs(quote.words, n, denied) for quote in quotes for n in _find_negations(quote.words)
        )
    ):
        return
    if not claimed and (_denies(said, there) or alignment.share < MIN_SHARE):
        return
    yield ClaimFinding(
        kind="negation",
        claimed=_join_around(alignment.claim, claimed),
        quoted=_join_around(alignment.sentence, quoted),
        is_veto=may_veto and len(said) > 1 and alignment.in_order >= MIN_LIKE * len(alignment.claimed),
    )


def _leave_out_common(alignment: Alignment) -> tuple[list[int], list[int]]:
    """The negations of claim and sentence without those that both have of the same next word."""
    claimed, quoted = (
        {n: (words[n].key, _stems(list_content(words[n + 1 : n + 8])[:1])) for n in found}
        for words, found in (
            (alignment.claim, _find_negations(alignment.claim, is_answer=True)),
            (alignment.sentence, _find_negations(alignment.sentence)),
        )
    )
    common = [denied for denied in claimed.values() if denied[1] and denied in quoted.values()]
    return [n for n in claimed if claimed[n] not in common], [n for n in quoted if quoted[n] not in common]


def _find_denied_words(alignment: Alignment, quotes: Sequence[ReadText]) -> Iterator[ClaimFinding]:
    """A word of the claim that stands in the quotes only under a negation, up to the clause's end."""
    content = [pair for quote in quotes for pair in list_content(quote.words)]
    times = Counter(stemmed for stemmed, _ in content)
    denied = Counter[str]()
    places = dict[str, str]()
    for quote in quotes:
        for n in _find_negations(quote.words):
            found = _list_denied(quote, n)
            span = [quote.words[n], *(word for _, word in found[:_NEAR])]
            for stemmed, _ in found:
                denied[stemmed] += 1
                start, end = min(word.start for word in span), max(word.end for word in span)
                places[stemmed] = " ".join(quote.text[start:end].split())
    for stemmed, word in alignment.claimed:
        if denied[stemmed] and denied[stemmed] >= times[stemmed]:
            yield ClaimFinding(kind="negation", claimed=word.text, quoted=places[stemmed])
            return


def _find_free(alignment: Alignment, quotes: Sequence[ReadText]) -> Iterator[ClaimFinding]:
    """ "Free" in the claim where no quote says so, nor denies a charge or what the claim is free of; or where
    the closest sentence gives a price."""
    free = [n for n, word in enumerate(alignment.claim) if word.key == "free"]
    if not free or "free" in {word.key for word in alignment.sentence}:
        return
    priced = [n for n, word in enumerate(alignment.sentence) if stem(word.key) in _PRICES]
    freed = _PRICES | {stemmed for stemmed, _ in list_content(alignment.claim[free[0] + 1 :])[:1]}
    is_denied = any(
        stem(word.key) in freed
        for quote in quotes
        for n in _find_negations(quote.words)
        for word in quote.words[max(0, n - _NEAR) : n + _NEAR + 1]
    )
    if priced or not (is_denied or any("free" in quote.keys for quote in quotes)):
        yield ClaimFinding(
            kind="negation",
            claimed=_join_around(alignment.claim, free[:1]),
            quoted=_join_around(alignment.sentence, priced[:1]),
        )


def _list_denied(quote: ReadText, n: int) -> list[tuple[str, Word]]:
    """The content words that the negation at word `n` denies: those after it to the end of its clause, or
    before it where it ends the clause ("meals are not")."""
    following = quote.words[n + 1 : n + _MAX_DENIED_WORDS]
    if following and following[0].key in _ONLY:
        return []
    ends = [
        k
        for k, word in enumerate(following)
        if word.key in _CLAUSE_ENDS or _has_break(quote, n + 1 + k, _STOP)
    ]
    if following and (not ends or ends[0]):
        return list_content(following[: ends[0]] if ends else following)[:MAX_DENIED]
    first = n
    while first and quote.words[first - 1].key not in _JOINTS and not _has_break(quote, first, _COMMA):
        first -= 1
    return list_content(quote.words[first:n])[-MAX_DENIED:]


def _has_break(quote: ReadText, n: int, sign: re.Pattern[str]) -> bool:
    """Does such a sign stand before word `n`?"""
    return bool(sign.search(quote.text, quote.words[n - 1].end, quote.words[n].start))


def _stems(content: Collection[tuple[str, Word]]) -> set[str]:
    return {stemmed for stemmed, _ in content}


def _find_negations(words: Sequence[Word], is_answer: bool = False) -> list[int]:
    """The places of negations, without the "No, …" that an answer may begin with, and without "not only …
    but", which denies nothing."""
    keys = [word.key for word in words]
    opens = is_answer and len(words) > 1 and words[0].key == "no"
    first = 1 if opens and words[1].start - words[0].end > 1 else 0
    return [
        n
        for n, key in enumerate(keys)
        if n >= first
        and is_negation(key)
        and key != "non"
        and not (keys[n + 1 : n + 2] == ["only"] and "but" in keys[n + 2 :])
    ]


def _is_addition(words: Sequence[Word], n: int, other: Sequence[Word]) -> bool:
    """Is it the "not only" of one that adds something, without an "only" on the other side?"""
    key = words[n + 1].key if n + 1 < len(words) else ""
    return key in _ONLY and all(word.key != key for word in other)


def _denies(side: set[str], other: set[str]) -> bool:
    """Does one side deny without a negation: "lack", "fail", or "un-" before a word of the other?"""
    return bool(_DENIALS & side) or any(_has_denying_prefix(word, other) for word in side)


def _has_denying_prefix(word: str, others: Collection[str]) -> bool:
    return any(
        word.startswith(prefix) and len(word) > len(prefix) + 2 and word[len(prefix) :] in others
        for prefix in _PREFIXES
    )


def _governs(words: Sequence[Word], n: int, stems: set[str]) -> bool:
    """Is one of the next content words after word `n` among these stems?"""
    return any(stemmed in stems for stemmed, _ in list_content(words[n + 1 : n + 8])[:_SCOPE])


def _join_around(words: Sequence[Word], places: Sequence[int]) -> str:
    """Each word at these places with the next three, as a reader finds them in the text."""
    return " … ".join(" ".join(word.text for word in words[n : n + 4]) for n in places)


def _compare_marks(alignment: Alignment, quotes: Sequence[ReadText]) -> Iterator[ClaimFinding]:
    said = _stems(alignment.claimed)
    for name, words in _MARKS.items():
        kind: FindingKind = "modality" if name in _MODAL else "quantifier"
        claimed, quoted = (_find_marks(side, words) for side in (alignment.claim, alignment.sentence))
        if name in _STRONG and claimed and not any(words.intersection(quote.keys) for quote in quotes):
            yield ClaimFinding(kind=kind, claimed=_join_around(alignment.claim, claimed))
        if name in _WEAK and quoted and not claimed and alignment.share >= MIN_WEAKENED_SHARE:
            governing = [n for n in quoted if _governs(alignment.sentence, n, said)]
            if governing:
                yield ClaimFinding(kind=kind, quoted=_join_around(alignment.sentence, governing))


def _find_marks(words: Sequence[Word], marks: frozenset[str]) -> list[int]:
    """The places of these words; "most" only before "of" or a plural, "would" only before "have"."""
    return [
        n
        for n, word in enumerate(words)
        if word.key in marks
        and not (
            word.key == "most" and not any(w.key == "of" or w.key[-1:] == "s" for w in words[n + 1 : n + 2])
        )
        and not (word.key == "would" and words[n + 1 : n + 2] and words[n + 1].key != "have")
    ]


@cache
def _read_opposites() -> dict[str, set[str]]:
    """The stems of opposite meaning of each stem."""
    pairs: dict[str, set[str]] = defaultdict(set)
    for row in read_rows("opposites"):
        left, right = ({stem(word) for word in side.split()} for side in row.split("|"))
        for one, other in ((left, right), (right, left)):
            for word in one:
                pairs[word] |= other
    return pairs


def _compare_opposites(alignment: Alignment) -> Iterator[ClaimFinding]:
    """Words of opposite meaning of claim and sentence that stand near the same content word."""
    if alignment.share < MIN_SHARE:
        return
    claimed, quoted = ({stem(w.key): w for w in side} for side in (alignment.claim, alignment.sentence))
    for stemmed in sorted(claimed.keys() - quoted.keys()):
        opposites = _read_opposites().get(stemmed, set())
        for other in sorted(quoted.keys() - claimed.keys()):
            prefixed = _has_denying_prefix(stemmed, {other}) or _has_denying_prefix(other, {stemmed})
            if not (other in opposites or prefixed):
                continue
            near, near_there = (
                {
                    stem(w.key)
                    for n, word in enumerate(words)
                    if stem(word.key) == one
                    for w in words[max(0, n - _NEAR) : n + _NEAR + 1]
                }
                for words, one in ((alignment.claim, stemmed), (alignment.sentence, other))
            )
            if near & near_there & _stems(alignment.claimed):
                kind: FindingKind = "comparative" if stemmed in _COMPARATIVES else "antonym"
                yield ClaimFinding(kind=kind, claimed=claimed[stemmed].text, quoted=quoted[other].text)


def _compare_roles(alignment: Alignment) -> Iterator[ClaimFinding]:
    """Two names that change places around a word between them; or that do not, while one side is passive
    ("Berg bought Dale", "Berg was bought by Dale")."""
    if alignment.share < MIN_SAME_WORDS:
        return
    participles = [  # the words between a form of "be" and a "by" that is not before a figure
        {
            stem(between.key)
            for n, word in enumerate(words[:-1])
            if word.key == "by" and words[n + 1].key[0].isalpha()
            for k in range(max(0, n - _NEAR - 1), n)
            if words[k].key in _BE
            for between in words[k + 1 : n]
        }
        for words in (alignment.claim, alignment.sentence)
    ]
    times = Counter(stemmed for side in (alignment.claimed, alignment.quoted) for stemmed, _ in side)
    there = {stemmed: (n, word.text) for n, (stemmed, word) in enumerate(alignment.quoted)}
    places = [  # in the claim's order: the place in the sentence, the word, and how the sentence writes it
        (there[stemmed][0], word, there[stemmed][1])
        for stemmed, word in alignment.claimed
        if stemmed in there and times[stemmed] == 2
    ][:_MAX_PLACES]
    named = [_is_name(mine.text) and _is_name(there) for _, mine, there in places]
    for n, (at, middle, middle_there) in enumerate(places):
        if not middle.text[:1].islower():
            continue
        passive = [stem(middle.key) in found for found in participles]
        for a in compress(places[:n], named):
            for b in compress(places[n + 1 :], named[n + 1 :]):
                is_swapped, is_kept = a[0] > at > b[0], a[0] < at < b[0]
                is_kept |= passive[1] and at < b[0] < a[0]
                if is_swapped if passive[0] == passive[1] else is_kept:
                    by = [" … by" if is_passive else " …" for is_passive in passive]
                    first, last = (b, a) if is_swapped else (a, b)
                    yield ClaimFinding(
                        kind="roles",
                        claimed=f"{a[1].text} … {middle.text}{by[0]} {b[1].text}",
                        quoted=f"{first[2]} … {middle_there}{by[1]} {last[2]}",
                    )
                    return


def _is_name(word: str) -> bool:
    return word[:1].isupper() and word.lower() not in _CALENDAR
