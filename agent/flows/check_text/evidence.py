"""What the sources of a sentence say of it: the passages of their text that come closest, as facts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from agent.evidence.citation_check import build_claim, read_row
from agent.evidence.claim_check import CERTAIN_VERDICTS, ClaimCheck, check_by_code
from agent.evidence.claims.words import align, read_text
from agent.retrieval.scorer import rank_passages
from agent.text.sentences import find_sentence_spans
from agent.text.tokens import content_stems
from agent.types import ClaimMark, Fact, Page, Passage, Sentence
from agent.types.facts import cite_page, make_fact_id
from agent.web.prompt_injection import find_order

MAX_PASSAGES = 4
"""Passages of its sources that a sentence is judged by, and rows of a table among them."""
MIN_SCORE_SHARE = 0.2
"""The share of the best passage's score from which another one is shown: of 500 supported statements on pages
of seven subjects the judge sees 94 % of what supports them in half the characters (DECISIONS.md)."""
MAX_DEEP_PASSAGES = 24
"""Passages in which a literal quote or a missing figure is looked for."""
MIN_CARRIED = 0.5
"""The share of a statement's words below which a passage is not compared word by word: what is quoted has
them all, what is computed all but its figures."""


def choose_evidence(
    statement: str, passages: Sequence[Passage], pages: Mapping[str, Page], step: int
) -> list[Fact]:
    """The facts that a sentence is checked against: one that says it literally or from which code computes
    it; else the closest passages, the best of each page first, with one that has a figure they lack."""
    ranked = rank_passages(statement, passages, MAX_DEEP_PASSAGES)
    best = {passage.page_id: passage.id for passage in reversed(ranked)}
    ranked = sorted(ranked, key=lambda passage: best[passage.page_id] != passage.id)
    words, facts = set(content_stems(statement)), list[Fact]()
    for passage in ranked:
        page = pages[passage.page_id]
        for start, end in _cut(words, page, passage):
            fact = _make_fact(page, passage, start, end, step)
            carried = words & set(content_stems(f"{fact.heading} {fact.quote}"))
            if (
                len(carried) >= MIN_CARRIED * len(words)
                and check_facts(statement, [fact]).verdict in CERTAIN_VERDICTS
            ):
                spans = find_sentence_spans(fact.quote) if not passage.rows else []
                single = (_make_fact(page, passage, start + a, start + b, step) for a, b in spans)
                certain = (s for s in single if check_facts(statement, [s]).verdict in CERTAIN_VERDICTS)
                return [next(certain, fact)]
            facts.append(fact)
    least = MIN_SCORE_SHARE * max((fact.relevance for fact in facts), default=0.0)
    chosen = [fact for fact in facts[:MAX_PASSAGES] if fact.relevance >= least]
    if check_facts(statement, chosen).verdict == "differs":
        kept = chosen[: MAX_PASSAGES - 1]
        others = ([*kept, fact] for fact in facts if fact not in chosen)
        chosen = next((some for some in others if check_facts(statement, some).verdict != "differs"), chosen)
    return chosen


def _cut(words: set[str], page: Page, passage: Passage) -> Iterable[tuple[int, int]]:
    """Where on its page the evidence of a passage is: the closest rows of a table, else all but orders."""
    at, rows = passage.start, list[tuple[int, int, int]]()
    if passage.rows:
        for line in passage.text.split("\n"):
            if line != passage.label and line.strip():
                rows.append((-len(words & set(content_stems(line))), at, at + len(line)))
            at += len(line) + 1
        return [(start, end) for _, start, end in sorted(rows, key=lambda row: row[0])[:MAX_PASSAGES]]
    if not find_order(page.text, at, passage.end):
        return [(at, passage.end)]
    spans = [(at + start, at + end) for start, end in find_sentence_spans(passage.text)]
    return [span for span in spans if not find_order(page.text, *span)]


def _make_fact(page: Page, passage: Passage, start: int, end: int, step: int) -> Fact:
    """A stretch of a page as a fact that states nothing but its quote."""
    quote = page.text[start:end]
    return Fact(
        id=make_fact_id(passage.page_id, quote, quote),
        statement=quote,
        quote=quote,
        page_id=passage.page_id,
        heading=passage.above,
        start=start,
        end=end,
        sha256=page.sha256,
        relevance=passage.score,
        verified=True,
        by="code",
        step=step,
        **cite_page(page),
    )


def check_facts(statement: str, facts: Sequence[Fact]) -> ClaimCheck:
    """Code's check of a statement against the quotes of these facts."""
    sentence = Sentence(text=statement, fact_ids=[fact.id for fact in facts])
    return check_by_code(build_claim("", sentence, {fact.id: fact for fact in facts}, "", {}))


def choose_mark(sentence: Sentence, *, is_judged: bool, unread: bool) -> ClaimMark:
    """The mark of a sentence that cites; `is_judged` by a model; `unread`: a source could not be read."""
    if sentence.backed:
        return "supported"
    if sentence.contradicted:
        return "contradicted"
    if unread:
        return "unavailable"
    return "not_supported" if is_judged and sentence.check == "not_supported" else "not_checked"


def find_closest(sentence: Sentence, facts: Sequence[Fact]) -> tuple[str, list[Fact]]:
    """The sentence or row of these facts that is closest to a checked one, "" for none; and the facts."""
    wanted = " ".join([sentence.text, *(finding.quoted for finding in sentence.findings)])
    closest = align(read_text(wanted), [read_text(read_row(fact) or fact.quote) for fact in facts])
    if closest is None or not set(content_stems(wanted)) & set(content_stems(closest[0])):
        return "", list(facts)
    return closest[0], sorted(facts, key=lambda fact: closest[0] not in (read_row(fact) or fact.quote))
