"""What the sources of a sentence say of it: the passages of their text that come closest, as facts. A
source's title, address and search result are no evidence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent.evidence.citation_check import build_claim, read_row
from agent.evidence.claim_check import ClaimCheck, check_by_code
from agent.evidence.claims.alignment import Alignment, align
from agent.evidence.claims.words import read_text
from agent.retrieval.scorer import rank_passages
from agent.text.sentences import find_sentence_spans
from agent.text.tokens import content_stems
from agent.types import ClaimMark, Fact, Page, Passage, Sentence
from agent.types.facts import make_fact_id
from agent.web.prompt_injection import find_order

MAX_PASSAGES = 4
"""Passages of its sources that a sentence is judged by."""
MIN_SCORE_SHARE = 0.2
"""The share of the best passage's score from which another one is shown: of 500 supported statements on pages
of seven subjects the judge sees 94 % of what supports them in half the characters (DECISIONS.md)."""
MAX_DEEP_PASSAGES = 24
"""Passages in which a literal quote or a missing figure is looked for."""
MAX_ROWS = 3
"""Rows that are taken from a passage of a table."""
MIN_LIKENESS = 0.5
"""The share of a sentence's content words, figures left out, that the closest sentence of its source must
have for another value in it to be another word on the same matter. On 3,541 public examples the share of
contradictions among them stays between 69 and 81 % from .3 to .8 (DECISIONS.md, "Check a text")."""
MIN_CARRIED = 0.5
"""The share of a statement's words below which a passage is not compared word by word: what is quoted has
them all, what is computed all but its figures."""
CERTAIN_VERDICTS = ("quoted", "computed")


@dataclass(frozen=True)
class SourceText:
    """A source that was read: its page and its passages."""

    page_id: str
    page: Page
    passages: Sequence[Passage]


def choose_evidence(statement: str, sources: Sequence[SourceText], step: int) -> list[Fact]:
    """The facts that a sentence is checked against: one that says it literally, or from which code computes
    it; else the closest passages, with one that has the figure which the others lack."""
    ranked = _rank(statement, sources)
    facts = [fact for source, passage in ranked for fact in _cut(statement, source, passage)]
    for fact in facts:
        if _may_carry(statement, fact) and check_facts(statement, [fact]).verdict in CERTAIN_VERDICTS:
            return [fact.replace(step=step)]
    least = MIN_SCORE_SHARE * max((fact.relevance for fact in facts), default=0.0)
    chosen = [fact for fact in facts[:MAX_PASSAGES] if fact.relevance >= least]
    if check_facts(statement, chosen).verdict == "vetoed":
        kept = chosen[: MAX_PASSAGES - 1]
        others = ([*kept, fact] for fact in facts if fact not in chosen)
        lifted = (some for some in others if check_facts(statement, some).verdict != "vetoed")
        chosen = next(lifted, chosen)
    return [fact.replace(step=step) for fact in chosen]


def _may_carry(statement: str, fact: Fact) -> bool:
    """Has the quote so many of the statement's words that code may find it quoted or computed there?"""
    words = set(content_stems(statement))
    return len(words & set(content_stems(f"{fact.heading} {fact.quote}"))) >= MIN_CARRIED * len(words)


def check_facts(statement: str, facts: Sequence[Fact]) -> ClaimCheck:
    """Code's check of a statement against the quotes of these facts."""
    sentence = Sentence(text=statement, fact_ids=[fact.id for fact in facts])
    return check_by_code(build_claim("", sentence, {fact.id: fact for fact in facts}, "", {}))


def choose_mark(sentence: Sentence, facts: Iterable[Fact], *, is_judged: bool, unread: bool) -> ClaimMark:
    """The mark of a checked sentence that cites at least one address. `is_judged`: a model is there to judge;
    `unread`: a source could not be read."""
    if sentence.backed:
        return "supported"
    if sentence.contradicted or (sentence.check == "vetoed" and _says_otherwise(sentence, facts)):
        return "contradicted"
    if unread:
        return "unavailable"
    is_refuted = is_judged and sentence.check in ("not_supported", "vetoed")
    return "not_supported" if is_refuted else "not_checked"


def _says_otherwise(sentence: Sentence, facts: Iterable[Fact]) -> bool:
    """Does a like sentence of the source have another value in the place of a vetoed one?"""
    if not any(finding.is_veto and finding.quoted for finding in sentence.findings):
        return False
    closest = _align(sentence.text, facts)
    if closest is None:
        return False
    words = {key for key, word in closest.claimed if not any(map(str.isdecimal, word.text))}
    shared = words & {key for key, _ in closest.quoted}
    return bool(words) and len(shared) >= MIN_LIKENESS * len(words)


def find_closest(statement: str, facts: Sequence[Fact]) -> tuple[str, list[Fact]]:
    """The sentence of these facts, or row with its headings, that comes closest to a statement, and the facts
    with that one first."""
    closest = _align(statement, facts)
    if closest is None:
        return "", list(facts)
    return closest.text, sorted(facts, key=lambda fact: closest.text not in _read(fact))


def _align(statement: str, facts: Iterable[Fact]) -> Alignment | None:
    return align(read_text(statement), [read_text(_read(fact)) for fact in facts])


def _read(fact: Fact) -> str:
    """A quote as evidence: a row with the names of its columns."""
    return read_row(fact) or fact.quote


def _rank(statement: str, sources: Sequence[SourceText]) -> list[tuple[SourceText, Passage]]:
    """The closest passages: the best of each source first, then by score."""
    best, others = [], []
    for source in sources:
        ranked = rank_passages(statement, source.passages, MAX_DEEP_PASSAGES)
        pairs = [(source, passage) for passage in ranked]
        best += pairs[:1]
        others += pairs[1:]
    ordered = [sorted(some, key=lambda pair: -pair[1].score) for some in (best, others)]
    return [*ordered[0], *ordered[1]][:MAX_DEEP_PASSAGES]


def _cut(statement: str, source: SourceText, passage: Passage) -> list[Fact]:
    """A passage as facts: the rows of a table that share most words, else the passage, before it a sentence
    that says it literally."""
    if passage.rows:
        wanted = set(content_stems(statement))
        rows = sorted(_list_rows(passage), key=lambda row: -len(wanted & set(content_stems(row[2]))))
        return [_make_fact(source, passage, start, end) for start, end, _ in rows[:MAX_ROWS]]
    spans = [(passage.start + a, passage.start + b) for a, b in find_sentence_spans(passage.text)]
    if find_order(source.page.text, passage.start, passage.end):  # to machines: no evidence
        free = [span for span in spans if not find_order(source.page.text, *span)]
        return [_make_fact(source, passage, start, end) for start, end in free]
    whole = _make_fact(source, passage, passage.start, passage.end)
    if not _may_carry(statement, whole) or check_facts(statement, [whole]).verdict not in CERTAIN_VERDICTS:
        return [whole]
    single = [_make_fact(source, passage, start, end) for start, end in spans]
    return [*(f for f in single if check_facts(statement, [f]).verdict in CERTAIN_VERDICTS), whole]


def _list_rows(passage: Passage) -> Iterable[tuple[int, int, str]]:
    """The rows of a passage of a table, with their places on the page, without the row of names."""
    at = passage.start
    for line in passage.text.split("\n"):
        if line != passage.label and line.strip():
            yield at, at + len(line), line
        at += len(line) + 1


def _make_fact(source: SourceText, passage: Passage, start: int, end: int) -> Fact:
    """A stretch of a page as a fact that states nothing but its quote."""
    page, quote = source.page, source.page.text[start:end]
    return Fact(
        id=make_fact_id(source.page_id, quote, quote),
        statement=quote,
        quote=quote,
        page_id=source.page_id,
        url=page.final_url or page.url,
        title=page.title,
        heading=passage.label if passage.rows else passage.heading,
        start=start,
        end=end,
        sha256=page.sha256,
        fetched_at=page.fetched_at,
        published_at=page.published_at,
        given=page.origin,
        relevance=passage.score,
        verified=True,
        by="code",
    )
