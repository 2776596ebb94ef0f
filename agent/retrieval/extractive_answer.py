"""Quotes the passages that fit a question best: the section whose heading names what is asked, else the best
sentences.

Shared by every role that answers without a model. Knows passages and a question, no run; understands
nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent.retrieval.passages import Section, group_sections, last_heading, split_sentences
from agent.retrieval.quotation import Quotation
from agent.retrieval.relevance import describe_row, find_topic, page_texts, score_sentences, weigh_by_pages
from agent.retrieval.term_coverage import prefix_share, stem_prefixes
from agent.text.identifiers import find_codes, find_unmistakable_codes, is_same_code
from agent.text.question_analysis import ParsedQuestion, parse_question
from agent.types import Passage

MAX_QUOTES = 5
"""Quotes that are kept as facts of one page."""
MIN_SCORE = 0.2
"""The least score of a sentence that is kept as a fact."""
MIN_COVERED_SHARE = 0.62
"""The least share of the question's words that one passage or page must hold to be quoted as an answer."""
MIN_SECTION_SCORE = 0.85
"""The share of the question that title and heading must name for their section to be quoted."""
HEADING_LETTERS = 5
"""Letters of a stem that a heading must share: "Treatment" is about what is treated."""
SECTION_WEIGHT = 0.9
"""The relevance of a section whose title and heading name all of the question."""
MIN_SHARE_OF_BEST = 0.6
"""A sentence is quoted with at least this share of the best one's score."""
MAX_REPEATED_SHARE = 0.25
"""A sentence with no larger share of new words repeats what is quoted already."""
FACT_TYPES = ("person", "date", "number", "place")
"""Types of answers that one sentence holds."""
_DATE_LINE = re.compile(
    r"^(?:last\s+)?(?:updated|modified|changed|reviewed|published|posted|zuletzt|stand|senast|uppdaterad"
    r"|mis à jour|actualizado)\b.{0,60}$",
    re.IGNORECASE,
)
"""A line that dates the page."""


def quote_answer(
    question: str, passages: Sequence[Passage], share: float, *, max_words: int, max_sentences: int
) -> list[Quotation]:
    """The quotes of the answer in reading order; none when no passage holds a code that is asked about, or
    when no heading names what is asked and `share`, that of the question's words that the best passage or
    page holds, is below `MIN_COVERED_SHARE`."""
    if find_unknown_codes(question, passages):
        return []
    section = _quote_best_section(question, passages, max_words)
    if section or share < MIN_COVERED_SHARE:
        return section
    return _quote_best_sentences(question, passages, max_words, max_sentences)


def find_best_quotes(question: str, passages: Sequence[Passage], most: int = MAX_QUOTES) -> list[Quotation]:
    """The sentences and rows that answer best, best first."""
    asked = parse_question(question)
    return [
        make_quotation(asked, found.passage, found.quote, found.score)
        for found in score_sentences(question, passages)[:most]
        if found.score >= MIN_SCORE
    ]


def score_relevance(question: str, passages: Sequence[Passage]) -> float:
    """How well the passages of a page answer (0..1): their best section, or the best product of a sentence's
    score and the share of the question's words that it holds."""
    asked = parse_question(question)
    sentence = max((found.score * found.share for found in score_sentences(question, passages)), default=0.0)
    section = max((_score_section(asked, found) for found in group_sections(passages)), default=0.0)
    return round(max(sentence, SECTION_WEIGHT * section * (section >= MIN_SECTION_SCORE)), 4)


def find_unknown_codes(question: str, passages: Sequence[Passage]) -> list[str]:
    """The codes ("E17") a question asks about, when the passages hold none of them."""
    wanted = find_unmistakable_codes(question)
    held = (
        {code for passage in passages for code in find_codes(f"{passage.heading} {passage.text}")}
        if wanted
        else ()
    )
    return [] if any(is_same_code(code, other) for code in wanted for other in held) else wanted


def quote_section(question: str, passages: Sequence[Passage], room: int) -> list[Quotation]:
    """The first sentences and rows, as many as `room` words hold; questions and date lines are left out."""
    asked = parse_question(question)
    chosen: list[Quotation] = []
    for passage in passages:
        for quote in split_sentences(passage):
            length = len(quote.split())
            if quote.endswith("?") or length < 2 or _DATE_LINE.match(quote):
                continue
            if chosen and length > room:
                return chosen
            room -= length
            chosen.append(make_quotation(asked, passage, quote, 1.0))
    return chosen


def select_coded_passages(question: str, passages: Sequence[Passage]) -> list[Passage]:
    """The passages whose heading holds a code ("E17") that the question asks about."""
    wanted = find_codes(question)
    return [
        passage
        for passage in passages
        if any(is_same_code(code, other) for code in wanted for other in find_codes(last_heading(passage)))
    ]


def make_quotation(asked: ParsedQuestion, passage: Passage, quote: str, score: float) -> Quotation:
    """A sentence or row of a passage as a quotation."""
    statement = describe_row(passage.label, quote) if passage.rows else quote
    subject = find_topic(asked, passage.title, quote)
    return Quotation(passage.page_id, quote, statement, subject, "", score, passage.id, passage.heading)


def _quote_best_section(question: str, passages: Sequence[Passage], room: int) -> list[Quotation]:
    """The section whose title and heading name what is asked, from its start."""
    asked, sections = weigh_by_pages(parse_question(question), page_texts(passages)), group_sections(passages)
    best = max(sections, key=lambda section: _score_section(asked, section), default=None)
    if best is None or _score_section(asked, best) < MIN_SECTION_SCORE:
        return []
    return quote_section(question, best.passages, room)


def _score_section(asked: ParsedQuestion, section: Section) -> float:
    """The share of the question that title and heading name (0..1); 0 when the heading adds nothing to the
    title."""
    title, heading = (stem_prefixes(text) for text in (section.passages[0].title, section.heading))
    beginnings = {word[:HEADING_LETTERS] for word in heading}
    named = {word for word in asked.prefix_weights if word[:HEADING_LETTERS] in beginnings}
    return prefix_share(asked, title | named) if named - title else 0.0


def _quote_best_sentences(
    question: str, passages: Sequence[Passage], room: int, max_sentences: int
) -> list[Quotation]:
    """The best sentences; of an explanation in the order of their pages, so that steps stay in order."""
    asked, chosen, said = parse_question(question), list[tuple[int, Quotation]](), set[str]()
    scored = score_sentences(question, passages)
    least = MIN_SHARE_OF_BEST * scored[0].score if scored else 0.0
    order = {passage.id: n for n, passage in enumerate(passages)}
    for found in scored:
        words, length = stem_prefixes(found.quote), len(found.quote.split())
        if not found.score or found.score < least or len(chosen) == max_sentences:
            break
        is_no_statement = found.quote.endswith("?") or (
            found.passage.rows and found.quote == found.passage.label
        )
        if is_no_statement or (
            chosen and (length > room or len(words - said) <= MAX_REPEATED_SHARE * len(words))
        ):
            continue
        said |= words
        room -= length
        chosen.append(
            (order[found.passage.id], make_quotation(asked, found.passage, found.quote, found.score))
        )
    if asked.answer_type in FACT_TYPES:
        return [quotation for _, quotation in chosen]
    pages = list(dict.fromkeys(quotation.page_id for _, quotation in chosen))
    texts = {passage.id: passage.text for passage in passages}
    chosen.sort(key=lambda c: (pages.index(c[1].page_id), c[0], texts[c[1].passage_id].find(c[1].quote)))
    return [quotation for _, quotation in chosen]
