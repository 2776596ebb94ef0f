"""What of the passages makes an answer, word for word: the section that is asked for, else the sentences that
bear most.

Nothing is told that only stands beside what was asked. Knows passages and a question, no run."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent.retrieval.extractive_answer import (
    MAX_WORDS,
    SECTION_WEIGHT,
    Quotation,
    choose_asking_text,
    make_quotation,
    quote_section,
    rank_sentences,
    score_required_terms,
    score_section,
    split_units,
)
from agent.retrieval.relevance import ScoredSentence
from agent.retrieval.required_terms import collect_prefixes, find_required_terms
from agent.retrieval.sections import Section, group_sections
from agent.text.question_analysis import COMMON_WORD_WEIGHT, ParsedQuestion, parse_question
from agent.text.tokens import stem, stem_prefix, tokenize
from agent.text.word_lists import load_words
from agent.types import Passage

MIN_SECTION_SCORE = 0.72
"""How much of the question title and heading must name for a section to be the answer."""
MIN_SHARE_OF_BEST = 0.7
"""A sentence joins the answer that bears at least this share of what the best one bears."""
MIN_SHARE_OF_BEST_FACT, _FACT_KINDS = 0.85, ("number", "date", "place", "person")
"""The same where one fact is asked for."""
MIN_SHARE_OF_RIVAL = 0.6
"""A section answers only when it bears at least this share of what the best sentence bears."""
MAX_SENTENCES = 4
"""The sentences that bear most, when no section answers; each may bring the one after it."""
MAX_FRAGMENT_WORDS = 3
"""Words of a line that says nothing by itself."""
MAX_WORDS_ALL_REQUIRED = 2
"""Up to so many words that are asked about have to be met each."""
_CONTINUATION = re.compile(
    r"^[\"'“‘(]*(?:it|its|they|their|them|this|these|those|that|such|he|she|his|her|we|you|both|each|then|there|here|if|otherwise|however|but|and|also"
    r"|in addition|instead|therefore|thus|so|for example|er|sie|es|dies\w*|das|den|det|de|detta|dessa|il|elle|ils|elles|cela)\b",
    re.IGNORECASE,
)


_YES_OR_NO = re.compile(
    rf"^\W*(?:(?:and|but|so|or)\W+)?(?:{'|'.join(sorted(load_words('auxiliaries')))})\b", re.IGNORECASE
)
_PRONOUN = re.compile(
    r"\b(?:it|its|they|them|their|this|these|you|your|we|our|yes|no|both|all|each)\b", re.IGNORECASE
)


def choose_quotes(
    question: str, own: str, passages: Sequence[Passage], about: frozenset[str] = frozenset()
) -> list[Quotation]:
    """The quotes of the answer in reading order: of the section that is asked for, else the best sentences
    and what goes on from them."""
    return quote_best_section(question, own, passages, about) or _choose_sentences(
        question, own, passages, about
    )


def quote_best_section(
    question: str, own: str, passages: Sequence[Passage], about: frozenset[str] = frozenset()
) -> list[Quotation]:
    """The sentences of the section whose title and heading name what is asked, from its start; none when no
    section does."""
    asked, typed = parse_question(question), parse_question(own)
    exact = find_required_terms(choose_asking_text(question, own), about)
    found = [
        section
        for section in group_sections(passages)
        if not exact.missing_exact_terms(_section_words(section))
    ]
    best = max(found, key=lambda section: score_section(asked, typed, section), default=None)
    said = score_section(asked, typed, best) if best else 0.0
    if best is None or said < MIN_SECTION_SCORE:
        return []
    rival = max(
        (candidate.score for candidate in rank_sentences(question, own, passages, about)[:1]), default=0.0
    )
    return quote_section(asked, best) if SECTION_WEIGHT * said >= MIN_SHARE_OF_RIVAL * rival else []


def find_unanswered_words(
    asking: str, quotes: Sequence[Quotation], passages: Sequence[Passage], about: frozenset[str] = frozenset()
) -> list[str]:
    """The words asked about that the quotes, their titles and headings do not speak of, as the question
    spells them; none where they say enough: all of one or two such words, at least half of more."""
    asks = find_required_terms(asking, about)
    wanted = {
        word for word, weight in asks.words.items() if weight > COMMON_WORD_WEIGHT and word not in asks.exact
    }
    homes = {
        (passage.page_id, quote.quote): passage
        for quote in quotes
        for passage in passages
        if quote.quote in passage.text
    }
    told = [homes[quote.page_id, quote.quote] for quote in quotes if (quote.page_id, quote.quote) in homes]
    here = collect_prefixes(
        [*(quote.quote for quote in quotes), *(f"{passage.title} {passage.heading}" for passage in told)]
    )
    unmet = {word for word in wanted if not asks.is_term_met(word, here)}
    if not quotes or not unmet or (len(wanted) > MAX_WORDS_ALL_REQUIRED and 2 * len(unmet) <= len(wanted)):
        return []
    return list(dict.fromkeys(word for word in tokenize(asking) if stem_prefix(stem(word)) in unmet))


def _section_words(section: Section) -> frozenset[str]:
    return collect_prefixes([section.passages[0].title, section.heading, section.text])


def _choose_sentences(
    question: str, own: str, passages: Sequence[Passage], about: frozenset[str]
) -> list[Quotation]:
    """The best sentences and rows that hold every code and name asked about and speak to what is asked as
    much as any near them does."""
    asked, asking = parse_question(question), choose_asking_text(question, own)
    found = [
        candidate
        for candidate in rank_sentences(question, own, passages, about)
        if candidate.passage.rows or len(candidate.quote.split()) > MAX_FRAGMENT_WORDS
    ]
    rivals = [
        candidate
        for candidate in found
        if not _lacks_required_name(asking, candidate, about)
        and _mentions_subject(question, candidate, about)
    ]
    least = MIN_SHARE_OF_BEST_FACT if asked.answer_type in _FACT_KINDS else MIN_SHARE_OF_BEST
    near = [candidate for candidate in rivals[:MAX_SENTENCES] if candidate.score >= least * rivals[0].score]
    speaks = [score_required_terms(asking, candidate, about) for candidate in near]
    chosen: list[Quotation] = []
    room = MAX_WORDS
    for candidate in [
        candidate for candidate, share in zip(near, speaks, strict=True) if share or not any(speaks)
    ]:
        for quote in _with_continuation(candidate, asked):
            words = len(quote.split())
            if any(quote == other.quote for other in chosen) or (chosen and words > room):
                continue
            chosen.append(make_quotation(asked, candidate.passage, quote, candidate.score))
            room -= words
    return chosen


def _lacks_required_name(asking: str, candidate: ScoredSentence, about: frozenset[str]) -> bool:
    """Is a code or a name that is asked about missing from a sentence, its heading and its title?"""
    return bool(
        find_required_terms(asking, about).missing_exact_terms(
            candidate.words | collect_prefixes([candidate.passage.title, candidate.passage.heading])
        )
    )


def _mentions_subject(question: str, candidate: ScoredSentence, about: frozenset[str]) -> bool:
    """Does a sentence itself speak of the thing that a yes-or-no question is about, by name or by pointing at
    it? A row speaks of its page's thing.

    "Does the C2 come in blue?" is not answered by "Hold the blue key", though it stands on a page about the
    C2."""
    if candidate.passage.rows or not _YES_OR_NO.match(question):
        return True
    thing = parse_question(question).prefix_weights.keys() & (
        about | collect_prefixes([candidate.passage.title])
    )
    return not thing or not candidate.words.isdisjoint(thing) or bool(_PRONOUN.search(candidate.quote))


def _with_continuation(candidate: ScoredSentence, asked: ParsedQuestion) -> list[str]:
    """A sentence, and the one after it in its paragraph when that goes on from it or speaks of what is asked;
    a row is whole."""
    if candidate.passage.rows:
        return [candidate.quote]
    text = candidate.passage.text
    end = text.find(candidate.quote) + len(candidate.quote)
    around = split_units(candidate.passage)
    at = around.index(candidate.quote) if candidate.quote in around else -1
    following = [
        quote
        for quote in (around[at + 1 : at + 2] if at >= 0 else [])
        if "\n" not in text[end : text.find(quote, end)]
    ]
    following = [
        quote
        for quote in following
        if _CONTINUATION.match(quote) or not asked.prefix_weights.keys().isdisjoint(collect_prefixes([quote]))
    ]
    return [
        quote
        for quote in (candidate.quote, *following)
        if len(quote.split()) > MAX_FRAGMENT_WORDS and not quote.endswith("?")
    ]
