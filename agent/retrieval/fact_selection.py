"""Which facts make the answer, and whether they answer at all: the keyless writer's choice among what the run
knows.

Two regressions over the facts of some 1,300 finished runs, rounded: one for "does this quote hold the
answer?", one for "do these facts cover the question, or were they merely the nearest to be had?". Their
inputs are counts of words, so they hold for what they were measured on (encyclopedia questions in English);
the constants say so openly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import exp, log

from agent.retrieval.link_scoring import match_title, strip_title_suffix
from agent.retrieval.multi_hop import find_bridges, has_bridge_name, join_tokens, measure_bridge_gain
from agent.retrieval.relevance import score_fact
from agent.retrieval.term_coverage import folded_names
from agent.text.answer_type import has_answer_type
from agent.text.question_analysis import NAME_WEIGHT, ParsedQuestion, parse_question
from agent.text.tokens import stem_prefix, stem_words
from agent.text.urls import host
from agent.types import Fact

(
    RELEVANCE_WEIGHT,
    EARLY_PAGE_WEIGHT,
    EARLY_PAGE_WEIGHT_MULTI_HOP,
    OPENING_WEIGHT,
    LINKED_WEIGHT,
    LINKED_WEIGHT_MULTI_HOP,
    RARE_WORDS_WEIGHT,
    ANSWER_TYPE_WEIGHT,
) = 1.8, 1.6, 0.8, 0.4, 1.5, 1.8, 1.2, 0.6
"""Weights of a fact: its own score; its page having been read first (less when the question takes several
pages); opening its page; its page being named in another good fact (and holding the kind of thing asked for);
holding those of the question's words that few facts hold; holding the kind of thing asked for."""
MIN_LAST_HOP_WEIGHT = 0.7
"""The least that a chain's last link counts: a quote that closes what all others left open."""
SAME_PAGE_MENTION_WEIGHT = 0.6
"""What a quote counts whose page speaks of a name that leads there, against one that speaks of it itself."""
BOILERPLATE_PENALTY = 1.5
"""What a line loses that stands on several pages of one host: it is the site's frame, not what a page
says."""
SAME_PAGE_PENALTY = 0.2
"""What each fact already chosen from a page takes from the page's others."""
MAX_GAP_TO_BEST = 1.4
"""A fact this far behind the best is not told."""
PINNED_BONUS = 10.0
"""What lifts a pinned fact above all others; it does not put the others behind."""
MIN_NOTE_SCORE = 0.35
"""The least score of a fact that is told for a person's note."""
ANSWER_COEFFICIENTS = (-3.1, 1.45, 0.8, 1.7, 1.0, 0.83, 0.09)
"""Intercept, best fact, its coverage with title, best page's coverage, share of that title in the question,
word pairs, words asked."""
OFF_TOPIC_LOGIT = -1.5
"""When none of two or more words that say what is asked (all but the names) stands in any quote."""
GIVEN_PAGE_LOGIT = 1.5
"""When the person named the page: then its subject need not stand in the question."""


def weigh_facts(question: str, facts: Sequence[Fact]) -> list[tuple[float, Fact]]:
    """Each fact with its weight for the answer, best first; a pinned one is above all others."""
    asked = parse_question(question)
    bags = [_stem_set(fact.quote) for fact in facts]
    own = [score_fact(question, fact) for fact in facts]
    rarity = _compute_rarity(asked, bags)
    order = {step: n for n, step in enumerate(sorted({fact.step for fact in facts}))}
    led_to = _score_incoming_leads(asked, facts, own)
    known = folded_names(asked)
    repeated = Counter((host(fact.url), fact.quote) for fact in facts)
    scored = []
    for n, fact in enumerate(facts):
        fits = (
            0.5
            if asked.answer_type in ("thing", "manner")
            else float(has_answer_type(asked.answer_type, fact.quote, known))
        )
        score = RELEVANCE_WEIGHT * own[n] + (
            EARLY_PAGE_WEIGHT_MULTI_HOP if asked.is_multi_hop else EARLY_PAGE_WEIGHT
        ) / (1 + order[fact.step])
        score += OPENING_WEIGHT * (0 <= fact.start <= len(fact.title) + 40) + ANSWER_TYPE_WEIGHT * fits
        score += RARE_WORDS_WEIGHT * sum(weight for word, weight in rarity.items() if word in bags[n])
        score += led_to[n] * (LINKED_WEIGHT + LINKED_WEIGHT_MULTI_HOP * fits * asked.is_multi_hop)
        score -= BOILERPLATE_PENALTY * (repeated[host(fact.url), fact.quote] > 1)
        scored.append((round(score + PINNED_BONUS * (fact.decision == "pinned"), 4), fact))
    return sorted(scored, key=lambda entry: -entry[0])


def choose_facts(question: str, facts: Sequence[Fact], *, words: int, sentences: int) -> list[Fact]:
    """The facts that make the answer, best first, within a number of words and sentences; pages are mixed a
    little."""
    pool = weigh_facts(question, facts)
    least = (
        max((score - PINNED_BONUS * (fact.decision == "pinned") for score, fact in pool), default=0.0)
        - MAX_GAP_TO_BEST
    )
    taken: list[Fact] = []
    pages: Counter[str] = Counter()
    room = words
    while pool and len(taken) < sentences:
        score, fact = max(pool, key=lambda entry: entry[0] - SAME_PAGE_PENALTY * pages[entry[1].url])
        pool.remove((score, fact))
        length = len(render_statement(fact).split())
        if score < least and fact.decision != "pinned":
            break
        if (length <= room or not taken) and not _is_repeated(fact, taken):
            taken.append(fact)
            pages[fact.url] += 1
            room -= length
    return taken


def choose_facts_for_note(note: str, facts: Sequence[Fact]) -> list[Fact]:
    """Up to two facts that bear on a person's note; none when the note asks for nothing that is known."""
    return [
        fact
        for fact in choose_facts(note, facts, words=50, sentences=2)
        if score_fact(note, fact) >= MIN_NOTE_SCORE
    ]


def render_statement(fact: Fact) -> str:
    """The statement; with its page's title in front when a keyless one would not say what it is about."""
    title = strip_title_suffix(fact.title)
    if (
        fact.by != "keyless"
        or not title
        or len(title) > 60
        or set(stem_words(title)) & set(stem_words(fact.statement))
    ):
        return fact.statement
    return f"{title}: {fact.statement}"


def estimate_answer_probability(question: str, facts: Sequence[Fact], *, given: bool = False) -> float:
    """The estimated probability that the facts answer the question (0..1); 1 when a person pinned one, 0
    without any.

    `given`: the person named the page that was read first."""
    if not facts:
        return 0.0
    if any(fact.decision == "pinned" for fact in facts):
        return 1.0
    asked = parse_question(question)
    own = [score_fact(question, fact) for fact in facts]
    best = facts[max(range(len(facts)), key=lambda n: own[n])]
    pages: dict[str, set[str]] = {}
    for fact in facts:
        pages.setdefault(fact.url, set()).update(_stem_set(f"{fact.quote} {fact.title}"))
    inputs = (
        1.0,
        max(own),
        max(_covered_share(asked, _stem_set(f"{fact.quote} {fact.title}")) for fact in facts),
        max(_covered_share(asked, words) for words in pages.values()),
        match_title(asked, best.title)[0],
        max(_shared_pairs_share(asked, fact.quote) for fact in facts),
        float(min(12, len(asked.prefix_weights))),
    )
    logit = (
        sum(weight * value for weight, value in zip(ANSWER_COEFFICIENTS, inputs, strict=True))
        + GIVEN_PAGE_LOGIT * given
    )
    point = {word for word, weight in asked.prefix_weights.items() if weight < NAME_WEIGHT}
    if len(point) >= 2 and not point & frozenset().union(*(_stem_set(fact.quote) for fact in facts)):
        logit += OFF_TOPIC_LOGIT
    return round(1 / (1 + exp(-logit)), 4)


def _stem_set(text: str) -> frozenset[str]:
    return frozenset(stem_prefix(word) for word in stem_words(text))


def _covered_share(asked: ParsedQuestion, words: set[str] | frozenset[str]) -> float:
    return sum(weight for word, weight in asked.prefix_weights.items() if word in words) / (
        sum(asked.prefix_weights.values()) or 1.0
    )


def _shared_pairs_share(asked: ParsedQuestion, quote: str) -> float:
    words = stem_words(quote)
    return len(asked.bigrams.intersection(pairwise(words))) / (len(asked.bigrams) or 1)


def _compute_rarity(asked: ParsedQuestion, bags: Sequence[frozenset[str]]) -> dict[str, float]:
    """How much each of the question's words tells these facts apart; sums to 1."""
    seen = Counter(word for bag in bags for word in bag if word in asked.prefix_weights)
    rare = {word: log(1 + (len(bags) + 0.5) / (seen[word] + 0.5)) for word in asked.prefix_weights}
    total = sum(rare.values()) or 1.0
    return {word: weight / total for word, weight in rare.items()}


def _score_incoming_leads(asked: ParsedQuestion, facts: Sequence[Fact], own: Sequence[float]) -> list[float]:
    """For each fact: how good the best fact of another page is that leads to this one's. Pages the question
    names need no lead.

    A quote leads to a page that it names; it leads half as surely to a page that speaks of someone it names,
    and the more so the more of what it left open is closed there."""
    led: list[float] = []
    outright = {fact.url: match_title(asked, fact.title)[1] for fact in facts}
    pages: dict[str, str] = {}
    for fact in facts:
        pages[fact.url] = pages.get(fact.url, join_tokens(fact.title)) + join_tokens(fact.quote)
    top = max(own, default=0.0) or 1.0
    by_fact = {fact.id: score / top for fact, score in zip(facts, own, strict=True)}
    best = sorted(range(len(facts)), key=lambda n: -own[n])[:10]
    spoken = [
        (facts[n], join_tokens(facts[n].quote), own[n] * (1.0 if outright[facts[n].url] else 0.5))
        for n in best
    ]
    offered = [
        (bridge, by_fact[bridge.fact.id])
        for bridge in (find_bridges(asked, facts) if asked.is_multi_hop else [])
    ]
    for fact in facts:
        title, quote, words = (
            join_tokens(strip_title_suffix(fact.title)),
            join_tokens(fact.quote),
            _stem_set(fact.quote),
        )
        by = [
            worth
            for other, told_there, worth in spoken
            if other.url != fact.url and len(title) > 5 and title in told_there
        ]
        for bridge, worth in offered:
            if bridge.fact.url != fact.url and has_bridge_name(bridge, pages[fact.url]):
                open_here, open_yet = measure_bridge_gain(bridge, words)
                closed = max(worth * open_here, max(worth, MIN_LAST_HOP_WEIGHT) * open_yet)
                by.append(closed * (1.0 if has_bridge_name(bridge, quote) else SAME_PAGE_MENTION_WEIGHT))
        led.append(0.0 if outright[fact.url] else max(by, default=0.0))
    return led


def _is_repeated(fact: Fact, taken: Sequence[Fact]) -> bool:
    """Is it word for word what another chosen fact says (a copy on another page)?"""
    return any(fact.statement == other.statement for other in taken)
