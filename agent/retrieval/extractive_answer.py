"""Which stretch of a site's pages answers a question, by rule: a section whose heading names the matter, else
the best sentences.

Knows passages and a question, no run. A score of 1 means that title, heading and words say all that is asked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent.retrieval.relevance import ScoredSentence, describe_row, find_topic, score_sentences
from agent.retrieval.required_terms import (
    RequiredTerms,
    collect_prefixes,
    find_required_terms,
    find_subject_words,
)
from agent.retrieval.sections import Section, find_synonyms, group_sections
from agent.text.answer_type import has_answer_type
from agent.text.question_analysis import COMMON_WORD_WEIGHT, ParsedQuestion, parse_question
from agent.text.sentences import find_sentence_spans
from agent.text.tokens import content_stems, stem, stem_prefix, stem_words, tokenize
from agent.text.urls import host
from agent.text.word_lists import STOPWORDS
from agent.types import Passage

MAX_WORDS = 110
"""Words of an answer at most."""
MAX_QUOTES = 5
"""Quotes that are kept as facts of one page."""
MIN_SCORE = 0.2
"""The least score of a sentence that is kept as a fact."""
OFF_TOPIC_PENALTY = 0.5
"""What a sentence loses that speaks to nothing of what is asked about the thing."""
ROW_WEIGHT, ROW_ANSWER_TYPE_WEIGHT = 0.7, 0.2
"""What a row is worth that is the entry of the thing asked about, and what holding the kind of thing asked
for adds."""
OWN_WORDS_SHARE = 0.6
"""How much of a sentence's score comes from the turn's own words, when the conversation lends it others."""
SECTION_WEIGHT = 0.9
"""What a section is worth whose title and heading name all that is asked, against a sentence that says it
all."""
SYNONYM_WEIGHT, OPENING_WEIGHT = 0.8, 0.55
"""What a word counts that a heading means by another word, and one that stands in a section's opening
only."""
OPENING_CHARS = 160
_PARENTHESES = re.compile(r"\([^)]*\)")
_DATE_LINE = re.compile(
    r"^(?:last\s+)?(?:updated|modified|changed|reviewed|published|posted|zuletzt|stand|senast|uppdaterad|mis à jour|actualizado)\b.{0,60}$",
    re.IGNORECASE,
)
"""A line that says when a page was written, not what it says."""


@dataclass(frozen=True)
class Quotation:
    """Verbatim words of a stored page and what they are taken to say."""

    page_id: str
    quote: str
    statement: str = ""
    subject: str = ""
    attribute: str = ""
    score: float = 0.0


def rank_sentences(
    question: str, own: str, passages: Sequence[Passage], about: frozenset[str] = frozenset()
) -> list[ScoredSentence]:
    """The sentences and rows by how well they answer. `question` stands alone; `own` is the turn as it was
    typed.

    A turn of a conversation is scored both ways: what it asks in its own words counts OWN of it, for on a
    site about one thing the words that the conversation lends it are everywhere. A sentence that says nothing
    of what is asked about the thing falls behind."""
    lent = _raise_row_scores(question, score_sentences(question, passages))
    if own != question and has_content_words(own):
        typed = {
            (c.passage.id, c.quote): c.score for c in _raise_row_scores(own, score_sentences(own, passages))
        }
        lent = [
            replace(
                c, score=OWN_WORDS_SHARE * typed[(c.passage.id, c.quote)] + (1 - OWN_WORDS_SHARE) * c.score
            )
            for c in lent
        ]
    pointed = [
        replace(
            c,
            score=round(
                c.score
                * (
                    1
                    - OFF_TOPIC_PENALTY
                    + OFF_TOPIC_PENALTY * score_required_terms(choose_asking_text(question, own), c, about)
                ),
                4,
            ),
        )
        for c in lent
    ]
    return sorted(pointed, key=lambda candidate: -candidate.score)


def choose_asking_text(question: str, own: str) -> str:
    """The text that says what is asked: the turn as it was typed, unless it has no telling word of its
    own."""
    return own if has_content_words(own) and find_required_terms(own).words else question


def score_required_terms(
    asking: str, candidate: ScoredSentence, about: frozenset[str] = frozenset()
) -> float:
    """The share of what is asked about the thing that a sentence and its heading speak to; the thing stands
    in the title."""
    asks = find_required_terms(asking, about | collect_prefixes([candidate.passage.title]))
    share = asks.covered_share(candidate.words | collect_prefixes([candidate.passage.heading]))
    return share if asks.has_specific_words else (1 + share) / 2


def find_uncovered_words(
    asking: str, passages: Sequence[Passage], about: frozenset[str] = frozenset()
) -> list[str]:
    """The words without which there is no answer, as the question spells them: codes and names that no page
    holds; all that is asked about the thing, when no page speaks of any of it."""
    asks, known = find_required_terms(asking, about), frozenset().union(*collect_page_words(passages))
    lacking = asks.missing_exact_terms(known)
    if not lacking and asks.words and asks.has_specific_words and asks.covered_share(known) == 0:
        lacking = frozenset(word for word, weight in asks.words.items() if weight > COMMON_WORD_WEIGHT)
    return list(dict.fromkeys(word for word in tokenize(asking) if stem_prefix(stem(word)) in lacking))


def find_passage_subjects(passages: Sequence[Passage]) -> frozenset[str]:
    """What these pages are about as a whole: the (rough) words on most of them, and those of their hosts."""
    return find_subject_words(collect_page_words(passages)) | collect_prefixes(
        {host(passage.url).replace(".", " ") for passage in passages}
    )


def collect_page_words(passages: Sequence[Passage]) -> list[frozenset[str]]:
    """The (rough) words of each page, its title and headings with them."""
    texts: dict[str, list[str]] = {}
    for passage in passages:
        texts.setdefault(passage.page_id, [passage.title]).extend((passage.heading, passage.text))
    return [collect_prefixes(parts) for parts in texts.values()]


def _raise_row_scores(question: str, found: list[ScoredSentence]) -> list[ScoredSentence]:
    """The candidates; a row whose first cell names what is asked says it as a whole sentence would."""
    return [replace(c, score=max(c.score, _score_row(question, c))) if c.passage.rows else c for c in found]


def _score_row(question: str, row: ScoredSentence) -> float:
    """What a row is worth that is the entry of a thing asked about ("Weight | 310 g"), by the words it and
    what is above it hold."""
    asks = find_required_terms(question, collect_prefixes([row.passage.title]))
    name = {stem_prefix(word) for word in content_stems(_PARENTHESES.sub(" ", row.quote.split("|")[0]))}
    if not any(asks.is_term_met(word, name) for word in asks.words) or 2 * sum(
        _is_asked_word(asks, word) for word in name
    ) < len(name):
        return 0.0
    asked = parse_question(question)
    whole = find_required_terms(question)
    share = whole.covered_share(row.words | collect_prefixes([row.passage.title, row.passage.heading]))
    fits = asked.answer_type in ("definition", "thing", "manner") or has_answer_type(
        asked.answer_type, row.quote, frozenset(map(str.casefold, asked.names))
    )
    return share * share * (ROW_WEIGHT + ROW_ANSWER_TYPE_WEIGHT * fits)


def _is_asked_word(asks: RequiredTerms, word: str) -> bool:
    """Is this word of a row's name one that is asked about, or kin of one?"""
    return any(asks.is_term_met(asked, {word}) for asked in asks.words)


def has_content_words(text: str) -> bool:
    """Has a turn words of its own that say something?"""
    return any(word not in STOPWORDS for word in tokenize(text))


def find_best_quotes(question: str, own: str, passages: Sequence[Passage]) -> list[Quotation]:
    """The sentences and rows of a page that bear most on the question."""
    asked = parse_question(question)
    return [
        make_quotation(asked, c.passage, c.quote, c.score)
        for c in rank_sentences(question, own, passages)[:MAX_QUOTES]
        if c.score >= MIN_SCORE
    ]


def make_quotation(asked: ParsedQuestion, passage: Passage, quote: str, score: float) -> Quotation:
    """A sentence or row of a passage, with what it is taken to say and to be about."""
    subject, attribute = find_topic(asked, passage.title, quote)
    statement = describe_row(passage.heading, quote) if passage.rows else quote
    return Quotation(passage.page_id, quote, statement, subject, attribute, score)


def score_relevance(
    question: str, own: str, passages: Sequence[Passage], about: frozenset[str] = frozenset()
) -> float:
    """How well these passages answer: the better of their best sentence and their best section."""
    best = max(
        (candidate.score for candidate in rank_sentences(question, own, passages, about)[:1]), default=0.0
    )
    by_heading = max(
        (
            score_section(parse_question(question), parse_question(own), section)
            for section in group_sections(passages)
        ),
        default=0.0,
    )
    return round(max(best, SECTION_WEIGHT * by_heading), 4)


def score_section(asked: ParsedQuestion, own: ParsedQuestion, section: Section) -> float:
    """How well a section's title, heading and opening name what is asked; 0 when its heading names nothing.

    The lesser of two shares of weight: of all words of the question that stands alone, and of the turn's
    `own` words that are not its subject's (the page's title)."""
    title = {stem_prefix(word) for word in stem_words(section.passages[0].title)}
    heading = {stem_prefix(word) for word in content_stems(section.heading)}
    opening = {stem_prefix(word) for word in stem_words(section.passages[0].text[:OPENING_CHARS])}
    heard = {
        word: 1.0
        if word in heading
        else SYNONYM_WEIGHT
        if find_synonyms(word) & heading
        else OPENING_WEIGHT
        if word in opening
        else 0.0
        for word in {*asked.prefix_weights, *own.prefix_weights}
    }
    aside = {
        word: weight
        for word, weight in (own.prefix_weights or asked.prefix_weights).items()
        if word not in title
    }
    if not aside or not any(heard[word] >= SYNONYM_WEIGHT for word in aside):
        return 0.0
    whole = sum(
        weight * (1.0 if word in title else heard[word]) for word, weight in asked.prefix_weights.items()
    ) / sum(asked.prefix_weights.values())
    return min(whole, sum(weight * heard[word] for word, weight in aside.items()) / sum(aside.values()))


def quote_section(asked: ParsedQuestion, section: Section, room: int = MAX_WORDS) -> list[Quotation]:
    """The sentences of a section in order, from its start, as many as `room` words hold; headings and
    questions are left out."""
    head = section.heading.split(" › ")[-1]
    chosen: list[Quotation] = []
    for passage in section.passages:
        for quote in split_units(passage):
            words = len(quote.split())
            if quote in (head, passage.title) or quote.endswith("?") or words < 2 or _DATE_LINE.match(quote):
                continue
            if chosen and words > room:
                return chosen
            room -= words
            chosen.append(make_quotation(asked, passage, quote, 1.0))
    return chosen


def split_units(passage: Passage) -> list[str]:
    """The sentences of a passage, or its rows."""
    if passage.rows:
        return [line.strip() for line in passage.text.split("\n") if line.strip()]
    return [passage.text[a:b] for a, b in find_sentence_spans(passage.text)]
