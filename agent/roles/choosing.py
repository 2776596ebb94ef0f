"""Which facts make the answer, and whether they answer at all: the keyless writer's choice among what the run knows.

Two regressions over the facts of some 1,300 finished runs, rounded: one for "does this quote hold the answer?", one for "do these
facts cover the question, or were they merely the nearest to be had?". Their inputs are counts of words, so they hold for what
they were measured on (encyclopedia questions in English); the constants say so openly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import exp, log

from agent.roles.answering import fact_score
from agent.text.chains import bridges, closes, follows, spaced
from agent.text.coverage import folded_names
from agent.text.expected import holds
from agent.text.leads import bare, named
from agent.text.question import NAME, Asked, read
from agent.text.words import rough, stems
from agent.types import Fact
from agent.urls import host

BEARING, EARLY, EARLY_HOPS, OPENING, LED_TO, LED_TO_HOPS, RARE, FITS = 1.8, 1.6, 0.8, 0.4, 1.5, 1.8, 1.2, 0.6
"""Weights of a fact: its own score; its page having been read first (less when the question takes several pages); opening its page;
its page being named in another good fact (and holding the kind of thing asked for); holding those of the question's words that few
facts hold; holding the kind of thing asked for."""
LAST = 0.7
"""The least that a chain's last link counts: a quote that closes what all others left open."""
ON_PAGE = 0.6
"""What a quote counts whose page speaks of a name that leads there, against one that speaks of it itself."""
FRAME = 1.5
"""What a line loses that stands on several pages of one host: it is the site's frame, not what a page says."""
SAME_PAGE = 0.2
"""What each fact already chosen from a page takes from the page's others."""
BEHIND = 1.4
"""A fact this far behind the best is not told."""
PINNED = 10.0
"""What lifts a pinned fact above all others; it does not put the others behind."""
NOTED = 0.35
"""The least score of a fact that is told for a person's note."""
CERTAIN = (-3.1, 1.45, 0.8, 1.7, 1.0, 0.83, 0.09)
"""Intercept, best fact, its coverage with title, best page's coverage, share of that title in the question, word pairs, words asked."""
BESIDE_THE_POINT = -1.5
"""When none of two or more words that say what is asked (all but the names) stands in any quote."""
GIVEN = 1.5
"""When the person named the page: then its subject need not stand in the question."""


def weighed(question: str, facts: Sequence[Fact]) -> list[tuple[float, Fact]]:
    """Each fact with its weight for the answer, best first; a pinned one is above all others."""
    asked = read(question)
    bags = [_rough(fact.quote) for fact in facts]
    own = [fact_score(question, fact) for fact in facts]
    rarity = _rarity(asked, bags)
    order = {step: n for n, step in enumerate(sorted({fact.step for fact in facts}))}
    led_to = _led_to(asked, facts, own)
    known = folded_names(asked)
    repeated = Counter((host(fact.url), fact.quote) for fact in facts)
    scored = []
    for n, fact in enumerate(facts):
        fits = 0.5 if asked.kind in ("thing", "manner") else float(holds(asked.kind, fact.quote, known))
        score = BEARING * own[n] + (EARLY_HOPS if asked.hops else EARLY) / (1 + order[fact.step])
        score += OPENING * (0 <= fact.start <= len(fact.title) + 40) + FITS * fits
        score += RARE * sum(weight for word, weight in rarity.items() if word in bags[n])
        score += led_to[n] * (LED_TO + LED_TO_HOPS * fits * asked.hops)
        score -= FRAME * (repeated[host(fact.url), fact.quote] > 1)
        scored.append((round(score + PINNED * (fact.decision == "pinned"), 4), fact))
    return sorted(scored, key=lambda entry: -entry[0])


def chosen(question: str, facts: Sequence[Fact], *, words: int, sentences: int) -> list[Fact]:
    """The facts that make the answer, best first, within a number of words and sentences; pages are mixed a little."""
    pool = weighed(question, facts)
    least = max((score - PINNED * (fact.decision == "pinned") for score, fact in pool), default=0.0) - BEHIND
    taken: list[Fact] = []
    pages: Counter[str] = Counter()
    room = words
    while pool and len(taken) < sentences:
        score, fact = max(pool, key=lambda entry: entry[0] - SAME_PAGE * pages[entry[1].url])
        pool.remove((score, fact))
        length = len(told(fact).split())
        if score < least and fact.decision != "pinned":
            break
        if (length <= room or not taken) and not _said(fact, taken):
            taken.append(fact)
            pages[fact.url] += 1
            room -= length
    return taken


def for_note(note: str, facts: Sequence[Fact]) -> list[Fact]:
    """Up to two facts that bear on a person's note; none when the note asks for nothing that is known."""
    return [fact for fact in chosen(note, facts, words=50, sentences=2) if fact_score(note, fact) >= NOTED]


def told(fact: Fact) -> str:
    """The statement; with its page's title in front when a keyless one would not say what it is about."""
    title = bare(fact.title)
    if fact.by != "keyless" or not title or len(title) > 60 or set(stems(title)) & set(stems(fact.statement)):
        return fact.statement
    return f"{title}: {fact.statement}"


def answerable(question: str, facts: Sequence[Fact], *, given: bool = False) -> float:
    """The estimated probability that the facts answer the question (0..1); 1 when a person pinned one, 0 without any.

    `given`: the person named the page that was read first.
    """
    if not facts:
        return 0.0
    if any(fact.decision == "pinned" for fact in facts):
        return 1.0
    asked = read(question)
    own = [fact_score(question, fact) for fact in facts]
    best = facts[max(range(len(facts)), key=lambda n: own[n])]
    pages: dict[str, set[str]] = {}
    for fact in facts:
        pages.setdefault(fact.url, set()).update(_rough(f"{fact.quote} {fact.title}"))
    inputs = (
        1.0,
        max(own),
        max(_covered(asked, _rough(f"{fact.quote} {fact.title}")) for fact in facts),
        max(_covered(asked, words) for words in pages.values()),
        named(asked, best.title)[0],
        max(_pairs(asked, fact.quote) for fact in facts),
        float(min(12, len(asked.rough))),
    )
    logit = sum(weight * value for weight, value in zip(CERTAIN, inputs, strict=True)) + GIVEN * given
    point = {word for word, weight in asked.rough.items() if weight < NAME}
    if len(point) >= 2 and not point & frozenset().union(*(_rough(fact.quote) for fact in facts)):
        logit += BESIDE_THE_POINT
    return round(1 / (1 + exp(-logit)), 4)


def _rough(text: str) -> frozenset[str]:
    return frozenset(rough(word) for word in stems(text))


def _covered(asked: Asked, words: set[str] | frozenset[str]) -> float:
    return sum(weight for word, weight in asked.rough.items() if word in words) / (sum(asked.rough.values()) or 1.0)


def _pairs(asked: Asked, quote: str) -> float:
    words = stems(quote)
    return len(asked.pairs.intersection(pairwise(words))) / (len(asked.pairs) or 1)


def _rarity(asked: Asked, bags: Sequence[frozenset[str]]) -> dict[str, float]:
    """How much each of the question's words tells these facts apart; sums to 1."""
    seen = Counter(word for bag in bags for word in bag if word in asked.rough)
    rare = {word: log(1 + (len(bags) + 0.5) / (seen[word] + 0.5)) for word in asked.rough}
    total = sum(rare.values()) or 1.0
    return {word: weight / total for word, weight in rare.items()}


def _led_to(asked: Asked, facts: Sequence[Fact], own: Sequence[float]) -> list[float]:
    """For each fact: how good the best fact of another page is that leads to this one's. Pages the question names need no lead.

    A quote leads to a page that it names; it leads half as surely to a page that speaks of someone it names, and the more so the
    more of what it left open is closed there.
    """
    led: list[float] = []
    outright = {fact.url: named(asked, fact.title)[1] for fact in facts}
    pages: dict[str, str] = {}
    for fact in facts:
        pages[fact.url] = pages.get(fact.url, spaced(fact.title)) + spaced(fact.quote)
    top = max(own, default=0.0) or 1.0
    by_fact = {fact.id: score / top for fact, score in zip(facts, own, strict=True)}
    best = sorted(range(len(facts)), key=lambda n: -own[n])[:10]
    spoken = [(facts[n], spaced(facts[n].quote), own[n] * (1.0 if outright[facts[n].url] else 0.5)) for n in best]
    offered = [(bridge, by_fact[bridge.fact.id]) for bridge in (bridges(asked, facts) if asked.hops else [])]
    for fact in facts:
        title, quote, words = spaced(bare(fact.title)), spaced(fact.quote), _rough(fact.quote)
        by = [worth for other, told_there, worth in spoken if other.url != fact.url and len(title) > 5 and title in told_there]
        for bridge, worth in offered:
            if bridge.fact.url != fact.url and follows(bridge, pages[fact.url]):
                open_here, open_yet = closes(bridge, words)
                closed = max(worth * open_here, max(worth, LAST) * open_yet)
                by.append(closed * (1.0 if follows(bridge, quote) else ON_PAGE))
        led.append(0.0 if outright[fact.url] else max(by, default=0.0))
    return led


def _said(fact: Fact, taken: Sequence[Fact]) -> bool:
    """Is it word for word what another chosen fact says (a copy on another page)?"""
    return any(fact.statement == other.statement for other in taken)
