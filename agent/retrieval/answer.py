"""The answer that passages give without a model: for each part of a question one lead line, up to three
passages, and what else was found; or nothing, with what is missing.

It finds and shows; it does not understand. Knows passages and a question, no run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from agent.retrieval.asked_question import Asked, analyze_question, count_at_hand, find_missing_terms
from agent.retrieval.candidates import (
    MAX_WORDS,
    ScoredCandidate,
    cut_candidates,
    score_candidates,
    share_of_rare_words,
)
from agent.retrieval.link_scoring import contains_phrase, is_title_named, strip_title_suffix
from agent.retrieval.passages import last_heading
from agent.retrieval.scorer import CollectionCounts, CountedPassages, rank_passages, stem_prefixes
from agent.text.names import find_names
from agent.text.question_analysis import ParsedQuestion, parse_question
from agent.text.question_parts import complete_parts, find_item, split_compound_question
from agent.text.time_range import find_time_range
from agent.text.tokens import content_stems, fold, stem_prefix, tokenize
from agent.text.word_lists import load_words
from agent.types import Passage
from agent.types.answers import BlockRole

# A quote of a stored page that may answer a question, and what it is about.


@dataclass(frozen=True)
class Quotation:
    """Verbatim words of a stored page, what they state and about what, and how well they answer (0..1)."""

    page_id: str
    quote: str
    statement: str = ""
    subject: str = ""
    attribute: str = ""
    score: float = 0.0
    passage_id: str = ""
    heading: str = ""
    """The path of headings it stands under."""


def find_topic(asked: ParsedQuestion, title: str, quote: str) -> str:
    """The subject of a sentence: a name of the question that it or its title holds, else the title without
    its site's name."""
    text = f" {' '.join(tokenize(f'{title} {quote}'))} "
    name = next((name for name in asked.names if f" {' '.join(tokenize(name))} " in text), "")
    return name or re.split(r"\s+[|–—·]\s+|\s+-\s+", title)[0].strip() or quote[:60]


# The lines that continue a lead: what stands on the page of a thing that a shown line names ("directed by
# X", then a line of the page about X). Knows lines, no run.


MAX_CHAINED = 40
"""Lines that the rest of a question is looked for in, the best ones."""


class Chain(NamedTuple):
    """The lines that continue a lead, in order, and the first of them that was led to by its page's title and
    has the shape asked for."""

    lines: list[ScoredCandidate]
    answering: ScoredCandidate | None


def find_chain(
    asked: Asked, lead: ScoredCandidate, lines: Sequence[ScoredCandidate], most: int, *, takes_several: bool
) -> Chain:
    """Up to `most` lines that continue the lead: of the pages whose title a line before names, the one with
    the shape asked for and most of the question's weight that none before holds. Of a question that takes
    several pages also a line with some of that weight and a name from a line before; where nothing is named,
    the line with most of that weight."""
    chain, left, answering = [lead], [line for line in lines if line is not lead], None
    held, linked = set(lead.candidate.words), _find_linked(lead, lines)
    names = _find_new_names(asked, lead) if takes_several else set()
    while len(chain) <= most:
        new = {id(line): asked.share(line.candidate.words - held) for line in left}
        links = [line for line in left if line.candidate.passage.page_id in linked]
        pages = {line.candidate.passage.page_id for line in chain}
        links += [
            line
            for line in left
            if new[id(line)]
            and line.candidate.passage.page_id not in linked | pages
            and any(contains_phrase(line.candidate.statement, name) for name in names)
        ]
        if links:
            best = max(links, key=lambda line: (line.shape + new[id(line)], line.score))
            answering = answering or (best if best.shape == 1.0 else None)
        else:
            rest = [line for line in left[:MAX_CHAINED] if takes_several and new[id(line)]]
            if not rest:
                break
            best = max(rest, key=lambda line: (new[id(line)], line.score))
        chain.append(best)
        left.remove(best)
        held |= best.candidate.words
        linked |= _find_linked(best, lines)
        names |= _find_new_names(asked, best) if takes_several else set()
    return Chain(chain[1:], answering)


def _find_linked(line: ScoredCandidate, lines: Sequence[ScoredCandidate]) -> set[str]:
    """The pages with another title than a line's own that it names."""
    own, text = line.candidate.passage.title, line.candidate.statement
    titles = {other.candidate.passage.page_id: other.candidate.passage.title for other in lines}
    return {page for page, title in titles.items() if title != own and is_title_named(text, title)}


def _find_new_names(asked: Asked, line: ScoredCandidate) -> set[str]:
    """The names of several words in a line that the question does not hold."""
    found = find_names(line.candidate.statement)
    return {name for name in found if " " in name and fold(name) not in asked.names}


MAX_LEAD_WORDS = MAX_WORDS
MIN_FIT = 0.46
"""The least fit of an answer. One value for all sets together (DECISIONS.md, "Retrieval")."""
MAX_PASSAGES, MAX_OTHERS = 3, 5
"""Lines shown below the lead, and folded ones."""
WORDS_BELOW = 45
"""Words of the passages below the lead: with a lead some 60 in all, which a glance takes in."""
MIN_SHARE_OF_LEAD = 0.5
"""A line is shown with at least this share of the lead's score."""
MAX_ROWS = 12
"""Rows of a table that are shown where no row answers better than the others (our own judgement)."""
REFERRING_WORDS = 3
"""Words of a line's opening that may refer back ("Nine of them")."""
MIN_REFERENT_SHARE = 0.85
"""Share of a line's score from which the line it refers back to leads in its place."""
WORDS_OF_CHAIN = 60
"""The same where pages lead to one another: a line more."""
END_MARKS = " .!?…。！？"
"""What may end a sentence, or a title."""
LATEST_DAY = "2099-12-31"
"""The last day of the years that are read in a question and in a table: what it asks for may lie ahead."""
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_EACH_YEAR = re.compile(r"\b(?:in|im|i|en)\s+(?:19|20)\d\d\s+(?:and|und|och|et|y)\b", re.IGNORECASE)
"""Two years by themselves ("in 2020 and 2025"), not those between them."""


@dataclass(frozen=True)
class PartAnswer:
    """What was found for one part of a question. Without a `lead` the part was not found, and `missing` says
    which of its names, codes and options stand nowhere."""

    question: str
    lead: Quotation | None = None
    passages: tuple[Quotation, ...] = ()
    others: tuple[Quotation, ...] = ()
    missing: tuple[str, ...] = ()
    fit: float = 0.0
    """How well the passages fit the part (0..1), for the confidence."""

    @property
    def placed(self) -> list[tuple[BlockRole, Quotation]]:
        """The lead, the passages below it, and what is folded, each with its place."""
        placed: list[tuple[BlockRole, Quotation]] = [("lead", self.lead)] if self.lead else []
        placed += [("passage", quote) for quote in self.passages]
        return [*placed, *(("other", quote) for quote in self.others)]

    @property
    def quotes(self) -> list[Quotation]:
        """The lead, and the passages below it."""
        return [self.lead, *self.passages] if self.lead else []


@dataclass(frozen=True)
class PassageAnswer:
    """What was found for a question, part by part."""

    parts: tuple[PartAnswer, ...] = field(default_factory=tuple)

    @property
    def is_refusal(self) -> bool:
        """Whether nothing was found for any part."""
        return not any(part.lead for part in self.parts)

    @property
    def missing(self) -> tuple[str, ...]:
        """The names of the parts that stand nowhere, each once."""
        return tuple(dict.fromkeys(term for part in self.parts for term in part.missing))

    def keep_parts_of(self, question: str) -> PassageAnswer:
        """The parts that `question` asks itself, of an answer to it together with an earlier question; all
        where none stands in it."""
        own = {part.question: part for part in self.parts if part.question in question}
        return PassageAnswer(tuple(own.values()) or self.parts)


def find_answer(
    question: str,
    passages: Sequence[Passage],
    *,
    counts: CollectionCounts | None = None,
    parts: Sequence[str] = (),
) -> PassageAnswer:
    """The answer of these passages, best first, with the scores of `agent.retrieval.scorer` (they are scored
    here when they have none). `counts`: how many passages of their collection hold the question's words;
    without it, and without `CountedPassages`, words are counted over these passages. `parts` are those of the
    question; its clauses, where none are given."""
    if counts is None and isinstance(passages, CountedPassages):
        counts = passages.counts
    parts = parts or split_compound_question(question)
    whole = len(parts) == 1
    return PassageAnswer(
        tuple(
            _answer_part(part, asked, _rank(asked, passages, counts, is_ranked=whole), counts)
            for part, asked in zip(parts, complete_parts(parts), strict=True)
        )
    )


def find_best_lines(
    question: str, passages: Sequence[Passage], k: int, *, counts: CollectionCounts | None = None
) -> list[Quotation]:
    """The `k` lines that answer best, best first, of those that hold a word of the question and ask nothing
    themselves; nothing is refused."""
    asked = analyze_question(question, passages, counts)
    scored = _score_lines(asked, _rank(question, passages, counts, is_ranked=True))
    stating = (line for line in scored if not line.candidate.is_question)
    best = [line for line in stating if line.candidate.words & asked.weights.keys()]
    rows = [
        row for line in best[:1] for row in _find_equal_rows(line, scored, question) if row not in best[:k]
    ]
    return [_quote(question, line) for line in [*best[:k], *rows]]


def _rank(
    question: str, passages: Sequence[Passage], counts: CollectionCounts | None, *, is_ranked: bool
) -> Sequence[Passage]:
    if is_ranked and any(passage.score for passage in passages):
        return passages
    counts = counts or count_at_hand(content_stems(question), passages)
    return rank_passages(question, passages, len(passages), counts)


def _answer_part(
    part: str,
    question: str,
    passages: Sequence[Passage],
    counts: CollectionCounts | None,
) -> PartAnswer:
    asked = analyze_question(question, passages, counts)
    lines = _score_lines(asked, passages)
    if missing := find_missing_terms(question, passages, counts):
        return PartAnswer(part, missing=missing)
    item = stem_prefixes(find_item(question))
    if item:  # its topic may stand anywhere on the pages
        lines = [line for line in lines if line.candidate.words & item]
    lead = next((line for line in lines if line.score and not line.candidate.is_question), None)
    if lead is None:
        return PartAnswer(part)
    takes_several = parse_question(question).is_multi_hop
    lead = lead if takes_several else _find_referent(lead, lines)
    chain, answering = find_chain(asked, lead, lines, MAX_PASSAGES, takes_several=takes_several)
    shown = [lead, *(chain if takes_several else [])]
    best = max(passage.score for passage in passages)
    holding = passages if item else [line.candidate.passage for line in shown]
    fit = round((share_of_rare_words(asked, holding) + best) / 2, 4)
    if fit < MIN_FIT:
        return PartAnswer(part, fit=fit)
    if answering:
        chain = [lead, *(line for line in chain if line is not answering)]
        lead = answering
    if rows := _find_equal_rows(lead, lines, question):
        lead, chain = rows[0], rows[1:]
    room = WORDS_OF_CHAIN if chain else WORDS_BELOW
    below, others = _choose_below(lead, chain, [line for line in lines if line is not lead], room)
    below = rows[1:] or below
    return PartAnswer(
        part,
        _quote(question, lead),
        tuple(_quote(question, line) for line in below),
        tuple(_quote(question, line) for line in others),
        fit=fit,
    )


def _score_lines(asked: Asked, passages: Sequence[Passage]) -> list[ScoredCandidate]:
    """The candidates of all passages that state something, best first; ties in the order of the passages."""
    heads = [
        head for one in passages for head in (one.title, strip_title_suffix(one.title), last_heading(one))
    ]
    titles = {head.strip(END_MARKS) for head in heads}
    best = max((passage.score for passage in passages), default=0.0) or 1.0
    lines: list[ScoredCandidate] = []
    for passage in passages:
        for line in score_candidates(asked, passage, cut_candidates(passage), passage.score / best):
            text = line.candidate.statement.strip()
            # a name or a link states nothing: a title, or no sentence and nothing but words of the question
            is_whole = passage.kind != "prose" or text[-1:] in END_MARKS
            if text.strip(END_MARKS) not in titles and (
                is_whole or set(map(stem_prefix, content_stems(text))) - asked.weights.keys()
            ):
                lines.append(line)
    return sorted(lines, key=lambda line: -line.score)


def _find_equal_rows(
    lead: ScoredCandidate, lines: Sequence[ScoredCandidate], question: str
) -> list[ScoredCandidate]:
    """The rows of a table between which the question makes no difference ("How many beds does each hut
    have?", or the years "from 2020 to 2025"), in the table's order; [] where a line answers better than its
    neighbours."""
    passage, years = lead.candidate.passage, set[int]()
    if len(_read_years(question)) > 1 and not _EACH_YEAR.search(question):
        asked = find_time_range(question, LATEST_DAY)
        if asked and asked.first and asked.last:
            years = set(range(asked.first.year, asked.last.year + 1))
    rows = [line for line in lines if line.candidate.passage.id == passage.id and line.score == lead.score]
    if years & _read_years(lead.candidate.quote):
        table = (passage.page_id, passage.label)  # a long one has several passages
        rows = [line for line in lines if years & _read_years(line.candidate.quote)]
        rows = [one for one in rows if (one.candidate.passage.page_id, one.candidate.passage.label) == table]
    is_table = passage.kind == "rows" and len(rows) > 2
    in_order = sorted(rows, key=lambda line: (line.candidate.passage.start, line.candidate.place))
    return in_order[:MAX_ROWS] if is_table else []


def _read_years(text: str) -> set[int]:
    """The years that a text names; of a table's row its first cell."""
    return set(map(int, _YEAR.findall(text.partition("|")[0])))


def _find_referent(lead: ScoredCandidate, lines: Sequence[ScoredCandidate]) -> ScoredCandidate:
    """The line before one that opens with a reference to it ("Nine of them …"), where it has the shape asked
    for and nearly the score; else the line itself."""
    if load_words("pronouns").isdisjoint(tokenize(lead.candidate.statement)[:REFERRING_WORDS]):
        return lead
    place, passage = lead.candidate.place - 1, lead.candidate.passage.id
    before = (one for one in lines if (one.candidate.place, one.candidate.passage.id) == (place, passage))
    found = next(before, lead)
    is_as_good = found.shape >= lead.shape and found.score >= MIN_REFERENT_SHARE * lead.score
    return found if is_as_good and not found.candidate.is_question else lead


def _choose_below(
    lead: ScoredCandidate, chain: Sequence[ScoredCandidate], lines: Sequence[ScoredCandidate], room: int
) -> tuple[list[ScoredCandidate], list[ScoredCandidate]]:
    """The lines below the lead, those of one passage together and in its order, and those that are folded. A
    line that repeats what is shown is left out."""
    said = set(lead.candidate.words)
    shown: dict[str, list[ScoredCandidate]] = {}
    folded: dict[str, ScoredCandidate] = {}
    for n, line in enumerate([*chain, *(line for line in lines if line not in chain)]):
        candidate, name = line.candidate, line.candidate.passage.id
        if line.score < MIN_SHARE_OF_LEAD * lead.score and n >= len(chain):
            break
        if candidate.is_question or candidate.words <= said:
            continue
        if sum(map(len, shown.values())) < MAX_PASSAGES and candidate.length <= room:
            shown.setdefault(name, []).append(line)
            room -= candidate.length
            said |= candidate.words
        elif len(folded) < MAX_OTHERS:
            folded.setdefault(name, line)
    below = [line for group in shown.values() for line in sorted(group, key=lambda one: one.candidate.place)]
    return below, [line for name, line in folded.items() if name not in shown]


def _quote(question: str, line: ScoredCandidate) -> Quotation:
    passage, quote = line.candidate.passage, line.candidate.quote
    return Quotation(
        page_id=passage.page_id,
        quote=quote,
        statement=line.candidate.statement,
        subject=find_topic(parse_question(question), passage.title, quote),
        score=line.score,
        passage_id=passage.id,
        heading=passage.heading,
    )
