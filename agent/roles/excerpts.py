"""What of the passages makes an answer, word for word: the section that is asked for, else the sentences that bear most.

Nothing is told that only stands beside what was asked. Knows passages and a question, no run.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent.roles.answering import Candidate
from agent.roles.support import BY_HEADING, WORDS, Quoted, named, of_section, pointing, quoted, ranked, spoken_to, units
from agent.text.point import point, rough_words
from agent.text.question import FAINT, Asked, read
from agent.text.sections import Section, sections
from agent.text.spoken import AUXILIARIES
from agent.text.words import rough, stem, tokens
from agent.types import Passage

BY_SECTION = 0.72
"""How much of the question title and heading must name for a section to be the answer."""
NEAR = 0.7
"""A sentence joins the answer that bears at least this share of what the best one bears."""
NEAR_FACT, _FACTS = 0.85, ("number", "date", "place", "person")
"""The same where one fact is asked for."""
RIVAL = 0.6
"""A section answers only when it bears at least this share of what the best sentence bears."""
SENTENCES = 4
"""The sentences that bear most, when no section answers; each may bring the one after it."""
SCRAP = 3
"""Words of a line that says nothing by itself."""
ALL_OF = 2
"""Up to so many words that are asked about have to be met each."""
_GOES_ON = re.compile(
    r"^[\"'“‘(]*(?:it|its|they|their|them|this|these|those|that|such|he|she|his|her|we|you|both|each|then|there|here|if|otherwise|however|but|and|also"
    r"|in addition|instead|therefore|thus|so|for example|er|sie|es|dies\w*|das|den|det|de|detta|dessa|il|elle|ils|elles|cela)\b",
    re.IGNORECASE,
)


_YES_OR_NO = re.compile(rf"^\W*(?:(?:and|but|so|or)\W+)?(?:{'|'.join(sorted(AUXILIARIES))})\b", re.IGNORECASE)
_POINTS = re.compile(r"\b(?:it|its|they|them|their|this|these|you|your|we|our|yes|no|both|all|each)\b", re.IGNORECASE)


def chosen_quotes(question: str, own: str, passages: Sequence[Passage], about: frozenset[str] = frozenset()) -> list[Quoted]:
    """The quotes of the answer in reading order: of the section that is asked for, else the best sentences and what goes on from them."""
    return section_quotes(question, own, passages, about) or _sentences(question, own, passages, about)


def section_quotes(question: str, own: str, passages: Sequence[Passage], about: frozenset[str] = frozenset()) -> list[Quoted]:
    """The sentences of the section whose title and heading name what is asked, from its start; none when no section does."""
    asked, typed = read(question), read(own)
    exact = point(pointing(question, own), about)
    found = [section for section in sections(passages) if not exact.lacks(_words(section))]
    best = max(found, key=lambda section: named(asked, typed, section), default=None)
    said = named(asked, typed, best) if best else 0.0
    if best is None or said < BY_SECTION:
        return []
    rival = max((candidate.score for candidate in ranked(question, own, passages, about)[:1]), default=0.0)
    return of_section(asked, best) if BY_HEADING * said >= RIVAL * rival else []


def left_out(asking: str, quotes: Sequence[Quoted], passages: Sequence[Passage], about: frozenset[str] = frozenset()) -> list[str]:
    """The words asked about that the quotes, their titles and headings do not speak of, as the question spells them; none where they say
    enough: all of one or two such words, at least half of more."""
    asks = point(asking, about)
    wanted = {word for word, weight in asks.words.items() if weight > FAINT and word not in asks.exact}
    homes = {(passage.page_id, quote.quote): passage for quote in quotes for passage in passages if quote.quote in passage.text}
    told = [homes[quote.page_id, quote.quote] for quote in quotes if (quote.page_id, quote.quote) in homes]
    here = rough_words([*(quote.quote for quote in quotes), *(f"{passage.title} {passage.heading}" for passage in told)])
    unmet = {word for word in wanted if not asks.meets(word, here)}
    if not quotes or not unmet or (len(wanted) > ALL_OF and 2 * len(unmet) <= len(wanted)):
        return []
    return list(dict.fromkeys(word for word in tokens(asking) if rough(stem(word)) in unmet))


def _words(section: Section) -> frozenset[str]:
    return rough_words([section.passages[0].title, section.heading, section.text])


def _sentences(question: str, own: str, passages: Sequence[Passage], about: frozenset[str]) -> list[Quoted]:
    """The best sentences and rows that hold every code and name asked about and speak to what is asked as much as any near them does."""
    asked, asking = read(question), pointing(question, own)
    found = [candidate for candidate in ranked(question, own, passages, about) if candidate.passage.rows or len(candidate.quote.split()) > SCRAP]
    rivals = [candidate for candidate in found if not _lacks(asking, candidate, about) and _of_the_thing(question, candidate, about)]
    least = NEAR_FACT if asked.kind in _FACTS else NEAR
    near = [candidate for candidate in rivals[:SENTENCES] if candidate.score >= least * rivals[0].score]
    speaks = [spoken_to(asking, candidate, about) for candidate in near]
    chosen: list[Quoted] = []
    room = WORDS
    for candidate in [candidate for candidate, share in zip(near, speaks, strict=True) if share or not any(speaks)]:
        for quote in _with_next(candidate, asked):
            words = len(quote.split())
            if any(quote == other.quote for other in chosen) or (chosen and words > room):
                continue
            chosen.append(quoted(asked, candidate.passage, quote, candidate.score))
            room -= words
    return chosen


def _lacks(asking: str, candidate: Candidate, about: frozenset[str]) -> bool:
    """Is a code or a name that is asked about missing from a sentence, its heading and its title?"""
    return bool(point(asking, about).lacks(candidate.words | rough_words([candidate.passage.title, candidate.passage.heading])))


def _of_the_thing(question: str, candidate: Candidate, about: frozenset[str]) -> bool:
    """Does a sentence itself speak of the thing that a yes-or-no question is about, by name or by pointing at it? A row speaks of its page's thing.

    "Does the C2 come in blue?" is not answered by "Hold the blue key", though it stands on a page about the C2.
    """
    if candidate.passage.rows or not _YES_OR_NO.match(question):
        return True
    thing = read(question).rough.keys() & (about | rough_words([candidate.passage.title]))
    return not thing or not candidate.words.isdisjoint(thing) or bool(_POINTS.search(candidate.quote))


def _with_next(candidate: Candidate, asked: Asked) -> list[str]:
    """A sentence, and the one after it in its paragraph when that goes on from it or speaks of what is asked; a row is whole."""
    if candidate.passage.rows:
        return [candidate.quote]
    text = candidate.passage.text
    end = text.find(candidate.quote) + len(candidate.quote)
    around = units(candidate.passage)
    at = around.index(candidate.quote) if candidate.quote in around else -1
    following = [quote for quote in (around[at + 1 : at + 2] if at >= 0 else []) if "\n" not in text[end : text.find(quote, end)]]
    following = [quote for quote in following if _GOES_ON.match(quote) or not asked.rough.keys().isdisjoint(rough_words([quote]))]
    return [quote for quote in (candidate.quote, *following) if len(quote.split()) > SCRAP and not quote.endswith("?")]
